import { AdminClient, ChromaClient } from 'chromadb';
import { describe, expect, it } from 'vitest';
import { describeFilters } from '../../testing/describe-filters.js';
import { describeVectorStore } from '../../testing/describe-vector-store.js';
import { ChromaVector } from './index.js';

const address = process.env['QUIVER_CHROMA_URL'] ?? '';
let databases = 0;

/** Each test has a database of its own. */
async function open(url: string): Promise<{ store: ChromaVector; client: ChromaClient }> {
  const { hostname: host, port } = new URL(url);
  const connection = { host, port: Number(port), ssl: false };
  const database = `test_${process.pid}_${Date.now()}_${(databases += 1)}`;
  await new AdminClient(connection).createDatabase({ name: database, tenant: 'default_tenant' });
  const client = new ChromaClient({ ...connection, database, tenant: 'default_tenant' });
  return { client, store: new ChromaVector({ ...connection, database, tenant: 'default_tenant' }) };
}

describe.skipIf(address === '')('Chroma', () => {
  const openStore = async (): Promise<ChromaVector> => (await open(address)).store;
  describeVectorStore('ChromaVector', openStore, async () => {});
  describeFilters('ChromaVector', openStore, async () => {});

  describe('ChromaVector', () => {
    it('filters by documents, and by where beside the filter', async () => {
      const { store } = await open(address);
      const indexName = 'texts';
      await store.createIndex({ indexName, dimension: 2 });
      await store.upsert({
        indexName,
        ids: ['a', 'b', 'c'],
        vectors: [
          [1, 0],
          [1, 0.1],
          [1, 0.2],
        ],
        metadata: [
          { kind: 'x', n: 1 },
          { kind: 'y', n: 1 },
          { kind: 'x', n: 2 },
        ],
        documents: ['an API', 'the API', 'a page'],
      });
      const query = { indexName, queryVector: [1, 0] };
      const idsOf = async (params: object): Promise<string[]> =>
        (await store.query({ ...query, ...params })).map(({ id }) => id);
      expect(await idsOf({ whereDocument: { $contains: 'API' } })).toEqual(['a', 'b']);
      expect(await idsOf({ where: { kind: 'x' }, filter: { n: { $gte: 2 } } })).toEqual(['c']);
      expect(await idsOf({ where: { kind: 'x' }, documentFilter: { $contains: 'API' } })).toEqual(['a']);
    });

    it('stores more records than the server takes in one batch', async () => {
      const { store, client } = await open(address);
      const count = (await client.getMaxBatchSize()) + 10;
      await store.createIndex({ indexName: 'many', dimension: 1 });
      const ids = Array.from({ length: count }, (_, n) => `n${n}`);
      await store.upsert({ indexName: 'many', ids, vectors: ids.map((_, n) => [n + 1]) });
      expect(await store.describeIndex({ indexName: 'many' })).toMatchObject({ count });
      await store.truncateIndex({ indexName: 'many' });
      expect(await store.describeIndex({ indexName: 'many' })).toMatchObject({ count: 0 });
    }, 60_000);

    it('leaves collections of others alone', async () => {
      const { store, client } = await open(address);
      await client.createCollection({ name: 'foreign', embeddingFunction: null });
      expect(await store.listIndexes()).toEqual([]);
      await expect(store.deleteIndex({ indexName: 'foreign' })).rejects.toMatchObject({
        code: 'VECTOR_INDEX_NOT_FOUND',
      });
      await expect(store.createIndex({ indexName: 'foreign', dimension: 1 })).rejects.toMatchObject({
        code: 'VECTOR_STORE_FAILED',
      });
    });
  });
});

it.skipIf(address === '')('QUIVER_CHROMA_URL names a Chroma server to test on', async () => {
  expect(await (await open(address)).client.heartbeat()).toBeGreaterThan(0);
});

it('ChromaVector says that a server is down', async () => {
  const store = new ChromaVector({ host: '127.0.0.1', port: 1 });
  await expect(store.query({ indexName: 'any', queryVector: [1] })).rejects.toMatchObject({
    code: 'VECTOR_STORE_FAILED',
    cause: expect.anything(),
  });
  await expect(store.createIndex({ indexName: 'ab', dimension: 1 })).rejects.toMatchObject({
    code: 'VECTOR_ARGUMENT_INVALID',
  });
});
