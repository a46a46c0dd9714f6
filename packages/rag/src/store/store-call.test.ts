import { expect, it } from 'vitest';
import { indexCache, partsOf, serviceCalls } from './store-call.js';

it('shares one client between calls, and opens another one for a call with a signal', async () => {
  let opened = 0;
  const run = serviceCalls('Toy', async () => (opened += 1));
  const client = async (client: number): Promise<number> => client;
  expect(await run('reading', undefined, client)).toBe(1);
  expect(await run('reading', undefined, client)).toBe(1);
  expect(await run('reading', new AbortController().signal, client)).toBe(2);
});

it('opens the client again after a failure', async () => {
  let attempts = 0;
  const run = serviceCalls('Toy', async () => {
    attempts += 1;
    if (attempts === 1) throw new Error('no network');
    return 'client';
  });
  await expect(run('reading', undefined, async (client) => client)).rejects.toMatchObject({
    code: 'VECTOR_STORE_FAILED',
    message: 'Toy failed at reading: no network',
  });
  expect(await run('reading', undefined, async (client) => client)).toBe('client');
});

it('rejects with the abort reason', async () => {
  const run = serviceCalls('Toy', async () => 'client');
  const reason = new Error('enough');
  await expect(run('reading', AbortSignal.abort(reason), async () => 1)).rejects.toBe(reason);
});

function setUp(): { use: typeof useCached; clock: { time: number }; answers: string[] } {
  const clock = { time: 0 };
  const answers = ['first', 'second'];
  const cache = indexCache<string>({
    now: () => clock.time,
    mayBeStale: (error) => (error as Error).message === 'gone',
  });
  return { clock, answers, use: (work) => cache.use('things', async () => answers.shift() ?? 'none', work) };
}

declare function useCached(work: (index: string) => Promise<string>): Promise<string>;
const read = async (index: string): Promise<string> => index;

it('reads a description again after its maximum age', async () => {
  const { use, clock } = setUp();
  expect(await use(read)).toBe('first');
  clock.time = 60_000;
  expect(await use(read)).toBe('first');
  clock.time = 60_001;
  expect(await use(read)).toBe('second');
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

it('splits a list by count and by size', () => {
  const sizeOf = (text: string): number => text.length;
  expect(partsOf(['a', 'b', 'c'], 2)).toEqual([['a', 'b'], ['c']]);
  expect(partsOf(['aa', 'b', 'cccc', 'd'], 9, { sizeOf, maxSize: 3 })).toEqual([['aa', 'b'], ['cccc'], ['d']]);
});
