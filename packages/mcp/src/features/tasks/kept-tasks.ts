import { monotonicNow } from '../../monotonic-now.js';
import {
  DEFAULT_MAX_TASK_CHARACTERS,
  DEFAULT_MAX_TASK_CHARACTERS_PER_CALLER,
  DEFAULT_MAX_TASKS,
  DEFAULT_MAX_TASKS_PER_CALLER,
} from './task-limits.js';

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

/** Number of tasks, and of their characters. */
interface Sum {
  tasks: number;
  characters: number;
}

interface KeptTask {
  readonly id: string;
  /** Principal of the caller; empty without authentication. */
  readonly principal: string;
  readonly ttlMs: number;
  /** Time at which its lifetime ends, on the monotonic clock. */
  readonly end: number;
  /** Characters of its record. */
  size: number;
}

/** Counts the tasks that this process runs or has run, and their characters, until their lifetime ends. */
export class KeptTasks {
  readonly #limits: Required<TaskLimits>;
  readonly #tasks = new Map<string, KeptTask>();
  /** Tasks with one lifetime, which is a setting of their tool, in the order of its end. */
  readonly #byLifetime = new Map<number, Set<KeptTask>>();
  readonly #all: Sum = { tasks: 0, characters: 0 };
  readonly #byPrincipal = new Map<string, Sum>();

  constructor({
    maxPerCaller = DEFAULT_MAX_TASKS_PER_CALLER,
    maxTotal = DEFAULT_MAX_TASKS,
    maxCharactersPerCaller = DEFAULT_MAX_TASK_CHARACTERS_PER_CALLER,
    maxCharacters = DEFAULT_MAX_TASK_CHARACTERS,
  }: TaskLimits) {
    this.#limits = { maxPerCaller, maxTotal, maxCharactersPerCaller, maxCharacters };
  }

  add(id: string, principal: string, ttlMs: number): void {
    this.delete(id);
    const task: KeptTask = { id, principal, ttlMs, end: monotonicNow() + ttlMs, size: 0 };
    this.#tasks.set(id, task);
    const others = this.#byLifetime.get(ttlMs) ?? new Set();
    this.#byLifetime.set(ttlMs, others.add(task));
    this.#count(task, 1, 0);
  }

  delete(id: string): void {
    const task = this.#tasks.get(id);
    if (!task) return;
    this.#tasks.delete(id);
    const others = this.#byLifetime.get(task.ttlMs);
    others?.delete(task);
    if (others?.size === 0) this.#byLifetime.delete(task.ttlMs);
    this.#count(task, -1, -task.size);
  }

  /** Returns whether a caller may have one more task. */
  hasRoom(principal: string): boolean {
    const { maxPerCaller, maxTotal, maxCharactersPerCaller, maxCharacters } = this.#limits;
    this.#deleteEnded();
    const all = this.#all;
    if (all.tasks >= maxTotal || all.characters >= maxCharacters) return false;
    const { tasks, characters } = this.#sumOf(principal);
    return principal === '' || (tasks < maxPerCaller && characters < maxCharactersPerCaller);
  }

  /**
   * Takes the characters of a result, before it is stored.
   *
   * @returns the limit that it exceeds, and what is left of it; `undefined` when there is room
   */
  reserve(id: string, length: number): { readonly name: keyof TaskLimits; readonly left: number } | undefined {
    this.#deleteEnded();
    const task = this.#tasks.get(id);
    // Its lifetime has ended, and the store drops it.
    if (!task) return undefined;
    const { maxCharactersPerCaller, maxCharacters } = this.#limits;
    const leftOfAll = maxCharacters - this.#all.characters;
    const { principal } = task;
    const leftOfOwn = principal === '' ? Infinity : maxCharactersPerCaller - this.#sumOf(principal).characters;
    if (length > leftOfAll) return { name: 'maxCharacters', left: leftOfAll };
    if (length > leftOfOwn) return { name: 'maxCharactersPerCaller', left: leftOfOwn };
    this.resize(id, task.size + length);
    return undefined;
  }

  /** Takes over the number of characters that were stored. */
  resize(id: string, size: number): void {
    const task = this.#tasks.get(id);
    if (!task) return;
    this.#count(task, 0, size - task.size);
    task.size = size;
  }

  /** Returns the milliseconds that are left of the lifetime of a task of this process. */
  timeLeft(id: string): number | undefined {
    const task = this.#tasks.get(id);
    return task && Math.max(1, task.end - monotonicNow());
  }

  #sumOf(principal: string): Sum {
    return this.#byPrincipal.get(principal) ?? { tasks: 0, characters: 0 };
  }

  #count({ principal }: KeptTask, tasks: number, characters: number): void {
    const own = this.#sumOf(principal);
    for (const sum of [own, this.#all]) {
      sum.tasks += tasks;
      sum.characters += characters;
    }
    if (own.tasks === 0) this.#byPrincipal.delete(principal);
    else this.#byPrincipal.set(principal, own);
  }

  #deleteEnded(): void {
    const now = monotonicNow();
    for (const tasks of this.#byLifetime.values()) {
      for (const { id, end } of tasks) {
        if (end > now) break;
        this.delete(id);
      }
    }
  }
}
