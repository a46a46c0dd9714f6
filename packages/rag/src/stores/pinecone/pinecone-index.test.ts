import { QuiverError } from '@quiver/core';
import { expect, it } from 'vitest';
import { knownShapes, type LocatedShape } from './pinecone-index.js';

const first: LocatedShape = { host: 'a', dimension: 1, metric: 'cosine' };
const second: LocatedShape = { ...first, metric: 'euclidean' };

function setUp(): { use: KnownUse; now: { time: number }; answers: LocatedShape[] } {
  const now = { time: 0 };
  const answers = [first, second];
  const shapes = knownShapes(() => now.time);
  const find = async (): Promise<LocatedShape> => answers.shift() as LocatedShape;
  return { now, answers, use: (work = async (shape) => shape) => shapes.use('things', find, work) };
}

type KnownUse = (work?: (shape: LocatedShape) => Promise<LocatedShape>) => Promise<LocatedShape>;

it('asks again when what is known is older than a minute', async () => {
  const { use, now } = setUp();
  expect(await use()).toBe(first);
  now.time = 60_000;
  expect(await use()).toBe(first);
  now.time = 60_001;
  expect(await use()).toBe(second);
});

it('repeats work that failed on what was known, when the service says something else now', async () => {
  const { use, answers } = setUp();
  const fail = async (shape: LocatedShape): Promise<LocatedShape> => {
    if (shape === first) throw new Error('gone');
    return shape;
  };
  await expect(use(fail)).rejects.toThrow('gone');
  expect(answers).toEqual([second]);
  expect(await use(fail)).toBe(second);
});

it('throws at once what no other index would change', async () => {
  const { use, answers } = setUp();
  await use();
  const refused = new QuiverError('VECTOR_ARGUMENT_INVALID', 'no');
  await expect(use(() => Promise.reject(refused))).rejects.toBe(refused);
  expect(answers).toEqual([second]);
});
