import { QuiverError } from './errors.js';
import { loadBuiltin } from './load-builtin.js';
import { booleanValue, checkOptions, valueThat, type OptionChecks } from './options.js';

/** Options of `acquireFileLock()`. */
export interface FileLockOptions {
  /** Milliseconds without a heartbeat after which another process takes the lock over. Default 30 000. */
  staleAfter?: number;
  /** Whether to wait until the lock is free. Default `true`; with `false` a held lock throws `FILE_LOCK_HELD` at once. */
  wait?: boolean;
}

const checks: OptionChecks<FileLockOptions> = {
  staleAfter: valueThat((value) => typeof value === 'number' && value > 0, 'a number of milliseconds above 0'),
  wait: booleanValue,
};

// All packages import this file, and few lock: what it needs is loaded with the first lock (8 ms of starting a server).
const fs = (): typeof import('node:fs/promises') => loadBuiltin('node:fs/promises');
const os = (): typeof import('node:os') => loadBuiltin('node:os');
const splitPath = (path: string): { dir: string; base: string } => {
  const { dirname, basename } = loadBuiltin('node:path');
  return { dir: dirname(path), base: basename(path) };
};

/** Bounds of the milliseconds between two attempts to acquire a lock. */
const firstDelay = 10;
const longestDelay = 100;

interface Owner {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  /** Identity of the set of processes in which `pid` is unique; see {@link processSpace}. */
  readonly space?: string | undefined;
  /** Start time of the process, which distinguishes it from a later process with the same id. */
  readonly started?: string | undefined;
  /** Set when the owner has released the lock. */
  readonly released?: boolean | undefined;
}

/** Content and age of the lock file with the highest generation. */
interface LockState {
  readonly generation: number;
  /** `undefined` while the file is being written. */
  readonly owner: Owner | undefined;
  readonly modified: number;
}

/**
 * Acquires a lock that excludes other processes on every host that shares the folder.
 *
 * The lock is the file `<path>.<generation>` with the highest generation. A new owner creates the next generation; no file of a
 * living owner is removed. The owner rewrites its file as a heartbeat. Ages are differences between two times of the file system, so
 * clocks of hosts need not agree. A lock is taken over when its heartbeat is older than `staleAfter`, or at once when its process has
 * ended and ran in the PID namespace of the caller.
 *
 * A process that was suspended loses its lock without noticing. Call {@link FileLock.requireHeld} before each commit.
 *
 * @param path - prefix of the lock files; its folder is created
 * @throws `OPTIONS_INVALID`; `FILE_LOCK_HELD` with `details.pid` and `details.host` when `wait` is `false` and another owner holds the lock
 */
export async function acquireFileLock(path: string, options: FileLockOptions = {}): Promise<FileLock> {
  checkOptions('acquireFileLock', options, checks);
  const { staleAfter = 30_000, wait = true } = options;
  await fs().mkdir(splitPath(path).dir, { recursive: true, mode: 0o700 });
  const owner = await currentOwner();
  const content = JSON.stringify(owner);
  const probe = `${path}.${owner.id}`;
  try {
    for (let delay = firstDelay; ; delay = Math.min(2 * delay, longestDelay)) {
      // The probe's time is "now" on the clock of the file system. It becomes the lock when the lock is free.
      await fs().writeFile(probe, content, { mode: 0o600 });
      const { mtimeMs: now } = await fs().stat(probe);
      const current = await readHighest(path);
      const isFree = !current || current.owner?.released || (await hasEnded(current.owner, owner));
      if (isFree || now - current.modified > staleAfter) {
        const generation = (current?.generation ?? 0) + 1;
        if (await claim(path, generation, probe, content)) {
          await removeAbandonedProbes(path, now - staleAfter).catch(() => {});
          return hold(path, generation, !isFree, owner, staleAfter / 4);
        }
      } else if (!wait) {
        const { pid, host } = current.owner ?? {};
        const holder = pid === undefined ? 'another process' : `process ${pid} on ${host}`;
        throw new QuiverError(
          'FILE_LOCK_HELD',
          `The lock ${path} is held by ${holder}. Stop that process, or try again later.`,
          { details: { path, ...(pid !== undefined && { pid, host }) } },
        );
      } else {
        await new Promise((resolve) => setTimeout(resolve, delay));
      }
    }
  } finally {
    await fs().rm(probe, { force: true });
  }
}

/**
 * Runs a function while it holds the lock of `path`; see {@link acquireFileLock}.
 *
 * @example
 * await withFileLock('/data/index.lock', async (lock) => {
 *   const next = await prepare();
 *   await lock.requireHeld();
 *   await commit(next);
 * });
 */
export async function withFileLock<Result>(
  path: string,
  run: (lock: FileLock) => Promise<Result>,
  options: Omit<FileLockOptions, 'wait'> = {},
): Promise<Result> {
  const lock = await acquireFileLock(path, options);
  try {
    return await run(lock);
  } finally {
    await lock.release();
  }
}

/** A lock that {@link acquireFileLock} acquired. */
export interface FileLock {
  /** Number that grows with every owner. Store it with committed data to reject the commit of an earlier owner. */
  readonly generation: number;
  /** Whether the previous owner may still run: the lock was stale, and the owner neither released it nor is known to have ended. */
  readonly isTakeover: boolean;
  /**
   * Checks that no other process has taken the lock over.
   *
   * @throws `FILE_LOCK_LOST` when this process must stop writing
   */
  requireHeld(): Promise<void>;
  /**
   * Releases the lock. Has no effect if another process has taken it over. A lock whose file cannot be written
   * becomes stale instead.
   */
  release(): Promise<void>;
}

/** Starts the heartbeat of a lock. @param owner - content of its file @param interval - milliseconds between two heartbeats */
function hold(path: string, generation: number, isTakeover: boolean, owner: Owner, interval: number): FileLock {
  const file = `${path}.${generation}`;
  const content = JSON.stringify(owner);
  /** Overwrites the file without truncating it, so that readers never find it empty; the content never becomes shorter. */
  const rewrite = (text: string): Promise<void> => fs().writeFile(file, text, { flag: 'r+' });
  let heartbeat: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    // A heartbeat that fails is repeated; if all fail, the lock becomes stale, and `requireHeld` reports it.
    heartbeat = heartbeat.then(() => rewrite(content)).catch(() => {});
  }, interval);
  timer.unref();
  return {
    generation,
    isTakeover,
    requireHeld: async () => {
      // In this order: when a later owner has already removed the next generation, it has removed this one as well.
      const next = await readIfExists(`${path}.${generation + 1}`);
      if (next === undefined && (await readIfExists(file)) === content) return;
      throw new QuiverError(
        'FILE_LOCK_LOST',
        `Another process took over the lock ${path}, because this process did not renew it in time. Nothing was written. Acquire the lock and read the current state again.`,
        { details: { path, generation } },
      );
    },
    release: async () => {
      clearInterval(timer);
      await heartbeat;
      await rewrite(JSON.stringify({ ...owner, released: true })).catch(() => {});
    },
  };
}

/** Creates the file of a generation; `false` when another process was faster. */
async function claim(path: string, generation: number, probe: string, content: string): Promise<boolean> {
  const file = `${path}.${generation}`;
  try {
    await fs()
      .link(probe, file)
      .catch((error: unknown) => {
        if (hasCode(error, 'EEXIST')) throw error;
        // Some file systems do not support links.
        return fs().writeFile(file, content, { flag: 'wx', mode: 0o600 });
      });
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
  const generations = await listGenerations(path);
  if (generations.some((other) => other > generation)) {
    // This process was slow and has created a generation that others had already used and removed.
    await fs().rm(file, { force: true });
    return false;
  }
  // The previous generation stays for processes that are listing the folder now.
  const obsolete = generations.filter((other) => other < generation - 1);
  await Promise.all(obsolete.map((other) => fs().rm(`${path}.${other}`, { force: true })));
  return true;
}

async function readHighest(path: string): Promise<LockState | undefined> {
  for (;;) {
    const generations = await listGenerations(path);
    if (generations.length === 0) return undefined;
    const generation = Math.max(...generations);
    const file = `${path}.${generation}`;
    try {
      const text = await fs().readFile(file, 'utf8');
      const { mtimeMs: modified } = await fs().stat(file);
      return { generation, modified, owner: parseOwner(text) };
    } catch (error) {
      // Two later owners have acquired and released the lock since the folder was listed.
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  }
}

function parseOwner(text: string): Owner | undefined {
  try {
    return JSON.parse(text) as Owner;
  } catch {
    return undefined;
  }
}

async function listGenerations(path: string): Promise<number[]> {
  const suffixes = await listSuffixes(path);
  return suffixes.filter((suffix) => /^[1-9]\d*$/.test(suffix)).map(Number);
}

/** Removes the probes of processes that were killed while they waited for the lock. */
async function removeAbandonedProbes(path: string, before: number): Promise<void> {
  const ids = (await listSuffixes(path)).filter((suffix) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(suffix));
  for (const id of ids) {
    const probe = await fs().stat(`${path}.${id}`);
    if (probe.mtimeMs < before) await fs().rm(`${path}.${id}`, { force: true });
  }
}

async function listSuffixes(path: string): Promise<string[]> {
  const { dir, base } = splitPath(path);
  const names = await fs().readdir(dir);
  return names.filter((name) => name.startsWith(`${base}.`)).map((name) => name.slice(base.length + 1));
}

async function currentOwner(): Promise<Owner> {
  const { pid } = process;
  return {
    id: crypto.randomUUID(),
    pid,
    host: os().hostname(),
    space: await processSpace(),
    started: await startOf(pid),
  };
}

/** Whether the owner is known to have ended. Process ids are compared only inside one process space. */
async function hasEnded(owner: Owner | undefined, self: Owner): Promise<boolean> {
  if (owner?.space === undefined || owner.space !== self.space) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
  return owner.started !== undefined && owner.started !== (await startOf(owner.pid));
}

/**
 * Identifies the set of processes in which a process id has one meaning: on Linux the boot and the PID namespace, because containers may
 * share a host name but not their processes; elsewhere the machine. `undefined` when it cannot be determined.
 */
async function processSpace(): Promise<string | undefined> {
  if (process.platform !== 'linux') {
    const addresses = Object.values(os().networkInterfaces()).flatMap((list) => (list ?? []).map(({ mac }) => mac));
    return [os().hostname(), ...new Set(addresses.toSorted())].join(' ');
  }
  try {
    // A `/proc` of another PID namespace describes other processes.
    if ((await fs().readlink('/proc/self')) !== String(process.pid)) return undefined;
    const boot = await fs().readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    return `${boot.trim()} ${await fs().readlink('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

/**
 * Returns the start time of a process in ticks since boot; `undefined` for a process that has ended, and where `/proc` does not exist.
 *
 * @see [proc_pid_stat(5)](https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html), fields 3 and 22
 */
async function startOf(pid: number): Promise<string | undefined> {
  const status = await fs()
    .readFile(`/proc/${pid}/stat`, 'utf8')
    .catch(() => '');
  // Field 2, the name of the program, is enclosed in parentheses and may contain any character.
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : fields[22 - 3];
}

function readIfExists(file: string): Promise<string | undefined> {
  return fs()
    .readFile(file, 'utf8')
    .catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    });
}

function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
