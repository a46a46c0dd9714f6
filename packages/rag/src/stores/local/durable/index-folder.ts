import { mkdir, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { QuiverError } from '@quiver/core';
import type { IndexHolder } from '../index-holder.js';
import type { IndexHeader } from '../index-operation.js';
import { derivedFiles } from './derived-files.js';
import { IndexLog } from './index-log.js';
import { WriterLock } from './writer-lock.js';

const extension = '.qvlog';

/** The indexes of one folder, each in a file of its own. Reading creates nothing; the first write takes the folder's lock. */
export class IndexFolder implements IndexHolder {
  readonly derived: ReturnType<typeof derivedFiles>;
  readonly #folder: string;
  readonly #logs = new Map<string, Promise<IndexLog>>();
  #lock: Promise<WriterLock> | undefined;
  #isWriter = false;

  constructor(folder: string) {
    this.#folder = folder;
    this.derived = derivedFiles(folder);
  }

  async list(): Promise<string[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names.filter((name) => name.endsWith(extension)).map((name) => name.slice(0, -extension.length));
  }

  /** The index as it is now, with what other processes have written. */
  async find(name: string): Promise<IndexLog | undefined> {
    const known = this.#logs.get(name);
    if (known) {
      const log = await known;
      if (this.#isWriter || (await log.refresh())) return log;
      if (this.#logs.get(name) === known) this.#logs.delete(name);
      await log.close();
    }
    if (!(await this.list()).includes(name)) return undefined;
    // Whoever else asked in the meantime has begun to load it.
    return this.#logs.get(name) ?? this.#load(name, () => IndexLog.open(this.#file(name)));
  }

  async create(header: IndexHeader): Promise<void> {
    await this.#becomeWriter();
    await this.#requireDistinctName(header.name);
    await this.#load(header.name, () => IndexLog.create(this.#file(header.name), header));
  }

  /** As {@link find}, to be written. @throws `VECTOR_STORE_LOCKED` */
  async findToWrite(name: string): Promise<IndexLog | undefined> {
    await this.#becomeWriter();
    return this.find(name);
  }

  async delete(name: string): Promise<void> {
    await this.#becomeWriter();
    const log = await this.#logs.get(name);
    this.#logs.delete(name);
    await log?.close();
    await unlink(this.#file(name));
    await this.derived.deleteOf(name);
  }

  async close(): Promise<void> {
    const logs = [...this.#logs.values()];
    const lock = this.#lock;
    this.#logs.clear();
    this.#lock = undefined;
    this.#isWriter = false;
    for (const log of await Promise.allSettled(logs)) if (log.status === 'fulfilled') await log.value.close();
    await (await lock)?.release();
  }

  /** On some file systems names that differ only in case are the same file. */
  async #requireDistinctName(name: string): Promise<void> {
    const similar = (await this.list()).find((existing) => existing.toLowerCase() === name.toLowerCase());
    if (similar === undefined) return;
    throw new QuiverError(
      'VECTOR_ARGUMENT_INVALID',
      `The name '${name}' is too close to the existing index '${similar}'; choose one that differs in more than case.`,
    );
  }

  #file(name: string): string {
    return join(this.#folder, `${name}${extension}`);
  }

  /** One load at a time for each index. A failed one is forgotten. */
  #load(name: string, load: () => Promise<IndexLog>): Promise<IndexLog> {
    const loading = load().then(async (log) => {
      if (this.#isWriter) await log.prepareToWrite();
      return log;
    });
    this.#logs.set(name, loading);
    loading.catch(() => this.#logs.delete(name));
    return loading;
  }

  async #becomeWriter(): Promise<void> {
    this.#lock ??= this.#acquire().catch((error: unknown) => {
      this.#lock = undefined;
      throw error;
    });
    await this.#lock;
  }

  async #acquire(): Promise<WriterLock> {
    await mkdir(this.#folder, { recursive: true });
    const lock = await WriterLock.acquire(this.#folder);
    // What was read without the lock is read again: nobody else changes it from now on.
    this.#isWriter = true;
    const logs = [...this.#logs.values()];
    this.#logs.clear();
    for (const log of await Promise.allSettled(logs)) if (log.status === 'fulfilled') await log.value.close();
    return lock;
  }
}
