/** Runs a task as soon as fewer tasks than the limit are running. */
export type Limit = <Result>(run: () => Promise<Result>) => Promise<Result>;

/** Creates a limit that all callers share. Tasks wait in the order of their calls. */
export function createLimit(limit: number): Limit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (run) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      // The next task takes over, so that no other task starts in between.
      if (next) next();
      else running -= 1;
    }
  };
}
