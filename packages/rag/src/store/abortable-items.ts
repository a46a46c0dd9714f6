import { untilAborted } from './until-aborted.js';

/**
 * Hands on what it is given, one after another, and stops when the signal fires: also while the next item is waited for, which
 * may never come.
 *
 * @throws the reason of `signal`
 */
export async function* abortableItems<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Item> {
  if (!signal) {
    yield* items;
    return;
  }
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let state: 'asked' | 'answered' | 'ended' = 'answered';
  try {
    while (state === 'answered') {
      state = 'asked';
      const { done, value } = await untilAborted(async () => iterator.next(), signal);
      state = done ? 'ended' : 'answered';
      if (!done) yield value;
    }
  } finally {
    if (state === 'answered') await iterator.return?.();
    // It ends when it has answered, for which nobody waits any more.
    else if (signal.aborted && state === 'asked') void (async () => iterator.return?.())().catch(() => undefined);
  }
}
