import { Result } from '../../content.js';
import { toTimerDelay } from '../../monotonic-now.js';
import { refused, type ProtocolError } from '../../protocol/protocol-error.js';
import type { ContinuableRun, Continuation } from '../../server/continued-run.js';
import type { ModernRequest } from '../../server/eras/modern.js';
import { defer } from '../../server/eras/input-round.js';
import { storedCallOf } from './task-methods.js';
import type { TaskOptions } from './task-options.js';
import { commonMembers } from './task-record.js';
import type { Tasks } from './tasks.js';

/** A call that becomes a task when it takes long. */
export class PossibleTask implements Continuation {
  readonly takesRequests: boolean;
  readonly #tasks: Tasks;
  readonly #request: ModernRequest;
  readonly #options: TaskOptions;
  /** Hooks of the start: `onCallTool` hooks run again where another instance resumes the task, and `onRequest` hooks do not. */
  readonly #arguments: Record<string, unknown> | undefined;
  #run!: ContinuableRun;
  #cancelTimer!: () => void;

  constructor(tasks: Tasks, request: ModernRequest, options: TaskOptions) {
    this.#tasks = tasks;
    this.#request = request;
    this.#options = options;
    this.#arguments = request.arguments;
    this.takesRequests = options.after === 0;
  }

  /** @throws ProtocolError with HTTP status 429 when no more tasks can be stored and the tool requires one */
  start(run: ContinuableRun): void {
    const { mode, after } = this.#options;
    if (mode === 'required' && !this.#tasks.hasRoom(this.#request.caller.principal ?? '')) throw noRoom();
    this.#run = run;
    this.#cancelTimer = later(after, () => this.continueNow());
  }

  continueNow(): void {
    try {
      this.#becomeTask();
    } catch (error) {
      // Data of the application that cannot be read must not end the process.
      this.#run.fail(error as Error);
    }
  }

  end(): void {
    this.#cancelTimer();
  }

  #becomeTask(): void {
    const [host, options, run] = [this.#request, this.#options, this.#run];
    // With time before the task, requests for input end the round.
    if (!run.isOpen || (options.after > 0 && run.round.isEnding)) return;
    const { answers, requestCount } = run.round;
    const call = options.resume ? storedCallOf(host, this.#arguments, this.#tasks.callerData) : undefined;
    const start = { options, host, answers, requestCount, call };
    const creating = this.#tasks.begin(start, (task) => run.continueAs(task));
    if (creating) run.respond(creating.then((record) => Result.of(commonMembers(record), { type: 'task' })));
    else if (options.mode === 'required') run.fail(noRoom());
    else run.round.keep();
  }
}

function noRoom(): ProtocolError {
  return refused(429, 'The server has as many tasks, or results of tasks, as it keeps; call the tool again later');
}

/** @returns a function that prevents the run */
function later(milliseconds: number, run: () => void): () => void {
  // Only the run itself decides.
  if (milliseconds === Infinity) return () => {};
  if (milliseconds === 0) defer(run);
  const timer = milliseconds === 0 ? undefined : setTimeout(run, toTimerDelay(milliseconds));
  return () => clearTimeout(timer);
}
