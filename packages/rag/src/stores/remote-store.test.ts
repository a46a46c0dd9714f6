import { expect, it } from 'vitest';
import { IdListings, IndexCache } from './remote-store.js';
import { serviceCalls } from './store-call.js';

function setUp(): { use: typeof useCached; clock: { time: number }; answers: string[] } {
  const clock = { time: 0 };
  const answers = ['first', 'second'];
  const cache = new IndexCache({
    run: serviceCalls('Toy', async () => 'client'),
    requireName: () => {},
    find: async () => answers.shift(),
    list: async () => ['other'],
    now: () => clock.time,
    mayBeStale: (error) => (error as Error).message === 'gone',
  });
  return { clock, answers, use: (work) => cache.use({ indexName: 'things' }, work) };
}

declare function useCached(work: (index: string) => Promise<string>): Promise<string>;
const read = async (index: string): Promise<string> => index;

it('reads a description again after its maximum age', async () => {
  const { use, clock } = setUp();
  expect(await use(read)).toBe('first');
  clock.time = 59_999;
  expect(await use(read)).toBe('first');
  clock.time = 60_000;
  expect(await use(read)).toBe('second');
});

it('does not cache a description that was read before the index was recreated', async () => {
  let answer = (_index: string): void => {};
  const answers = [new Promise<string>((resolve) => (answer = resolve)), Promise.resolve('second')];
  const cache = new IndexCache({
    run: serviceCalls('Toy', async () => 'client'),
    requireName: () => {},
    find: () => answers.shift() ?? Promise.resolve(undefined),
    list: async () => [],
  });
  const reading = cache.use({ indexName: 'things' }, read);
  await cache.create({ indexName: 'things', dimension: 1 }, async () => {});
  answer('first');
  expect(await reading).toBe('first');
  expect(await cache.use({ indexName: 'things' }, read)).toBe('second');
});

it('passes the signal to every request, and rejects an invalid name with a promise', async () => {
  const { signal } = new AbortController();
  const signals: unknown[] = [];
  const cache = new IndexCache({
    run: serviceCalls('Toy', async () => 'client'),
    requireName: (name) => {
      if (name === '') throw new Error('no name');
    },
    find: async (_client, _name, passed) => void signals.push(passed),
    list: async (_client, passed) => {
      signals.push(passed);
      return [];
    },
  });
  const work = async (): Promise<void> => {};
  await expect(cache.use({ indexName: 'things', signal }, work)).rejects.toThrow('There is none yet.');
  expect(signals).toEqual([signal, signal]);
  const rejected = cache.use({ indexName: '' }, work);
  await expect(rejected).rejects.toThrow('no name');
});

it('repeats work that failed on an outdated description', async () => {
  const { use, answers } = setUp();
  const fail = async (index: string): Promise<string> => {
    if (index === 'first') throw new Error('gone');
    return index;
  };
  await expect(use(fail)).rejects.toThrow('gone');
  expect(answers).toEqual(['second']);
  expect(await use(fail)).toBe('second');
});

it('does not repeat work when the error has another reason or the description is current', async () => {
  const { use, answers } = setUp();
  await use(read);
  await expect(use(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(answers).toEqual(['second']);
  answers[0] = 'first';
  let attempts = 0;
  const fail = async (): Promise<string> => {
    attempts += 1;
    throw new Error('gone');
  };
  await expect(use(fail)).rejects.toThrow('gone');
  expect(attempts).toBe(1);
});

it('names the existing indexes when an index is gone', async () => {
  const { use, answers } = setUp();
  await use(read);
  answers.length = 0;
  await expect(use(() => Promise.reject(new Error('gone')))).rejects.toMatchObject({
    code: 'VECTOR_INDEX_NOT_FOUND',
    message: expect.stringContaining('Existing: other.'),
  });
});

it('keeps the eight listings that were made or renewed last', async () => {
  const listings = new IdListings();
  let listed: string[] = [];
  const read = async (key: string, after?: string): Promise<void> => {
    const ids = await listings.select(key, after, async () => {
      listed.push(key);
      return ['b', 'a'];
    });
    expect(ids).toEqual(after === undefined ? ['a', 'b'] : ['b']);
  };
  for (const key of ['0', '1', '2', '3', '4', '5', '6', '7', '1', '8', '9']) await read(key);
  listed = [];
  for (const key of ['1', '3', '8', '9']) await read(key, 'a');
  expect(listed).toEqual([]);
  await read('2', 'a');
  expect(listed).toEqual(['2']);
});
