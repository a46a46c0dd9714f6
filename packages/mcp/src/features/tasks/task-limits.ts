/** Limits and times of tasks: `DEFAULT_…` are defaults of options, the others cannot be changed. */
import type { TaskLimits } from './kept-tasks.js';

/** Milliseconds that a task and its result are kept. */
export const DEFAULT_TASK_TTL: number = 24 * 60 * 60_000;
/** Milliseconds between two requests of a client for the status of a task. */
export const DEFAULT_POLL_INTERVAL = 1_000;
export const DEFAULT_TASK_LIMITS: Required<TaskLimits> = {
  maxPerCaller: 1_000,
  maxTotal: 10_000,
  maxCharactersPerCaller: 32 * 1024 * 1024,
  maxCharacters: 128 * 1024 * 1024,
};
/** Characters of the result of a task. */
export const DEFAULT_MAX_TASK_RESULT: number = 4 * 1024 * 1024;
/** Milliseconds between two writes of the progress of a task. */
export const TASK_PROGRESS_INTERVAL = 250;
/** Milliseconds between two looks for responses that another instance received, in case its message was lost. */
export const TASK_CHECK_INTERVAL = 5_000;
/** Milliseconds from the first to the second search for tasks whose process has died: longer than the lifetime of a sign of life. */
export const ORPHAN_CHECK_DELAY = 30_000;
/** Milliseconds between later searches. */
export const ORPHAN_CHECK_INTERVAL: number = 5 * 60_000;
/** Tasks that one `subscriptions/listen` request may name. */
export const MAX_LISTENED_TASKS = 100;
