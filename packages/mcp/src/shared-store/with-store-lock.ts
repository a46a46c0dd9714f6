import { untilAborted } from '@quiver/core';
import { createBackOff } from '../back-off.js';
import { unref } from '../unref.js';
import type { SharedStore } from './shared-store.js';

/** Options of {@link withStoreLock}. */
export interface StoreLockOptions {
  /** Ends waiting for the lock. */
  signal?: AbortSignal | undefined;
  /** Milliseconds after which another process takes the lock over from one that does not renew it. Default 30,000. */
  leaseMs?: number | undefined;
}

/**
 * Runs a function while this process holds a lock in a shared store. The lock is a record with a lifetime, which is renewed while
 * the function runs.
 *
 * A process that was suspended, or cannot reach the store for a whole lease, loses the lock without noticing. Store `fence` with
 * committed data, and reject the commit of a smaller one.
 *
 * @param run - receives a number that grows with every owner of the lock
 * @throws `signal.reason` when it aborts before the function has begun
 */
export async function withStoreLock<Result>(
  store: SharedStore,
  key: string,
  run: (fence: number) => Promise<Result>,
  { signal, leaseMs: ttlMs = 30_000 }: StoreLockOptions = {},
): Promise<Result> {
  let version: number | undefined;
  const attempts = createBackOff({ first: 50, cap: 400 });
  for (;;) {
    signal?.throwIfAborted();
    version = await store.put(key, '', { version: 0, ttlMs });
    if (version !== undefined) break;
    attempts.failed();
    await untilAborted(() => new Promise((resolve) => setTimeout(resolve, attempts.remaining())), signal);
  }
  const fence = version;
  let renewing: Promise<void> = Promise.resolve();
  const renew = async (): Promise<void> => {
    // Another owner has taken over.
    if (version === undefined) return;
    version = await store.put(key, '', { version, ttlMs });
  };
  // A renewal that fails is repeated; if all fail, the lease ends.
  const timer = unref(setInterval(() => (renewing = renewing.then(renew).catch(() => {})), ttlMs / 3));
  try {
    return await run(fence);
  } finally {
    clearInterval(timer);
    await renewing;
    // A lock that cannot be deleted ends with its lease.
    if (version !== undefined) await store.delete(key, { version }).catch(() => {});
  }
}
