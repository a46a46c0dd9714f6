import { describe, expect, it, vi } from 'vitest';
import { createRateLimiter } from './rate-limit.js';

const { signal } = new AbortController();

/** Runs calls under fake timers, and returns the time at which each passed, in milliseconds. */
async function timesOf(
  calls: readonly (readonly string[])[],
  limits: Parameters<typeof createRateLimiter>[0],
): Promise<number[]> {
  vi.useFakeTimers();
  try {
    const limiter = createRateLimiter(limits, Date.now);
    const start = Date.now();
    const times: number[] = [];
    const all = Promise.all(
      calls.map((texts) => limiter.wait(texts, signal).then(() => times.push(Date.now() - start))),
    );
    await vi.runAllTimersAsync();
    await all;
    return times;
  } finally {
    vi.useRealTimers();
  }
}

describe('createRateLimiter', () => {
  it('lets a minute of requests pass at once, and the next ones as the bucket fills', async () => {
    expect(await timesOf([['a'], ['b'], ['c'], ['d']], { requestsPerMinute: 2 })).toEqual([0, 0, 30_000, 60_000]);
  });

  it('counts the tokens of all texts of a request', async () => {
    const countTokens = (text: string): number => text.length;
    expect(await timesOf([['ab', 'cd'], ['ef'], ['g']], { tokensPerMinute: 5, countTokens })).toEqual([
      0, 12_000, 24_000,
    ]);
  });

  it('lets a text pass that is larger than a minute allows, alone', async () => {
    expect(await timesOf([['a'.repeat(400)], ['b']], { tokensPerMinute: 10 })).toEqual([0, 6000]);
  });

  it('stops waiting when the signal aborts, and does not stop the others', async () => {
    vi.useFakeTimers();
    try {
      const limiter = createRateLimiter({ requestsPerMinute: 1 }, Date.now);
      const start = Date.now();
      const controller = new AbortController();
      await expect(limiter.wait(['never'], AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
      await limiter.wait(['a'], signal);
      const aborted = limiter.wait(['b'], controller.signal);
      const waiting = limiter.wait(['c'], signal);
      await vi.advanceTimersByTimeAsync(1000);
      controller.abort(new Error('enough'));
      await expect(aborted).rejects.toThrow('enough');
      await vi.runAllTimersAsync();
      await waiting;
      // The aborted requests count for nothing.
      expect(Date.now() - start).toBe(60_000);
    } finally {
      vi.useRealTimers();
    }
  });
});
