import type { ToolMcpOptions, ToolTaskMode } from '@quiver/core/tools';
import { MAX_LIFETIME } from '../../shared-store/check-arguments.js';
import { DEFAULT_POLL_INTERVAL, DEFAULT_TASK_TTL } from './task-limits.js';

/** Conditions under which calls of a tool become tasks, and the times of these tasks. */
export interface TaskOptions {
  readonly mode: Exclude<ToolTaskMode, 'never'>;
  /** Milliseconds in which a call may end without becoming a task. */
  readonly after: number;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  readonly resume: boolean;
}

/** Options of a tool that decides itself that the run of a call continues. */
export const optionsOfContinuing: TaskOptions = {
  mode: 'optional',
  after: Infinity,
  ttlMs: DEFAULT_TASK_TTL,
  pollIntervalMs: DEFAULT_POLL_INTERVAL,
  resume: false,
};

/**
 * Returns the task options of a tool with their defaults; `undefined` for a tool whose calls never become tasks.
 *
 * @throws `TypeError` for invalid options
 */
export function parseTaskOptions(given: ToolMcpOptions['task']): TaskOptions | undefined {
  const options = typeof given === 'object' ? given : { mode: given ?? 'never' };
  const {
    mode = 'optional',
    after = 0,
    ttlMs = DEFAULT_TASK_TTL,
    pollIntervalMs = DEFAULT_POLL_INTERVAL,
    resume = false,
  } = options ?? {};
  if (mode === 'never') return undefined;
  if (mode !== 'optional' && mode !== 'required')
    throw invalid(`the mode must be never, optional or required, not ${JSON.stringify(mode)}`);
  for (const [name, value, least] of [
    ['after', after, 0],
    ['ttlMs', ttlMs, 1],
    ['pollIntervalMs', pollIntervalMs, 1],
  ] as const) {
    if (!Number.isSafeInteger(value) || value < least || value > MAX_LIFETIME)
      throw invalid(`${name} must be a whole number of milliseconds from ${least} to 1e12, not ${String(value)}`);
  }
  if (typeof resume !== 'boolean') throw invalid(`resume must be a boolean, not ${String(resume)}`);
  return { mode, after, ttlMs, pollIntervalMs, resume };
}

function invalid(reason: string): TypeError {
  return new TypeError(`its task options cannot be used: ${reason}`);
}
