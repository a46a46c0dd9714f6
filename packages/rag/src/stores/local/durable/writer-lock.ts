import { constants } from 'node:fs';
import { copyFile, link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { QuiverError } from '@quiver/core';

interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly token: string;
  /** When the process began, so that another one that got its number later is not taken for it. */
  readonly started?: string | undefined;
}

/** Makes this process the only writer of a folder until it is released. Readers need no lock. */
export class WriterLock {
  readonly #file: string;
  readonly #token: string;

  private constructor(file: string, token: string) {
    this.#file = file;
    this.#token = token;
  }

  /**
   * Takes the lock; one that a process left behind when it died is taken over.
   *
   * @throws `VECTOR_STORE_LOCKED` when a living process holds it
   */
  static async acquire(folder: string): Promise<WriterLock> {
    const file = join(folder, 'writer.lock');
    const { pid } = process;
    const owner: Owner = { pid, host: hostname(), token: crypto.randomUUID(), started: await startOf(pid) };
    for (let attempt = 0; attempt < 3; attempt += 1) {
      if (await createExclusively(file, owner)) return new WriterLock(file, owner.token);
      const holder = await readOwner(file);
      if (holder && (await isAlive(holder))) throw locked(folder, holder);
      await removeStale(file, holder?.token);
    }
    throw locked(folder, await readOwner(file));
  }

  async release(): Promise<void> {
    if ((await readOwner(this.#file))?.token === this.#token) await unlink(this.#file);
  }
}

/** The file appears with its content: an empty one would look as if its process had died. */
async function createExclusively(file: string, owner: Owner): Promise<boolean> {
  const own = `${file}.${owner.token}`;
  await writeFile(own, JSON.stringify(owner));
  try {
    await link(own, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw error;
      // Not every file system knows links.
      return copyFile(own, file, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await unlink(own);
  }
}

async function readOwner(file: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Owner;
  } catch {
    return undefined;
  }
}

/** On another machine nobody can tell, so its lock is respected. */
async function isAlive({ pid, host, started }: Owner): Promise<boolean> {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  // In a container that was started again, processes have the numbers of those before.
  const startedNow = await startOf(pid);
  return started === undefined || startedNow === undefined || started === startedNow;
}

/**
 * When a process began, in ticks since the machine did; `undefined` where the system does not tell.
 *
 * @see [proc_pid_stat(5)](https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html), field 22
 */
async function startOf(pid: number): Promise<string | undefined> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // Field 2, the name of the program, stands in parentheses and may hold anything.
  return status.slice(status.lastIndexOf(')') + 2).split(' ')[22 - 3];
}

/** Moves the lock aside before it is removed: if a rival has just taken it over, the lock that moved is the rival's and goes back. */
async function removeStale(file: string, token: string | undefined): Promise<void> {
  const aside = `${file}.${crypto.randomUUID()}`;
  try {
    await rename(file, aside);
    if ((await readOwner(aside))?.token !== token) await link(aside, file);
  } catch {
    // A rival was faster: the next attempt finds its lock.
  }
  await unlink(aside).catch(() => undefined);
}

function locked(folder: string, holder: Owner | undefined): QuiverError {
  const who = holder ? `process ${holder.pid} on ${holder.host}` : 'another process';
  return new QuiverError(
    'VECTOR_STORE_LOCKED',
    `The folder ${folder} is being written by ${who}. Close that store first; reading needs no lock.`,
    { details: { folder, ...(holder && { pid: holder.pid, host: holder.host }) } },
  );
}
