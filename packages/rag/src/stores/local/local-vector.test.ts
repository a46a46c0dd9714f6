import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newFolder } from '../../../../../scripts/test-folder.ts';
import { describeFilters, describeVectorStore } from '@quiver/devtools/stores';
import { describeLanguage, describeWords } from '../describe-words.fixture.js';
import { LocalVector } from './index.js';

describeVectorStore(
  'LocalVector in memory',
  async () => new LocalVector(),
  (store) => store.close(),
);
describeWords('LocalVector', async () => new LocalVector(), { close: (store) => store.close(), runs: 60 });
describeLanguage('LocalVector', async () => new LocalVector());

describeVectorStore(
  'LocalVector in a folder',
  async () => new LocalVector({ path: await newFolder() }),
  (store) => store.close(),
);

describeFilters(
  'LocalVector',
  async () => new LocalVector(),
  (store) => store.close(),
  { runs: 1000 },
);

it('refuses an empty path, with which its vectors would not be on the disk', () => {
  const message = "LocalVector: 'path' must be a non-empty string, not ''.";
  expect(() => new LocalVector({ path: '' })).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID', message }));
});

describe('exactness of LocalVector', () => {
  const vector = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 });

  it('agrees with an exhaustive comparison after any deletions', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(vector, { minLength: 1, maxLength: 60 }),
        fc.array(fc.nat(59), { maxLength: 30 }),
        vector,
        fc.integer({ min: 1, max: 12 }),
        async (vectors, deletions, queryVector, topK) => {
          const store = new LocalVector();
          await store.createIndex({ indexName: 'all', dimension: 3, metric: 'dotproduct' });
          const ids = vectors.map((_, n) => `v${n}`);
          await store.upsert({ indexName: 'all', ids, vectors });
          await store.deleteVectors({ indexName: 'all', ids: deletions.map((n) => `v${n}`) });
          const expected = vectors
            .map((values, n) => ({
              id: `v${n}`,
              product: dot(Float32Array.from(values), Float32Array.from(queryVector)),
            }))
            .filter(({ id }) => !deletions.includes(Number(id.slice(1))))
            .toSorted((a, b) => b.product - a.product || (a.id < b.id ? -1 : 1))
            .slice(0, topK);
          const matches = await store.query({ indexName: 'all', queryVector, topK });
          expect(matches.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('works across the borders of its segments', async () => {
    const store = new LocalVector();
    await store.createIndex({ indexName: 'many', dimension: 2 });
    const count = 9000;
    const ids = Array.from({ length: count }, (_, n) => `n${n}`);
    await store.upsert({
      indexName: 'many',
      ids,
      vectors: ids.map((_, n) => [Math.cos(n / count), Math.sin(n / count)]),
    });
    await store.deleteVectors({ indexName: 'many', ids: ids.slice(0, 5000) });
    const [best] = await store.query({ indexName: 'many', queryVector: [1, 0], topK: 1 });
    expect(best?.id).toBe('n5000');
    expect(await store.describeIndex({ indexName: 'many' })).toMatchObject({ count: 4000 });
  });
});

/** The same order of additions as the store: only then are sums equal to the last bit. */
function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, position) => sum + value * (b[position] as number), 0);
}
