import { untilAborted } from '@quiver/core';

/**
 * A task that several callers wait for. One that gives up does not end it for the others; when all have given up, it is aborted.
 */
export interface SharedTask<Result> {
  /** @throws the error of the task, or `signal.reason` */
  wait(signal: AbortSignal | undefined): Promise<Result>;
  /** Whether it was aborted because all have given up. */
  readonly isAbandoned: boolean;
}

/** Starts the task at once. */
export function startSharedTask<Result>(run: (signal: AbortSignal) => Promise<Result>): SharedTask<Result> {
  const controller = new AbortController();
  const running = run(controller.signal);
  // Each waiting caller receives a failure. Without callers it is ignored.
  running.catch(() => {});
  let waiting = 0;
  return {
    get isAbandoned() {
      return controller.signal.aborted;
    },
    async wait(signal) {
      waiting += 1;
      try {
        return await untilAborted(() => running, signal);
      } finally {
        waiting -= 1;
        if (waiting === 0 && signal?.aborted) controller.abort(signal.reason);
      }
    },
  };
}
