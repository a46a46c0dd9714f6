import { link, open, readFile, rename, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { QuiverError } from '@quiver/core';

interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly token: string;
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
    const owner: Owner = { pid: process.pid, host: hostname(), token: crypto.randomUUID() };
    for (let attempt = 0; attempt < 3; attempt += 1) {
      if (await createExclusively(file, owner)) return new WriterLock(file, owner.token);
      const holder = await readOwner(file);
      if (holder && isAlive(holder)) throw locked(folder, holder);
      await removeStale(file, holder?.token);
    }
    throw locked(folder, await readOwner(file));
  }

  async release(): Promise<void> {
    if ((await readOwner(this.#file))?.token === this.#token) await unlink(this.#file);
  }
}

async function createExclusively(file: string, owner: Owner): Promise<boolean> {
  try {
    const handle = await open(file, 'wx');
    await handle.writeFile(JSON.stringify(owner));
    await handle.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
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
function isAlive({ pid, host }: Owner): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
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
