/** Runs what it is given, as soon as fewer than its limit are running. */
export type Limit = <Result>(run: () => Promise<Result>) => Promise<Result>;

/** A limit that all callers share; the others wait, first come, first served. */
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
      // The place goes straight to the next one, so that nobody slips in between.
      if (next) next();
      else running -= 1;
    }
  };
}
