import { describe, expect, test } from 'vitest';
import { ListCache } from './list-cache.js';

function cacheOf(answers: (string[] | Error)[], keepFor = 100) {
  let now = 0;
  let calls = 0;
  const cache = new ListCache({
    fetch: async () => {
      const answer = answers[calls];
      calls += 1;
      if (!answer || answer instanceof Error) throw answer ?? new Error('no more answers');
      return { items: answer, keepFor };
    },
    now: () => now,
  });
  return {
    get: async () => {
      const { items, error } = await cache.get();
      return { items, error };
    },
    invalidate: () => cache.invalidate(),
    calls: () => calls,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

describe('ListCache', () => {
  test('asks once for callers at the same time, and again when the list is too old', async () => {
    const { get, pass, calls } = cacheOf([['a'], ['b']]);
    expect(await Promise.all([get(), get()])).toEqual([{ items: ['a'] }, { items: ['a'] }]);
    pass(99);
    expect(await get()).toEqual({ items: ['a'] });
    expect(calls()).toBe(1);
    pass(1);
    expect(await get()).toEqual({ items: ['b'] });
  });

  test('ends its request when the last caller that waits has left', async () => {
    const requests: AbortSignal[] = [];
    const cache = new ListCache<string>({
      fetch: ({ signal }) =>
        new Promise((_resolve, reject) => {
          requests.push(signal!);
          signal!.addEventListener('abort', () => reject(signal!.reason as Error));
        }),
    });
    const [first, second] = [new AbortController(), new AbortController()];
    const lists = [cache.get({ signal: first.signal }), cache.get({ signal: second.signal })];
    first.abort();
    expect(requests.map(({ aborted }) => aborted)).toEqual([false]);
    second.abort(new Error('all left'));
    expect(requests.map(({ aborted }) => aborted)).toEqual([true]);
    for (const list of lists) await expect(list).rejects.toThrow('all left');
    void cache.get().catch(() => {});
    expect(requests).toHaveLength(2);
  });

  test('keeps the last good list and tells the error', async () => {
    const down = new Error('down');
    const { get, invalidate } = cacheOf([['a'], down, ['b']]);
    await get();
    invalidate();
    expect(await get()).toEqual({ items: ['a'], error: down });
    expect(await get()).toEqual({ items: ['b'] });
  });

  test('throws when there was never a good list', async () => {
    await expect(cacheOf([new Error('down')]).get()).rejects.toThrow('down');
  });

  test('a list that changed while it was fetched is fetched again', async () => {
    const { get, invalidate, calls } = cacheOf([['old'], ['new']], Number.POSITIVE_INFINITY);
    const first = get();
    invalidate();
    expect(await first).toEqual({ items: ['old'] });
    expect(await get()).toEqual({ items: ['new'] });
    expect(await get()).toEqual({ items: ['new'] });
    expect(calls()).toBe(2);
  });

  test('ignores a response that a later request has overtaken', async () => {
    const answers: ((items: string[]) => void)[] = [];
    const seen: unknown[] = [];
    const cache = new ListCache<string>({
      fetch: () =>
        new Promise((resolve) => answers.push((items) => resolve({ items, keepFor: Number.POSITIVE_INFINITY }))),
      onFetched: (items) => seen.push(items),
    });
    const earlier = cache.get();
    cache.invalidate();
    const later = cache.get();
    answers[1]?.(['new']);
    expect(await later).toMatchObject({ items: ['new'] });
    answers[0]?.(['old']);
    expect(await earlier).toMatchObject({ items: ['new'] });
    expect(await cache.get()).toMatchObject({ items: ['new'] });
    expect(seen).toEqual([['new']]);
  });
});
