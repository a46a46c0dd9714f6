import { booleanValue, checkOptions, oneOf, type OptionChecks, wholeNumber } from '@quiver/core/internal';
import { defined } from '../../defined.js';
import type { ToolMcpOptions, ToolTaskMode, ToolTaskOptions } from '@quiver/core/tools';
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

const defaults: TaskOptions = {
  mode: 'optional',
  after: 0,
  ttlMs: DEFAULT_TASK_TTL,
  pollIntervalMs: DEFAULT_POLL_INTERVAL,
  resume: false,
};

/** Options of a tool that decides itself that the run of a call continues. */
export const optionsOfContinuing: TaskOptions = { ...defaults, after: Infinity };

const checks: OptionChecks<ToolTaskOptions> = {
  mode: oneOf('never', 'optional', 'required'),
  after: wholeNumber(0, MAX_LIFETIME),
  ttlMs: wholeNumber(1, MAX_LIFETIME),
  pollIntervalMs: wholeNumber(1, MAX_LIFETIME),
  resume: booleanValue,
};

/**
 * Returns the task options of a tool with their defaults; `undefined` for a tool whose calls never become tasks.
 *
 * @throws `OPTIONS_INVALID`
 */
export function parseTaskOptions(given: ToolMcpOptions['task'] = 'never'): TaskOptions | undefined {
  const options: ToolTaskOptions = typeof given === 'object' ? given : { mode: given };
  checkOptions('mcp.task', options, checks);
  const { mode = defaults.mode, ...others } = options;
  return mode === 'never' ? undefined : { ...defaults, ...defined(others), mode };
}
