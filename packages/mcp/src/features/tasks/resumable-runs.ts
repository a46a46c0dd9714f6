import { toErrorMessage } from '@quiver/core';
import type { Instance } from '../../shared-store/instance.js';
import { unref } from '../../unref.js';
import { ORPHAN_CHECK_DELAY, ORPHAN_CHECK_INTERVAL } from './task-limits.js';

/** Kind of the messages between instances: the id of a task that its instance has released. */
const releasedKind = 'task released';

export interface ResumableRunsOptions {
  readonly instance: Instance;
  /** Whether this instance has tools whose tasks it can continue. */
  readonly hasTools: () => boolean;
  /** Continues a task whose process has died, if this instance can. */
  readonly recover: (taskId: string) => Promise<{ readonly hasEnded: boolean }>;
}

/**
 * The running tasks that another instance may continue, as one small record each with the id of their instance: an instance finds those
 * whose process has died without reading every task.
 */
export class ResumableRuns {
  readonly #instance: Instance;
  readonly #options: ResumableRunsOptions;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ResumableRunsOptions) {
    const { instance, recover } = options;
    this.#options = options;
    this.#instance = instance;
    instance.on<string>(releasedKind, (taskId, from) => {
      if (from !== instance.id && !this.#isClosed) void this.#tryTo('continue a task', () => recover(taskId));
    });
  }

  /** Names a task before this instance runs it. Where that fails, only requests for the task continue it. */
  async add(taskId: string, ttlMs: number): Promise<void> {
    const { store, id } = this.#instance;
    await this.#tryTo('name the run of a task', () => store.put(this.#keyOf(taskId), id, { ttlMs }));
  }

  async delete(taskId: string): Promise<void> {
    await this.#tryTo('remove the run of a task', () => this.#instance.store.delete(this.#keyOf(taskId)));
  }

  async release(taskId: string): Promise<void> {
    await this.#tryTo('release a task', () => this.#instance.broadcast(releasedKind, taskId));
  }

  /** Looks for tasks without a process: now, soon again, because a process that was just killed counts as alive, and then rarely. */
  watch(): void {
    if (this.#timer || this.#isClosed || !this.#instance.isShared) return;
    this.#lookAfter(0, ORPHAN_CHECK_DELAY);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #lookAfter(delay: number, next: number): void {
    const timer = setTimeout(() => {
      void this.#tryTo('look for tasks without a process', () => this.#look()).finally(() => {
        // Instances that start together do not look together.
        if (!this.#isClosed) this.#lookAfter(next * (0.75 + Math.random() / 2), ORPHAN_CHECK_INTERVAL);
      });
    }, delay);
    this.#timer = unref(timer);
  }

  async #look(): Promise<void> {
    const { store } = this.#instance;
    const { hasTools, recover } = this.#options;
    if (!hasTools()) return;
    const prefix = this.#keyOf('');
    const alive = new Map<string, Promise<boolean>>();
    for (const key of await store.keys(prefix)) {
      const runner = (await store.get(key))?.value;
      if (this.#isClosed || runner === undefined) continue;
      const isAlive = alive.get(runner) ?? this.#instance.isAlive(runner);
      alive.set(runner, isAlive);
      if (await isAlive) continue;
      const { hasEnded } = await recover(key.slice(prefix.length));
      if (hasEnded) await store.delete(key);
    }
  }

  async #tryTo(what: string, run: () => Promise<unknown>): Promise<void> {
    if (!this.#instance.isShared) return;
    try {
      await run();
    } catch (error) {
      this.#instance.logger.warn(`Could not ${what}: ${toErrorMessage(error)}`, error);
    }
  }

  #keyOf(taskId: string): string {
    return this.#instance.nameOf('task-run', taskId);
  }
}
