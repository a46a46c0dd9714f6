import { expect, test } from 'vitest';
import { runAhead } from './run-ahead.js';

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
