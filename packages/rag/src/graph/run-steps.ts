export interface RunStepsOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: { done: number }) => void) | undefined;
}

/**
 * Runs a long computation that yields between its steps, and lets other work of the process run there.
 *
 * @throws `signal.reason`
 */
export async function runSteps<Result>(
  steps: Generator<number, Result>,
  { signal, onProgress }: RunStepsOptions,
): Promise<Result> {
  let done = 0;
  for (;;) {
    signal?.throwIfAborted();
    const step = steps.next();
    if (step.done) {
      onProgress?.({ done: 1 });
      return step.value;
    }
    // A step that must be repeated does not take back what was reported.
    done = Math.max(done, step.value);
    onProgress?.({ done });
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** The same at once. */
export function runStepsNow<Result>(steps: Generator<unknown, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
