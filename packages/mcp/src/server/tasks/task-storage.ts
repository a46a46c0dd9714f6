import { toErrorMessage } from '@quiver/core';
import type { Instance } from '../../shared-store/instance.js';
import type { TaskRecord } from './task-record.js';

/** Returns the next state of a task; `undefined` for no change. May be called again when another writer was faster. */
export type TaskChange = (record: TaskRecord) => TaskRecord | undefined;

/** State of a task, with the version of its record. */
export interface StoredTask {
  readonly record: TaskRecord;
  readonly version: number;
}

/** State of a task after a change, and whether the change was made. */
export interface ChangedTask {
  readonly record: TaskRecord;
  readonly isChanged: boolean;
}

/** Ids of tasks: 192 random bits in base64url. */
const idBytes = 24;
const idPattern = /^[\w-]{32}$/;

/** Tasks in the store of the instance. */
export class TaskStorage {
  readonly #instance: Instance;

  constructor(instance: Instance) {
    this.#instance = instance;
  }

  createId(): string {
    const bytes = crypto.getRandomValues(new Uint8Array(idBytes));
    return btoa(String.fromCharCode(...bytes))
      .replaceAll('+', '-')
      .replaceAll('/', '_');
  }

  async read(id: string): Promise<StoredTask | undefined> {
    if (!idPattern.test(id)) return undefined;
    const stored = await this.#instance.store.get(this.#keyOf(id));
    if (!stored) return undefined;
    // Instances of an earlier build, which may share the store, wrote no number of the run.
    const record = { run: 0, ...(JSON.parse(stored.value) as Omit<TaskRecord, 'run'>) };
    return { record, version: stored.version };
  }

  async create(record: TaskRecord): Promise<void> {
    await this.#put(record, 0);
  }

  /**
   * Changes a task with compare-and-set.
   *
   * @returns its state, and whether it was changed; `undefined` when there is no such task, or its lifetime has ended
   */
  async change(id: string, change: TaskChange): Promise<ChangedTask | undefined> {
    for (;;) {
      const stored = await this.read(id);
      if (!stored) return undefined;
      const next = change(stored.record);
      if (!next) return { record: stored.record, isChanged: false };
      const record = { ...next, lastUpdatedAt: new Date().toISOString() };
      if (await this.#put(record, stored.version)) return { record, isChanged: true };
    }
  }

  /** Calls back after every change of a task, in all instances. */
  watch(id: string, listener: () => void): Promise<() => Promise<void>> {
    return this.#instance.store.subscribe(this.#keyOf(id), listener, listener);
  }

  /** @returns whether the record had the version */
  async #put(record: TaskRecord, version: number): Promise<boolean> {
    const { store, logger, id } = this.#instance;
    const key = this.#keyOf(record.taskId);
    // Clocks of instances differ: only the one that created the task can tell how much of its lifetime is left.
    const age = record.creator === id ? Date.now() - Date.parse(record.createdAt) : 0;
    const ttlMs = Math.max(1, record.ttlMs - Math.max(0, age));
    if ((await store.put(key, JSON.stringify(record), { version, ttlMs })) === undefined) return false;
    store
      .publish(key, '')
      .catch((error: unknown) => logger.warn(`A change of a task was not announced: ${toErrorMessage(error)}`, error));
    return true;
  }

  #keyOf(id: string): string {
    return this.#instance.nameOf('task', id);
  }
}
