import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { VectorMetric, VectorStore } from '@quiver/rag';
import { describeDerivedData } from './describe-derived-data.js';
import { describeScopes } from './describe-scopes.js';
import { describeSearchModes, expectError, type StoreSuite } from './describe-search-modes.js';

/**
 * Suite of tests that every vector store must pass.
 *
 * @param open - a store that holds nothing
 * @param close - called after each test with what `open` returned
 *
 * @example
 * describeVectorStore('MyStore', async () => new LocalVector(), (store) => store.close());
 */
export function describeVectorStore<Store extends VectorStore>(
  name: string,
  open: () => Promise<Store>,
  close: (store: Store) => Promise<void>,
): void {
  // The parts close what they have opened.
  const suite: StoreSuite = { name, open, close: close as StoreSuite['close'] };
  for (const describePart of [describeSearchModes, describeDerivedData, describeScopes]) describePart(suite);
  describe(`${name} as a vector store`, () => {
    let store: Store;
    const indexName = 'animals';
    const vector = [1, 2, 3];
    const pet = { legs: 4, kind: 'pet' };
    const cat = { id: 'cat', metadata: pet, document: 'The cat sleeps.' };
    const dog = { id: 'dog', metadata: pet, document: 'The dog barks.' };

    beforeEach(async () => {
      store = await open();
      // A database that starts inside the process takes its time on a busy machine.
    }, 60_000);
    afterEach(() => close(store));

    async function seed(metric: VectorMetric = 'cosine'): Promise<void> {
      await store.createIndex({ indexName, dimension: 3, metric });
      const vectors = [
        [1, 0, 0],
        [0.8, 0.6, 0],
        [0, 0, 2],
      ];
      const metadata = [pet, pet, { legs: 0, kind: 'wild' }];
      const documents = [cat.document, dog.document, undefined];
      await store.upsert({ indexName, ids: ['cat', 'dog', 'whale'], vectors, metadata, documents });
    }

    /** Calls every method, with parameters in addition to its own. */
    function callAll(more: object): Promise<unknown>[] {
      const target = { indexName, ...more };
      return [
        store.createIndex({ ...target, indexName: 'other', dimension: 3 }),
        store.upsert({ ...target, vectors: [vector] }),
        store.query({ ...target, queryVector: vector }),
        store.get({ ...target, ids: ['cat'] }),
        store.updateVector({ ...target, id: 'cat', update: { metadata: {} } }),
        store.deleteVector({ ...target, id: 'cat' }),
        store.deleteVectors({ ...target, ids: ['cat'] }),
        store.listVectors(target),
        store.listIndexes(more),
        store.describeIndex(target),
        store.truncateIndex(target),
        store.deleteIndex(target),
      ];
    }

    it('rejects unknown parameters in every method, because a misspelled filter would select all records', async () => {
      await seed();
      const more = { filters: { tenant: 'a' } };
      const calls = [...callAll(more), ...(store.version ? [store.version({ indexName, ...more })] : [])];
      await Promise.all(calls.map((call) => expectError(call, 'OPTIONS_INVALID')));
      expect((await store.get({ indexName, ids: ['cat', 'dog', 'whale'] })).length).toBe(3);
    });

    // I10
    it('ends every call whose signal has fired, and changes nothing', async () => {
      await seed();
      const before = await store.listVectors({ indexName });
      const calls = callAll({ signal: AbortSignal.abort(new Error('enough')) });
      await Promise.all(calls.map((call, place) => expect(call, `call ${place}`).rejects.toThrow('enough')));
      expect(await store.listIndexes()).toEqual([indexName]);
      expect(await store.listVectors({ indexName })).toEqual(before);
    });

    it('finds the nearest vectors, best first, with score, metadata and document, and with vectors when asked', async () => {
      await seed();
      const query = { indexName, queryVector: [2, 0, 0], topK: 2 };
      expect(await store.query(query)).toEqual([
        { ...cat, score: 1 },
        { ...dog, score: expect.closeTo(0.8, 6) },
      ]);
      const [withVector] = await store.query({ ...query, queryVector: [0, 0, 1], includeVector: true });
      expect(withVector).toMatchObject({ id: 'whale', vector: [0, 0, 2] });
    });

    it('gets records in the order of the ids, as often as they are named', async () => {
      await seed();
      expect(await store.get({ indexName, ids: ['dog', 'cat', 'none', 'dog'] })).toEqual([dog, cat, dog]);
    });

    it('gives ten results when topK is left out', async () => {
      await store.createIndex({ indexName, dimension: 1 });
      await store.upsert({ indexName, vectors: Array.from({ length: 25 }, (_, n) => [n + 1]) });
      expect(await store.query({ indexName, queryVector: [1] })).toHaveLength(10);
    });

    it('orders equal scores by id', async () => {
      await store.createIndex({ indexName, dimension: 2 });
      const ids = ['b', 'a', 'd', 'c', 'A', '10', '9'];
      await store.upsert({ indexName, ids, vectors: ids.map(() => [1, 1]) });
      const matches = await store.query({ indexName, queryVector: [1, 1], topK: 4 });
      expect(matches.map(({ id }) => id)).toEqual(['10', '9', 'A', 'a']);
    });

    it.each([
      ['cosine', [1, 0.8, 0]],
      ['euclidean', [1, 1 / (1 + Math.sqrt(0.4)), 1 / (1 + Math.sqrt(5))]],
      ['dotproduct', [1 / (1 + Math.exp(-1)), 1 / (1 + Math.exp(-0.8)), 0.5]],
    ] as const)('scores %s in [0, 1]', async (metric, scores) => {
      await seed(metric);
      const matches = await store.query({ indexName, queryVector: [1, 0, 0] });
      expect(matches.map(({ id }) => id)).toEqual(['cat', 'dog', 'whale']);
      matches.forEach(({ score }, position) => expect(score).toBeCloseTo(scores[position] as number, 6));
    });

    it('keeps the order of vectors that point away', async () => {
      await store.createIndex({ indexName, dimension: 2 });
      for (const [id, vector] of Object.entries({ away: [-1, 1], 'far away': [-1, 0] }))
        await store.upsert({ indexName, ids: [id], vectors: [vector] });
      const matches = await store.query({ indexName, queryVector: [1, 0] });
      expect(matches.map(({ id, score }) => [id, score])).toEqual([
        ['away', 0],
        ['far away', 0],
      ]);
    });

    it('honors filters, and refuses those that it does not understand', async () => {
      await seed();
      const query = { indexName, queryVector: [0, 0, 1] };
      const pets = await store.query({ ...query, filter: { legs: { $gt: 2 } } });
      expect(pets.map(({ id }) => id)).toEqual(['cat', 'dog']);
      await expectError(store.query({ ...query, filter: { legs: { $almost: 4 } } }), 'FILTER_INVALID');
    });

    it('replaces a record of the same id', async () => {
      await seed();
      await store.upsert({ indexName, ids: ['cat'], vectors: [[0, 1, 0]], metadata: [{ kind: 'lion' }] });
      expect(await store.get({ indexName, ids: ['cat'], includeVector: true })).toEqual([
        { id: 'cat', vector: [0, 1, 0], metadata: { kind: 'lion' } },
      ]);
      expect(await store.describeIndex({ indexName })).toMatchObject({ dimension: 3, count: 3, metric: 'cosine' });
    });

    it('lets the last of equal ids in one call win', async () => {
      await store.createIndex({ indexName, dimension: 1 });
      expect(await store.upsert({ indexName, ids: ['x', 'x'], vectors: [[1], [2]] })).toEqual(['x', 'x']);
      expect(await store.get({ indexName, ids: ['x'], includeVector: true })).toMatchObject([{ vector: [2] }]);
    });

    it('updates one part and keeps the others, by id or filter', async () => {
      await seed();
      await store.updateVector({ indexName, id: 'dog', update: { metadata: { kind: 'wolf' } } });
      await store.updateVector({ indexName, filter: { kind: 'wild' }, update: { vector: [1, 1, 1] } });
      expect(await store.get({ indexName, ids: ['dog', 'whale'], includeVector: true })).toMatchObject([
        { metadata: { kind: 'wolf' }, document: 'The dog barks.' },
        {
          metadata: { kind: 'wild', legs: 0 },
          // Some stores keep vectors at length 1 and their length separately.
          vector: [1, 1, 1].map((value) => expect.closeTo(value, 5)),
        },
      ]);
      const unknown = store.updateVector({ indexName, id: 'gnu', update: { vector: [1, 1, 1] } });
      await expectError(unknown, 'OPTIONS_INVALID', "'gnu'");
    });

    it('deletes by id, by ids and by filter', async () => {
      await seed();
      await store.deleteVector({ indexName, id: 'cat' });
      await store.deleteVectors({ indexName, ids: ['dog', 'unknown'] });
      expect((await store.listVectors({ indexName })).records.map(({ id }) => id)).toEqual(['whale']);
      await store.deleteVectors({ indexName, filter: { kind: 'wild' } });
      expect(await store.describeIndex({ indexName })).toMatchObject({ count: 0 });
    });

    it('refuses to change everything by mistake, or what is not one selection', async () => {
      await seed();
      // As callers in JavaScript can write it.
      const deleteVectors = (params: object): Promise<void> => store.deleteVectors({ indexName, ...params } as never);
      const updateVector = (params: object): Promise<void> =>
        store.updateVector({ indexName, update: { metadata: {} }, ...params } as never);
      const filter = { never: 'met' };
      const calls: Promise<unknown>[] = [
        deleteVectors({}),
        deleteVectors({ ids: null }),
        ...[
          {},
          '{}',
          { $and: [] },
          { $and: [{}, { $or: [{}, { legs: 4 }] }] },
          { $nor: [] },
          { legs: { $nin: [] } },
        ].map((filter) => deleteVectors({ filter })),
        updateVector({ filter: {} }),
        deleteVectors({ ids: ['cat', undefined] }),
        deleteVectors({ ids: Array(1) }),
        store.get({ indexName, ids: Object.create(null) as never }),
        // Not its characters.
        deleteVectors({ ids: 'cat' }),
        store.get({ indexName, ids: 'cat' as never }),
        updateVector({ id: 'cat', update: undefined }),
        updateVector({ id: 'cat', update: { document: 5 } }),
        store.upsert({ indexName, ids: ['cat'] } as never),
        store.deleteVector({ indexName, id: undefined as unknown as string }),
        // One of both would have no effect.
        deleteVectors({ ids: ['cat'], filter }),
        updateVector({ id: 'cat', filter }),
      ];
      await Promise.all(calls.map((call) => expectError(call, 'OPTIONS_INVALID')));
      expect(await store.describeIndex({ indexName })).toMatchObject({ count: 3 });
    });

    it('scans all records in pages, ordered by id', async () => {
      await store.createIndex({ indexName, dimension: 1 });
      const ids = Array.from({ length: 7 }, (_, n) => `id-${n}`);
      await store.upsert({ indexName, ids: ids.toReversed(), vectors: ids.map(() => [1]) });
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.listVectors({ indexName, limit: 3, ...(cursor !== undefined && { cursor }) });
        expect(page.records.length).toBeLessThanOrEqual(3);
        seen.push(...page.records.map(({ id }) => id));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(ids);
    });

    it('keeps an index that exists with the same dimension, and refuses another one', async () => {
      await seed();
      await store.createIndex({ indexName, dimension: 3 });
      expect(await store.describeIndex({ indexName })).toMatchObject({ count: 3 });
      const other = store.createIndex({ indexName, dimension: 4 });
      await expectError(other, 'VECTOR_VALIDATE_INDEX_DIMENSION_MISMATCH', 'dimension 3 and metric cosine, not 4');
    });

    it('truncates, lists and deletes indexes', async () => {
      await seed();
      await store.createIndex({ indexName: 'plants', dimension: 2 });
      expect(await store.listIndexes()).toEqual(['animals', 'plants']);
      await store.truncateIndex({ indexName });
      expect(await store.describeIndex({ indexName })).toMatchObject({ count: 0, dimension: 3 });
      await store.deleteIndex({ indexName });
      expect(await store.listIndexes()).toEqual(['plants']);
    });

    // I05
    it('names both numbers when a dimension does not fit, and stores nothing', async () => {
      await seed();
      const vectors = [[1, 2, 3], Float32Array.of(1, 2)];
      const upsert = store.upsert({ indexName, ids: ['ok', 'short'], vectors });
      await expectError(upsert, 'VECTOR_DIMENSION_MISMATCH', "'animals' has 2 numbers, but the index has dimension 3");
      await expectError(store.query({ indexName, queryVector: [1] }), 'VECTOR_DIMENSION_MISMATCH');
      expect(await store.get({ indexName, ids: ['ok'] })).toEqual([]);
    });

    it.each([
      ['a missing index', { indexName: 'nowhere' }, 'VECTOR_INDEX_NOT_FOUND'],
      ['an index name that is a path', { indexName: '../secrets' }, 'OPTIONS_INVALID'],
      // F14
      ...[0, -1, 1.5, Number.NaN, 1e9].map((topK) => [`topK ${topK}`, { topK }, 'OPTIONS_INVALID'] as const),
      ['a vector with NaN', { queryVector: [Number.NaN, 0, 0] }, 'OPTIONS_INVALID'],
    ] as const)('refuses %s', async (_what, params, code) => {
      await seed();
      await expectError(store.query({ indexName, queryVector: [1, 0, 0], ...params }), code);
    });

    it.each([
      ['fewer ids than vectors', { ids: ['a'] }],
      ['an empty id', { ids: ['a', ''] }],
      // I06
      ['infinite numbers', { vectors: [vector, [1, 2, Number.POSITIVE_INFINITY]] }],
      ['zeros, which have no cosine similarity', { vectors: [vector, [0, -0, 0]] }],
      ['a number that JSON has lost', { vectors: [vector, [1, 2, null] as unknown as number[]] }],
      ['a vector that is none', { vectors: [vector, undefined as unknown as number[]] }],
      ['metadata that is not JSON', { metadata: [{}, { big: 1n }] }],
      ['a document that is no text', { documents: ['a', 5 as unknown as string] }],
    ])('refuses %s, and stores nothing', async (_what, params) => {
      await seed();
      const upsert = store.upsert({ indexName, ids: ['a', 'b'], vectors: [vector, vector], ...params });
      await expectError(upsert, 'OPTIONS_INVALID');
      expect(await store.describeIndex({ indexName })).toMatchObject({ count: 3 });
    });

    it('is not changed by what callers do to their objects', async () => {
      await seed();
      const metadata = { tags: ['a'] };
      await store.upsert({ indexName, ids: ['owl'], vectors: [[1, 1, 0]], metadata: [metadata] });
      metadata.tags.push('b');
      const [found] = await store.get({ indexName, ids: ['owl'] });
      found?.metadata['tags'].push('c');
      expect(await store.get({ indexName, ids: ['owl'] })).toMatchObject([{ metadata: { tags: ['a'] } }]);
    });

    it('takes concurrent changes and loses none', async () => {
      await store.createIndex({ indexName, dimension: 1 });
      const numbers = Array.from({ length: 20 }, (_, n) => n + 1);
      await Promise.all(numbers.map((n) => store.upsert({ indexName, ids: [`a${n}`, 'shared'], vectors: [[n], [n]] })));
      expect(await store.describeIndex({ indexName })).toMatchObject({ count: 21 });
    });
  });
}
