import { defined } from '../../defined.js';
import { monotonicNow } from '../../monotonic-now.js';
import { DEFAULT_TASK_LIMITS } from './task-limits.js';

/** Limits of the tasks that a process keeps, and of their characters. */
export interface TaskLimits {
  /** Tasks of one caller that a process keeps until their `ttlMs`. Default 1000. Callers without authentication share the total. */
  maxPerCaller?: number;
  /**
   * Tasks that a process keeps until their `ttlMs`. Default 10 000. Beyond a limit, calls run without a task; calls of tools with
   * `task: 'required'` are refused.
   */
  maxTotal?: number;
  /**
   * Characters of the stored tasks of one caller: their results, and what is stored with them. Default 33 554 432 (32 Mi). Callers without
   * authentication share the total. Where a limit is reached, there are no further tasks, as above; the result of a task that no longer
   * fits is not stored, and the task fails.
   */
  maxCharactersPerCaller?: number;
  /** Characters of all stored tasks of a process. Default 134 217 728 (128 Mi). */
  maxCharacters?: number;
}

interface KeptTask {
  /** Principal of the caller; empty without authentication. */
  readonly principal: string;
  /** Time at which its lifetime ends, on the monotonic clock. */
  readonly end: number;
  /** Characters of its record. */
  size: number;
}

/** Counts the tasks that this process runs or has run, and their characters, until their lifetime ends. */
export class KeptTasks {
  readonly #limits: Required<TaskLimits>;
  readonly #tasks = new Map<string, KeptTask>();

  constructor(limits: TaskLimits) {
    this.#limits = { ...DEFAULT_TASK_LIMITS, ...defined(limits) };
  }

  add(id: string, principal: string, ttlMs: number): void {
    this.#tasks.set(id, { principal, end: monotonicNow() + ttlMs, size: 0 });
  }

  delete(id: string): void {
    this.#tasks.delete(id);
  }

  hasRoom(principal: string): boolean {
    const { maxPerCaller, maxTotal, maxCharactersPerCaller, maxCharacters } = this.#limits;
    const { all, own } = this.#count(principal);
    if (all.tasks >= maxTotal || all.characters >= maxCharacters) return false;
    return principal === '' || (own.tasks < maxPerCaller && own.characters < maxCharactersPerCaller);
  }

  /**
   * Takes the characters of a result, before it is stored.
   *
   * @returns the limit that it exceeds, and what is left of it; `undefined` when there is room
   */
  reserve(id: string, length: number): { readonly name: keyof TaskLimits; readonly left: number } | undefined {
    const { principal = '' } = this.#tasks.get(id) ?? {};
    const { all, own } = this.#count(principal);
    const task = this.#tasks.get(id);
    // Its lifetime has ended, and the store drops it.
    if (!task) return undefined;
    const leftOfAll = this.#limits.maxCharacters - all.characters;
    const leftOfOwn = principal === '' ? Infinity : this.#limits.maxCharactersPerCaller - own.characters;
    if (length > leftOfAll) return { name: 'maxCharacters', left: leftOfAll };
    if (length > leftOfOwn) return { name: 'maxCharactersPerCaller', left: leftOfOwn };
    task.size += length;
    return undefined;
  }

  /** Takes over the number of characters that were stored. */
  resize(id: string, size: number): void {
    const task = this.#tasks.get(id);
    if (task) task.size = size;
  }

  /** Returns the milliseconds that are left of the lifetime of a task of this process. */
  timeLeft(id: string): number | undefined {
    const task = this.#tasks.get(id);
    return task && Math.max(1, task.end - monotonicNow());
  }

  /** Deletes the tasks whose lifetime has ended, and counts the others: 10,000 in less time than the store takes for one. */
  #count(principal: string): Record<'all' | 'own', { tasks: number; characters: number }> {
    const [all, own] = [
      { tasks: 0, characters: 0 },
      { tasks: 0, characters: 0 },
    ];
    const now = monotonicNow();
    for (const [id, task] of this.#tasks) {
      if (task.end <= now) this.#tasks.delete(id);
      else
        for (const sum of task.principal === principal ? [all, own] : [all]) {
          sum.tasks += 1;
          sum.characters += task.size;
        }
    }
    return { all, own };
  }
}
