import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CreateIndexParams, VectorMetric, VectorStore } from '../store/index.js';

const indexName = 'recreated';
const metrics: readonly VectorMetric[] = ['cosine', 'euclidean', 'dotproduct'];
const changes = metrics.flatMap((before) =>
  metrics.filter((after) => after !== before).map((after) => ({ before, after })),
);
const missing = { code: 'VECTOR_INDEX_NOT_FOUND' };

/**
 * Suite for stores that cache what they know of an index.
 *
 * @param openTwo - two stores of one database, as in two processes: what one of them does, the other is not told
 * @param options.noticesMetrics - whether a query notices another metric; otherwise a description may be a minute old. Default `true`
 * @param options.hasLanguages - whether the store keeps the terms of Quiver. Default `true`
 */
export function describeRecreatedIndex(
  name: string,
  openTwo: () => Promise<[VectorStore, VectorStore]>,
  {
    close = async () => {},
    noticesMetrics = true,
    hasLanguages = true,
  }: { close?: (store: never) => Promise<void>; noticesMetrics?: boolean; hasLanguages?: boolean } = {},
): void {
  describe(`${name}, whose index another process recreates`, () => {
    let mine: VectorStore;
    let other: VectorStore;
    beforeEach(async () => void ([mine, other] = await openTwo()));
    afterEach(async () => {
      for (const store of [mine, other]) await close(store as never);
    });

    const create = async (params: Partial<CreateIndexParams> & { language?: string } = {}): Promise<void> => {
      if ((await other.listIndexes()).includes(indexName)) await other.deleteIndex({ indexName });
      await other.createIndex({ indexName, dimension: 2, ...params });
    };
    const find = async (store: VectorStore, queryText: string): Promise<string[]> =>
      (await store.query({ indexName, mode: 'keyword', queryText })).map(({ id }) => id);

    it.runIf(noticesMetrics).each(changes)('orders results after $before became $after', async ({ before, after }) => {
      await create({ metric: before });
      await mine.query({ indexName, queryVector: [1, 0] });
      await create({ metric: after });
      const vectors = Array.from({ length: 20 }, (_, n) => [n + 1, (n * 7) % 5]);
      await other.upsert({ indexName, ids: vectors.map((_vector, n) => `${n}`), vectors });
      const query = { indexName, queryVector: [0.1, 0.01], topK: 3 };
      expect(await mine.query(query)).toEqual(await other.query(query));
      expect(await mine.describeIndex({ indexName })).toMatchObject({ metric: after, count: 20 });
    });

    it('takes vectors of its dimension and stores them for its metric', async () => {
      await create();
      await mine.query({ indexName, queryVector: [1, 2] });
      await create({ dimension: 1, metric: 'euclidean' });
      await mine.upsert({ indexName, ids: ['far', 'near'], vectors: [[2], [5]] });
      expect(await other.query({ indexName, queryVector: [4] })).toMatchObject([{ id: 'near' }, { id: 'far' }]);
      await create({ dimension: 3 });
      expect(await mine.query({ indexName, queryVector: [1, 2, 3] })).toEqual([]);
      const refused = { code: 'VECTOR_DIMENSION_MISMATCH' };
      await expect(mine.query({ indexName, queryVector: [1] })).rejects.toMatchObject(refused);
      await expect(mine.upsert({ indexName, vectors: [[1]] })).rejects.toMatchObject(refused);
      await create({ metric: 'dotproduct' });
      expect(await mine.describeIndex({ indexName })).toMatchObject({ dimension: 2, metric: 'dotproduct', count: 0 });
    });

    it('is missing in every call once it is deleted', async () => {
      const calls: ((store: VectorStore) => Promise<unknown> | undefined)[] = [
        (store) => (store.version ? store.version({ indexName }) : store.describeIndex({ indexName })),
        (store) => (hasLanguages ? find(store, 'the') : store.query({ indexName, queryVector: [1, 2] })),
        (store) => store.query({ indexName, queryVector: [1, 2] }),
        (store) => store.upsert({ indexName, vectors: [[1, 2]] }),
        (store) => store.get({ indexName, ids: ['a'] }),
        (store) => store.listVectors({ indexName }),
        (store) => store.describeIndex({ indexName }),
        (store) => store.deleteVector({ indexName, id: 'a' }),
        (store) => store.truncateIndex({ indexName }),
      ];
      for (const call of calls) {
        await create();
        await mine.query({ indexName, queryVector: [1, 2] });
        await other.deleteIndex({ indexName });
        await expect(call(mine)).rejects.toMatchObject(missing);
      }
    });

    it.runIf(hasLanguages)('has the terms of its language', async () => {
      const fill = (store: VectorStore, id: string, text: string): Promise<unknown> =>
        store.upsert({ indexName, ids: [id], vectors: [[1, 2]], documents: [text] });
      for (const [language, found] of [
        ['de', ['a']],
        ['en', []],
        ['de', ['a']],
      ] as const) {
        await create({ language });
        await fill(other, 'a', 'Die Häuser');
        expect(await find(mine, 'Haus')).toEqual(found);
      }
      await create({ language: 'en' });
      await find(mine, 'house');
      await create({ language: 'de' });
      await fill(mine, 'b', 'Boote');
      await mine.updateVector({ indexName, id: 'b', update: { document: 'Verträge' } });
      expect(await find(other, 'Vertrag')).toEqual(['b']);
    });
  });
}
