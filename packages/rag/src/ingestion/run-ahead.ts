/**
 * Runs a task for each item, several at once, and yields the results in the order of the items. Items are taken only as tasks
 * become free, so a source of any length is never read far ahead.
 *
 * After an error, or when the caller stops, the signal of `run` aborts, and the generator waits for the running tasks.
 */
export async function* runAhead<Item, Result>(
  items: AsyncIterable<Item>,
  limit: number,
  run: (item: Item, signal: AbortSignal) => Promise<Result>,
  signal?: AbortSignal,
): AsyncGenerator<Result> {
  const stop = new AbortController();
  const runSignal = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const running: Promise<Result>[] = [];
  try {
    for await (const item of items) {
      signal?.throwIfAborted();
      if (running.length >= limit) yield (await running.shift()) as Result;
      const task = run(item, runSignal);
      // The error is thrown in the order of the items.
      task.catch(() => undefined);
      running.push(task);
    }
    for (let task = running.shift(); task; task = running.shift()) yield await task;
  } finally {
    stop.abort();
    await Promise.allSettled(running);
  }
}
