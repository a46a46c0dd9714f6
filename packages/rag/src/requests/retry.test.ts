import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { retry } from './retry.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const busy = (headers?: Record<string, string>): Error =>
  Object.assign(new Error('busy'), { isRetryable: true, responseHeaders: headers });

/** Returns the milliseconds before each attempt after the first. */
async function delaysOf(failure: Error, maxRetries: number): Promise<number[]> {
  const times: number[] = [];
  const run = async (): Promise<never> => {
    times.push(Date.now());
    throw failure;
  };
  const thrown = retry(run, { maxRetries }).catch((problem: unknown) => problem);
  await vi.runAllTimersAsync();
  expect(await thrown).toBe(failure);
  return times.slice(1).map((time, attempt) => time - times[attempt]!);
}

it('waits twice as long before each attempt, at most a minute', async () => {
  expect(await delaysOf(busy(), 9)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
});

it.each([
  [{ 'retry-after-ms': '20' }, 20],
  [{ 'retry-after': '3' }, 3000],
  [{ 'retry-after-ms': '20', 'retry-after': '3' }, 20],
  [{ 'retry-after': '3600' }, 60_000],
  [{ 'retry-after': '-1' }, 500],
  [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 500],
])('waits as long as the server requests by %j: %d ms', async (headers, delay) => {
  expect(await delaysOf(busy(headers as Record<string, string>), 1)).toEqual([delay]);
});

it('repeats no other error', async () => {
  expect(await delaysOf(new Error('refused'), 3)).toEqual([]);
});

it.each([
  ['while it waits', busy()],
  ['during an attempt that fails by it', new Error('closed')],
])('ends with the reason when it is aborted %s, and leaves no timer', async (_when, error) => {
  const controller = new AbortController();
  const reason = new Error('enough');
  let attempts = 0;
  const run = async (): Promise<never> => {
    attempts += 1;
    if (!('isRetryable' in error)) controller.abort(reason);
    throw error;
  };
  const thrown = retry(run, { signal: controller.signal }).catch((problem: unknown) => problem);
  await vi.advanceTimersByTimeAsync(100);
  controller.abort(reason);
  expect(await thrown).toBe(reason);
  expect([attempts, vi.getTimerCount()]).toEqual([1, 0]);
});
