import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, readlink, rm, stat, utimes } from 'node:fs/promises';
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
  const owner = JSON.stringify({ pid: process.pid, host: await hostOf(), id: randomUUID() });
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
    if ((await isDead(state)) || performance.now() - seen.since > staleAfter) await takeAway(path, state, staleAfter);
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
async function isDead({ owner }: LockState): Promise<boolean> {
  try {
    const { pid, host } = JSON.parse(owner) as { pid?: unknown; host?: unknown };
    if (host !== (await hostOf()) || typeof pid !== 'number') return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Where process ids mean the same. Containers may share the name of their machine, but not its processes. */
async function hostOf(): Promise<string> {
  return `${hostname()} ${await readlink('/proc/self/ns/pid').catch(() => '')}`.trim();
}

/**
 * Removes the lock of a dead holder, unless it has changed. Those who try do so one after the other: the lock that the first of them
 * then takes must not be removed by the second, who still remembers the dead one.
 */
async function takeAway(path: string, { owner, touched }: LockState, staleAfter: number): Promise<void> {
  const remove = async (): Promise<void> => {
    const state = await stateOf(path);
    if (state?.owner === owner && state.touched === touched) await rm(path, { force: true });
  };
  await withFileLock(`${path}.removal`, remove, { staleAfter });
}
