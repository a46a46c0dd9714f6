import { untilAborted } from './async.js';
import { invalidOptions, valueThat } from './options.js';

const itemsValue = valueThat(
  (value) => typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value),
  'a list or another iterable',
);

/**
 * Requires a source of items. The characters of a string are not items.
 *
 * @param name - function that received the source
 * @param option - name of the option or parameter
 * @throws `OPTIONS_INVALID`
 */
export function requireItems(name: string, option: string, items: unknown): void {
  const problem = itemsValue(items, option);
  if (problem !== undefined) throw invalidOptions(`${name}: ${problem}`);
}

/**
 * Yields the items of a source until the signal fires, also while the next item is pending, which may never arrive.
 *
 * @throws the abort reason of `signal`
 */
export async function* abortableItems<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Item> {
  if (!signal) return yield* items;
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  // Not while `next()` runs: a source that has ended or failed is closed.
  let mustClose = false;
  try {
    for (;;) {
      mustClose = false;
      const { done, value } = await untilAborted(async () => iterator.next(), signal);
      if (done) return;
      mustClose = true;
      yield value;
    }
  } finally {
    if (mustClose) await iterator.return?.();
    // The source may end only after its pending item, which is no longer awaited.
    else if (signal.aborted) void (async () => iterator.return?.())().catch(() => undefined);
  }
}

/**
 * Runs a task for each item, several at once, and yields the results in the order of the items. Items are taken only as tasks
 * become free, so a source of any length is never read far ahead.
 *
 * After an error, or when the caller stops, the signal of `run` aborts, and the generator waits for the running tasks.
 */
export async function* runAhead<Item, Result>(
  items: Iterable<Item> | AsyncIterable<Item>,
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
