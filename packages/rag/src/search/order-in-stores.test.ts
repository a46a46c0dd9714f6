// A fusion compares the similarities and relevances of a store, not the scores that it makes of them: one index has one order in every store.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newFolder } from '../../../../scripts/test-folder.ts';
import type { QueryMode, VectorMetric, VectorStore } from '../store/index.js';
import { LanceVectorStore } from '../stores/lance/index.js';
import { LocalVector } from '../stores/local/index.js';
import { PgVector } from '../stores/pg/index.js';
import { pgliteForTests } from '../stores/pg/open-stores.fixture.js';
import { randomFrom } from '../../../../scripts/test-random.ts';

const folder = await newFolder();
const database = pgliteForTests();
const stores: VectorStore[] = [
  new LocalVector(),
  new PgVector({ id: 'order', ...(await database.open()) }),
  new LanceVectorStore({ uri: join(folder, 'lance') }),
];
afterAll(() => database.close());

const dimension = 16;
const random = randomFrom('order');
/** Not of length 1, and similar to a query in any degree, also negative. */
const drawVector = (): number[] => Array.from({ length: dimension }, () => 4 * (random() - 0.5));
/**
 * Texts of one length with words of different rarity, once each, so that the relevances of the databases are in proportion: PostgreSQL counts
 * repetition in another way than BM25, and SQLite rarity.
 */
const words = ['harbor', 'lighthouse', 'ferry'];
const texts = Array.from({ length: 90 }, (_, at) => {
  const own = words.filter((__, place) => at % (place + 3) === 0);
  return [...own, ...Array.from({ length: 8 - own.length }, (__, place) => `filler${at}x${place}`)].join(' ');
});
const ids = texts.map((_, at) => `r${String(at).padStart(2, '0')}`);
const vectors = texts.map(drawVector);
const queries = Array.from({ length: 12 }, drawVector);

describe.each<VectorMetric>(['cosine', 'euclidean', 'dotproduct'])('the metric %s', (metric) => {
  const indexName = `order_${metric}`;
  beforeAll(async () => {
    for (const store of stores) {
      await store.createIndex({ indexName, dimension, metric });
      await store.upsert({ indexName, ids, vectors, documents: texts });
    }
  });

  it.each<[QueryMode, object]>([
    ['vector', {}],
    ['hybrid', {}],
    ['hybrid', { fusion: { vector: 3 } }],
    ['hybrid', { fusion: { keyword: 0 } }],
  ])('has one order in every store: %s, %j', async (mode, options) => {
    for (const queryVector of queries) {
      const query = { indexName, mode, queryVector, queryText: words.join(' '), topK: 10, ...options };
      const [local, ...others] = await Promise.all(stores.map((store) => store.query(query)));
      const order = local?.map(({ id }) => id);
      expect(order).toHaveLength(10);
      for (const [at, found] of others.entries())
        expect(
          found.map(({ id }) => id),
          stores[at + 1]?.databaseConfigKey,
        ).toEqual(order);
    }
  });
});
