import { describe, expect, it, vi } from 'vitest';
import { createRateLimiter, type SharedBuckets } from './rate-limit.js';

const { signal } = new AbortController();

/** Runs calls under fake timers, and returns the time at which each passed, in milliseconds. */
async function timesOf(
  calls: readonly (readonly string[])[],
  limits: Parameters<typeof createRateLimiter>[0],
): Promise<number[]> {
  vi.useFakeTimers();
  try {
    const limiter = createRateLimiter(limits, 'model', Date.now);
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
      const limiter = createRateLimiter({ requestsPerMinute: 1 }, 'model', Date.now);
      const start = Date.now();
      const controller = new AbortController();
      await limiter.wait(['a'], signal);
      const aborted = limiter.wait(['b'], controller.signal);
      const waiting = limiter.wait(['c'], signal);
      await vi.advanceTimersByTimeAsync(1000);
      controller.abort(new Error('enough'));
      await expect(aborted).rejects.toThrow('enough');
      await vi.runAllTimersAsync();
      await waiting;
      // The aborted request counts for nothing.
      expect(Date.now() - start).toBe(60_000);
    } finally {
      vi.useRealTimers();
    }
  });

  it('shares a limit with other processes through their store', async () => {
    const taken: unknown[][] = [];
    let free = 3;
    const shared: SharedBuckets = {
      async take(...request) {
        taken.push(request);
        if (free > 0) return (free -= 1) * 0;
        free = 1;
        return 20_000;
      },
    };
    const limits = { requestsPerMinute: 3, shared };
    expect(await timesOf([['a'], ['b'], ['c'], ['d']], limits)).toEqual([0, 0, 0, 20_000]);
    expect(taken[0]).toEqual(['embedding:model:requests', 1, { capacity: 3, perSecond: 0.05 }]);
    free = 1;
    await createRateLimiter({ tokensPerMinute: 60, shared, sharedKey: 'account' }, 'model').wait(
      ['a'.repeat(8)],
      signal,
    );
    expect(taken.at(-1)).toEqual(['embedding:account:tokens', 2, { capacity: 60, perSecond: 1 }]);
  });

  it('ends with the error of a store that is down', async () => {
    const shared = { take: () => Promise.reject(new Error('connection refused')) };
    const limiter = createRateLimiter({ requestsPerMinute: 3, shared });
    await expect(limiter.wait(['a'], signal)).rejects.toThrow('connection refused');
  });
});
