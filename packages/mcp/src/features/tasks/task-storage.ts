import { toErrorMessage } from '@quiver/core';
import type { Instance } from '../../shared-store/instance.js';
import type { KeptTasks } from './kept-tasks.js';
import { parseTaskRecord, type TaskRecord } from './task-record.js';

/** Returns the next state of a task; `undefined` for no change. May be called again when another writer was faster. */
export type TaskChange = (record: TaskRecord) => TaskRecord | undefined;

/** State of a task after a change, and whether the change was made. */
export interface ChangedTask {
  readonly record: TaskRecord;
  readonly isChanged: boolean;
}

/** Ids of tasks: 192 random bits in base64url. */
const idBytes = 24;
const idPattern = /^[\w-]{32}$/;

export class TaskStorage {
  readonly #instance: Instance;
  readonly #kept: KeptTasks;
  /** Last change of each task by this process. Simultaneous changes would compete for the version of the record. */
  readonly #changes = new Map<string, Promise<unknown>>();

  constructor(instance: Instance, kept: KeptTasks) {
    this.#instance = instance;
    this.#kept = kept;
  }

  createId(): string {
    const bytes = crypto.getRandomValues(new Uint8Array(idBytes));
    return btoa(String.fromCharCode(...bytes))
      .replaceAll('+', '-')
      .replaceAll('/', '_');
  }

  /** @throws `TASK_RECORD_INVALID` */
  async read(id: string): Promise<{ record: TaskRecord; version: number } | undefined> {
    if (!idPattern.test(id)) return undefined;
    const stored = await this.#instance.store.get(this.#keyOf(id));
    if (!stored) return undefined;
    return { record: parseTaskRecord(id, stored.value), version: stored.version };
  }

  async create(record: TaskRecord): Promise<void> {
    await this.#put(record, 0);
  }

  /** After earlier changes of this process. @returns the state; `undefined` when there is no such task, or its lifetime has ended */
  change(id: string, change: TaskChange): Promise<ChangedTask | undefined> {
    const changing = (this.#changes.get(id) ?? Promise.resolve()).then(() => this.#change(id, change));
    const settled = changing
      .catch(() => {})
      .finally(() => {
        if (this.#changes.get(id) === settled) this.#changes.delete(id);
      });
    this.#changes.set(id, settled);
    return changing;
  }

  async #change(id: string, change: TaskChange): Promise<ChangedTask | undefined> {
    for (;;) {
      const stored = await this.read(id);
      if (!stored) return undefined;
      const next = change(stored.record);
      if (!next) return { record: stored.record, isChanged: false };
      const record = { ...next, lastUpdatedAt: new Date().toISOString() };
      if (await this.#put(record, stored.version)) return { record, isChanged: true };
    }
  }

  watch(id: string, listener: () => void): Promise<() => Promise<void>> {
    return this.#instance.store.subscribe(this.#keyOf(id), listener, listener);
  }

  /** @returns whether the record had the version */
  async #put(record: TaskRecord, version: number): Promise<boolean> {
    const { store, logger } = this.#instance;
    const { taskId } = record;
    const key = this.#keyOf(taskId);
    const value = JSON.stringify(record);
    // Clocks of instances differ: only the one that runs the task can tell how much of its lifetime is left.
    const ttlMs = this.#kept.timeLeft(taskId) ?? record.ttlMs;
    if ((await store.put(key, value, { version, ttlMs })) === undefined) return false;
    this.#kept.resize(taskId, value.length);
    store
      .publish(key, '')
      .catch((error: unknown) => logger.warn(`A change of a task was not announced: ${toErrorMessage(error)}`, error));
    return true;
  }

  #keyOf(id: string): string {
    return this.#instance.nameOf('task', id);
  }
}
