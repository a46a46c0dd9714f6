import { expect, it } from 'vitest';
import type { Embedder } from './embedder.js';
import { truncateEmbeddings } from './truncate-embeddings.js';

const whole: Embedder = { id: 'p/m', embed: async (texts) => texts.map(() => Float32Array.of(3, 4, 12)) };

it('keeps the first numbers, scaled to length 1', async () => {
  const embedder = truncateEmbeddings(whole, 2);
  expect(embedder).toMatchObject({ id: 'p/m@2', dimension: 2 });
  expect(await embedder.embed(['a'])).toEqual([Float32Array.of(0.6, 0.8)]);
});

it('keeps a vector of zeros', async () => {
  const zeros: Embedder = { ...whole, embed: async () => [new Float32Array(3)] };
  expect(await truncateEmbeddings(zeros, 2).embed(['a'])).toEqual([new Float32Array(2)]);
});

it('rejects vectors that are shorter, and dimensions that are not a whole number above 0', async () => {
  await expect(truncateEmbeddings(whole, 4).embed(['a'])).rejects.toMatchObject({ code: 'EMBEDDING_INVALID' });
  for (const dimension of [0, 1.5, Number.NaN]) expect(() => truncateEmbeddings(whole, dimension)).toThrow('dimension');
});
