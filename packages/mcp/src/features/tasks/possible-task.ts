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

/** Returns what makes a call a task when it takes long. */
export function createPossibleTask(tasks: Tasks, request: ModernRequest, options: TaskOptions): Continuation {
  const { mode, after } = options;
  // Those of the start: `onCallTool` hooks run again where another instance resumes the task, and `onRequest` hooks do not.
  const { arguments: args } = request;
  let run: ContinuableRun;
  let cancelTimer: () => void;

  const becomeTask = (): void => {
    // With time before the task, requests for input end the round.
    if (!run.isOpen || (after > 0 && run.round.isEnding)) return;
    const { answers, requestCount } = run.round;
    const call = options.resume ? storedCallOf(request, args, tasks.callerData) : undefined;
    const start = { options, host: request, answers, requestCount, call };
    const creating = tasks.begin(start, (task) => run.continueAs(task));
    if (creating) run.respond(creating.then((record) => Result.of(commonMembers(record), { type: 'task' })));
    else if (mode === 'required') run.fail(noRoom());
    else run.round.keep();
  };
  const continueNow = (): void => {
    try {
      becomeTask();
    } catch (error) {
      // Data of the application that cannot be read must not end the process.
      run.fail(error as Error);
    }
  };
  return {
    takesRequests: after === 0,
    /** @throws ProtocolError with HTTP status 429 when no more tasks can be stored and the tool requires one */
    start(started) {
      if (mode === 'required' && !tasks.hasRoom(request.caller.principal ?? '')) throw noRoom();
      run = started;
      cancelTimer = later(after, continueNow);
    },
    continueNow,
    end: () => cancelTimer(),
  };
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
