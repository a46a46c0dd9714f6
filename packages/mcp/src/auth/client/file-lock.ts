import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

export interface FileLockOptions {
  /** Milliseconds between two signs of life of the holder. Default 5 000. */
  heartbeat?: number;
  /** Milliseconds without one after which a holder counts as dead, watched by whoever waits. Default 30 000. */
  staleAfter?: number;
}

/** Milliseconds between two attempts. */
const retry = 25;

/**
 * Runs alone among all processes that use the same lock file. The holder writes down who it is and touches the file while it runs.
 * A holder that died on this machine is found out at once; one elsewhere, when the file has not been touched for a while on the
 * waiting side's clock, so that clocks need not agree.
 */
export async function withFileLock<Result>(
  path: string,
  run: () => Promise<Result>,
  { heartbeat = 5000, staleAfter = 30_000 }: FileLockOptions = {},
): Promise<Result> {
  const owner = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() });
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await acquire(path, owner, staleAfter);
  const beat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, heartbeat);
  beat.unref();
  try {
    return await run();
  } finally {
    clearInterval(beat);
    // Somebody may have taken the lock of a holder that was asleep for long; that one is not ours to remove.
    if ((await stateOf(path))?.owner === owner) await rm(path, { force: true });
  }
}

async function acquire(path: string, owner: string, staleAfter: number): Promise<void> {
  let seen: { readonly state: LockState; readonly since: number } | undefined;
  for (;;) {
    if (await create(path, owner)) return;
    const state = await stateOf(path);
    if (!state) continue;
    if (state.owner !== seen?.state.owner || state.touched !== seen.state.touched) {
      seen = { state, since: performance.now() };
    }
    if (isDead(state) || performance.now() - seen.since > staleAfter) await takeAway(path, state);
    else await sleep(retry);
  }
}

async function create(path: string, owner: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(owner).finally(() => file.close());
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

interface LockState {
  readonly owner: string;
  /** When the holder last showed that it lives, by the clock of the file system. */
  readonly touched: number;
}

/** `undefined` when nobody holds the lock. */
async function stateOf(path: string): Promise<LockState | undefined> {
  try {
    return { owner: await readFile(path, 'utf8'), touched: (await stat(path)).mtimeMs };
  } catch {
    return undefined;
  }
}

/** Whether the holder was a process of this machine that is no more. */
function isDead({ owner }: LockState): boolean {
  try {
    const { pid, host } = JSON.parse(owner) as { pid?: unknown; host?: unknown };
    if (host !== hostname() || typeof pid !== 'number') return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Removes the lock of a dead holder. Two may try at once: whoever finds a live one in its hands puts that back. */
async function takeAway(path: string, { owner }: LockState): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  if ((await stateOf(aside))?.owner !== owner) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
}
