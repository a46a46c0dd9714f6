import { expect, test } from 'vitest';
import { abortableItems, runAhead } from './async-items.js';

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function* count(limit: number, onTake: (n: number) => void = () => undefined): AsyncGenerator<number> {
  for (let n = 0; n < limit; n += 1) {
    onTake(n);
    yield n;
  }
}

test('results come in order, with no more at work than allowed', async () => {
  let running = 0;
  let most = 0;
  const results: number[] = [];
  const slowFirst = async (n: number): Promise<number> => {
    most = Math.max(most, (running += 1));
    await pause(n % 3 === 0 ? 6 : 1);
    running -= 1;
    return n;
  };
  for await (const result of runAhead(count(30), 3, slowFirst)) results.push(result);
  expect(results).toEqual(Array.from({ length: 30 }, (_, n) => n));
  expect(most).toBe(3);
});

test('items are not taken before there is a place for them', async () => {
  let taken = 0;
  const never = new Promise<never>(() => undefined);
  const run = (n: number): Promise<number> => (n === 2 ? never : Promise.resolve(n));
  const results = runAhead(
    count(1000, () => (taken += 1)),
    4,
    run,
  );
  for (let n = 0; n < 2; n += 1) await results.next();
  void results.next();
  await pause(5);
  expect(taken).toBeLessThanOrEqual(7);
});

test('a failed task stops the others, and is thrown only when they have ended', async () => {
  const ended: number[] = [];
  const begun: number[] = [];
  const run = async (n: number, signal: AbortSignal): Promise<void> => {
    begun.push(n);
    if (n === 1) throw new Error('broken');
    if (n === 0) return;
    await new Promise((resolve) => signal.addEventListener('abort', () => setTimeout(resolve, 2)));
    ended.push(n);
  };
  const all = async (): Promise<void> => {
    for await (const _ of runAhead(count(100), 3, run));
  };
  await expect(all()).rejects.toThrow('broken');
  expect(begun.length).toBeLessThanOrEqual(4);
  expect(ended).toEqual(begun.slice(2));
});

test('rejects with the error of a source without closing it: it may never end', async () => {
  let closed = 0;
  const close = (): Promise<never> => {
    closed += 1;
    return new Promise(() => {});
  };
  const next = (): Promise<never> => Promise.reject(new Error('read failed'));
  const source = { [Symbol.asyncIterator]: () => ({ next, return: close }) };
  await expect(abortableItems(source, new AbortController().signal).next()).rejects.toThrow('read failed');
  expect(closed).toBe(0);
});

test('closes a source of items before an aborted consumer continues', async () => {
  const controller = new AbortController();
  let isClosed = false;
  async function* source() {
    try {
      yield* [1, 2];
    } finally {
      await new Promise((resolve) => setTimeout(resolve));
      isClosed = true;
    }
  }
  for await (const _ of abortableItems(source(), controller.signal)) {
    controller.abort();
    break;
  }
  expect(isClosed).toBe(true);
});
