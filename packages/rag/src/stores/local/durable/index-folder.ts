import { mkdir, readdir, readFile, truncate, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isQuiverError, QuiverError } from '@quiver/core';
import { acquireFileLock, type FileLock, replaceFile, invalidOptions } from '@quiver/core/internal';
import type { DerivedData } from '../../../store/vector-store.js';
import type { IndexHeader, IndexHolder } from '../local-index.js';
import { IndexLog, logExtension, type LogWriter, temporaryExtension } from './index-log.js';
import { wordsExtension } from './words-file.js';

const lockName = 'writer.lock';

/** The indexes of one folder, one file each. Reading creates nothing; the first write acquires the lock of the folder. */
export class IndexFolder implements IndexHolder {
  readonly derived: ReturnType<typeof derivedFiles>;
  readonly #folder: string;
  readonly #logs = new Map<string, Promise<IndexLog>>();
  #lock: Promise<FileLock> | undefined;
  #writer: LogWriter | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.derived = derivedFiles(folder);
  }

  async list(): Promise<string[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names.filter((name) => name.endsWith(logExtension)).map((name) => name.slice(0, -logExtension.length));
  }

  /** Returns the current index, including the changes of other processes. */
  async find(name: string): Promise<IndexLog | undefined> {
    const known = this.#logs.get(name);
    if (known) {
      const log = await known;
      if (this.#writer || (await log.refresh())) return log;
      if (this.#logs.get(name) === known) this.#logs.delete(name);
      await log.close();
    }
    if (!(await this.list()).includes(name)) return undefined;
    // A concurrent call may have started to load it.
    return this.#logs.get(name) ?? this.#load(name, () => IndexLog.open(this.#file(name)));
  }

  async create(header: IndexHeader): Promise<void> {
    const writer = await this.#becomeWriter();
    await this.#requireDistinctName(header.name);
    await this.#load(header.name, () => IndexLog.create(this.#file(header.name), header, writer));
  }

  /** As {@link find}, to be written. @throws `VECTOR_STORE_LOCKED` */
  async findToWrite(name: string): Promise<IndexLog | undefined> {
    await this.#becomeWriter();
    return this.find(name);
  }

  async delete(name: string): Promise<void> {
    const writer = await this.#becomeWriter();
    await writer.requireHeld();
    const log = await this.#logs.get(name);
    this.#logs.delete(name);
    await log?.close();
    await unlink(this.#file(name));
    await this.derived.deleteOf(name);
  }

  async close(): Promise<void> {
    const lock = this.#lock;
    await this.#reset();
    await (await lock)?.release();
  }

  /** Forgets everything that was read or acquired. */
  async #reset(): Promise<void> {
    this.#lock = undefined;
    this.#writer = undefined;
    await this.#closeLogs();
  }

  async #closeLogs(): Promise<void> {
    const logs = [...this.#logs.values()];
    this.#logs.clear();
    for (const log of await Promise.allSettled(logs)) if (log.status === 'fulfilled') await log.value.close();
  }

  /** On some file systems names that differ only in case are the same file. */
  async #requireDistinctName(name: string): Promise<void> {
    const similar = (await this.list()).find((existing) => existing.toLowerCase() === name.toLowerCase());
    if (similar === undefined) return;
    throw invalidOptions(
      `The name '${name}' is too close to the existing index '${similar}'; choose one that differs in more than case.`,
    );
  }

  #file(name: string): string {
    return join(this.#folder, `${name}${logExtension}`);
  }

  /** One load at a time for each index. A failed one is forgotten. */
  #load(name: string, load: () => Promise<IndexLog>): Promise<IndexLog> {
    const loading = load().then(async (log) => {
      if (this.#writer) await log.prepareToWrite(this.#writer);
      return log;
    });
    this.#logs.set(name, loading);
    loading.catch(() => this.#logs.delete(name));
    return loading;
  }

  async #becomeWriter(): Promise<LogWriter> {
    this.#lock ??= this.#acquire().catch((error: unknown) => {
      this.#lock = undefined;
      throw error;
    });
    await this.#lock;
    return this.#writer as LogWriter;
  }

  async #acquire(): Promise<FileLock> {
    await mkdir(this.#folder, { recursive: true });
    const lock = await acquireFileLock(join(this.#folder, lockName), { wait: false }).catch((error: unknown) => {
      throw isQuiverError(error, 'FILE_LOCK_HELD') ? this.#locked(error) : error;
    });
    const { generation, isTakeover: mustReplace } = lock;
    // From here on, indexes are opened for writing; indexes that were read without the lock are read again.
    this.#writer = { generation, mustReplace, requireHeld: () => this.#requireHeld(lock) };
    await this.#closeLogs();
    // A suspended writer that wakes up can no longer put its file in the place of the index.
    for (const name of await readdir(this.#folder))
      if (name.endsWith(temporaryExtension)) await unlink(join(this.#folder, name)).catch(() => {});
    return lock;
  }

  #locked(error: QuiverError): QuiverError {
    const { pid, host } = error.details ?? {};
    const holder = pid === undefined ? 'another process' : `process ${String(pid)} on ${String(host)}`;
    return new QuiverError(
      'VECTOR_STORE_LOCKED',
      `The folder ${this.#folder} is being written by ${holder}. Close that store first; reading needs no lock.`,
      { cause: error, details: { folder: this.#folder, ...(pid !== undefined && { pid, host }) } },
    );
  }

  async #requireHeld(lock: FileLock): Promise<void> {
    try {
      await lock.requireHeld();
    } catch (error) {
      if (!isQuiverError(error, 'FILE_LOCK_LOST')) throw error;
      // Not waited for: the caller is using one of the logs.
      void this.#reset().then(() => lock.release());
      throw new QuiverError(
        'VECTOR_STORE_LOCK_LOST',
        `Another process writes the folder ${this.#folder}: this one did not renew its lock in time, because it was suspended or its event loop was blocked. Repeat the change; it is then applied to the current state.`,
        { cause: error, details: { folder: this.#folder } },
      );
    }
  }
}

const derivedExtension = '.qvderived';

/**
 * Derived data as files next to the logs, `<index>.<name>.qvderived`. Any process may write them, including one that only reads the
 * indexes: a file is replaced as a whole, and the last one stays.
 */
export function derivedFiles(
  folder: string,
): DerivedData & Record<'deleteOf' | 'emptyOf', (indexName: string) => Promise<void>> {
  const fileOf = (indexName: string, name: string): string => {
    if (!/^[a-z0-9][a-z0-9-]*$/i.test(name))
      throw invalidOptions(`'${name}' cannot name derived data: use letters, digits and '-'.`);
    return join(folder, `${indexName}.${name}${derivedExtension}`);
  };
  const filesOf = async (indexName: string, extension: string): Promise<string[]> => {
    const files = await readdir(folder);
    // No name of an index holds a point, so another index cannot be meant.
    const own = files.filter((file) => file.startsWith(`${indexName}.`) && file.includes(extension));
    return own.map((file) => join(folder, file));
  };
  return {
    async read({ indexName, name, signal }) {
      return readFile(fileOf(indexName, name), { signal }).catch(ifMissing);
    },
    async write({ indexName, name, data, signal }) {
      await replaceFile(fileOf(indexName, name), data, signal);
      return true;
    },
    async prepare() {},
    async deleteOf(indexName) {
      for (const extension of [derivedExtension, wordsExtension])
        for (const file of await filesOf(indexName, extension)) await unlink(file).catch(ifMissing);
    },
    async emptyOf(indexName) {
      for (const file of await filesOf(indexName, derivedExtension)) await truncate(file).catch(ifMissing);
    },
  };
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
