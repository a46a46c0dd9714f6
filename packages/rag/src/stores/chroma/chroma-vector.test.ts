import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AdminClient, ChromaClient } from 'chromadb';
import { describe, expect, it } from 'vitest';
import { expectError } from '../../../../../scripts/test-error.ts';
import { readTestVariable } from '../../../../../scripts/test-variable.ts';
import { checkFilter } from '../../filter/index.js';
import { queryChunks } from '../../search/find-passages.js';
import { describeFilters, describeVectorStore } from '@quiver/devtools/stores';
import { describeWords } from '../describe-words.fixture.js';
import { ChromaVector } from './index.js';

const address = readTestVariable('QUIVER_CHROMA_URL') ?? '';
let databases = 0;

/** Each test has its own database. */
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
  describeWords('ChromaVector', openStore, { close: async () => {} });
  describeFilters('ChromaVector', openStore, async () => {});

  describe('ChromaVector', () => {
    it('finds the words of a text that has more words than Chroma takes conditions', async () => {
      const { store } = await open(address);
      await store.createIndex({ indexName: 'docs', dimension: 2 });
      const documents = ['the word w5x', 'another one'];
      await store.upsert({ indexName: 'docs', ids: ['a', 'b'], vectors: documents.map(() => [1, 0]), documents });
      const queryText = Array.from({ length: 1100 }, (_, n) => `w${n}x`).join(' ');
      const query = { indexName: 'docs', mode: 'keyword', queryText } as const;
      for (const params of [query, { ...query, whereDocument: { $contains: 'word' } }])
        expect((await store.query(params)).map(({ id }) => id)).toEqual(['a']);
      expect(await store.query({ ...query, whereDocument: { $contains: 'another' } })).toEqual([]);
    });

    it('filters by documents, and by where in addition to the filter', async () => {
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
      expect(await idsOf({ where: { kind: 'x' }, filter: checkFilter({ n: { $gte: 2 } }) })).toEqual(['c']);
      expect(await idsOf({ where: { kind: 'x' }, documentFilter: { $contains: 'API' } })).toEqual(['a']);
      const words = { mode: 'keyword', queryText: 'API', whereDocument: { $contains: 'the' } };
      expect(await idsOf(words)).toEqual(['b']);
    });

    it('applies whereDocument to pages and records as to queries', async () => {
      const { store } = await open(address);
      expect(store.databaseConfigKey).toBe('chroma');
      const indexName = 'listed';
      await store.createIndex({ indexName, dimension: 1 });
      const ids = ['a', 'b', 'c', 'd'];
      const documents = ['an API', 'a page', 'the API', 'another API'];
      const metadata = [{ n: 1 }, { n: 1 }, { n: 1 }, { n: 2 }];
      await store.upsert({ indexName, ids, vectors: ids.map(() => [1]), documents, metadata });
      const idsOf = (records: readonly { id: string }[]): string[] => records.map(({ id }) => id);
      const hasApi = { $contains: 'API' };
      for (const condition of [{ whereDocument: hasApi }, { documentFilter: hasApi }]) {
        expect(idsOf(await store.get({ indexName, ids, ...condition }))).toEqual(['a', 'c', 'd']);
        expect(idsOf((await store.listVectors({ indexName, ...condition })).records)).toEqual(['a', 'c', 'd']);
      }
      const read = { indexName, filter: { n: 1 }, limit: 1, whereDocument: hasApi };
      const first = await store.listVectors(read);
      expect([idsOf(first.records), first.nextCursor]).toEqual([['a'], 'a']);
      // The ids of another condition are listed in between.
      expect(idsOf((await store.listVectors({ ...read, whereDocument: { $contains: 'page' } })).records)).toEqual([
        'b',
      ]);
      const second = await store.listVectors({ ...read, cursor: first.nextCursor });
      expect([idsOf(second.records), second.nextCursor]).toEqual([['c'], undefined]);
      const both = { whereDocument: hasApi, documentFilter: { $contains: 'page' } };
      const wrong = /'whereDocument' and 'documentFilter' are two names/;
      await expect(store.query({ indexName, queryVector: [1], ...both })).rejects.toThrow(wrong);
      await expect(store.listVectors({ indexName, ...both })).rejects.toThrow(wrong);
      await expect(store.get({ indexName, ids, ...both })).rejects.toThrow(wrong);
    });

    it('returns no chunk outside of where for a record that names it', async () => {
      const { store } = await open(address);
      const indexName = 'tenants';
      await store.createIndex({ indexName, dimension: 2 });
      await store.upsert({
        indexName,
        ids: ['foreign', 'forged'],
        vectors: [
          [0, 1],
          [1, 0],
        ],
        metadata: [{ tenant: 'b' }, { tenant: 'a', vectorOf: 'foreign' }],
        documents: ['secret', 'question'],
      });
      expect(await queryChunks(store, { indexName, queryVector: [1, 0], where: { tenant: 'a' } })).toEqual([]);
      expect(await store.get({ indexName, ids: ['foreign'], where: { tenant: 'b' } })).toHaveLength(1);
    });

    // The database of Chroma takes fewer than 1,000 conditions.
    it('evaluates a list of two thousand numbers, which the server rejects', async () => {
      const { store } = await open(address);
      const indexName = 'numbers';
      await store.createIndex({ indexName, dimension: 1 });
      const ids = ['a', 'b', 'c'];
      await store.upsert({ indexName, ids, vectors: [[1], [2], [3]], metadata: [{ n: 1 }, { n: 1999 }, { n: 2001 }] });
      const filter = { n: { $in: Array.from({ length: 2000 }, (_, n) => n) } };
      const found = await store.query({ indexName, queryVector: [1], filter });
      expect(found.map(({ id }) => id)).toEqual(['a', 'b']);
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
    });

    it('refuses a question that too many texts share a word with', async () => {
      const { store } = await open(address);
      const indexName = 'common';
      await store.createIndex({ indexName, dimension: 1 });
      const ids = Array.from({ length: 10_200 }, (_, n) => `n${n}`);
      await store.upsert({ indexName, ids, vectors: ids.map(() => [1]), documents: ids.map(() => 'tea') });
      await expectError(
        store.query({ indexName, mode: 'keyword', queryText: 'tea' }),
        'VECTOR_QUERY_UNSUPPORTED',
        '10000',
      );
    });

    it('leaves collections of others alone', async () => {
      const { store, client } = await open(address);
      await client.createCollection({ name: 'foreign', embeddingFunction: null });
      expect(await store.listIndexes()).toEqual([]);
      await expectError(store.deleteIndex({ indexName: 'foreign' }), 'VECTOR_INDEX_NOT_FOUND');
      await expectError(store.createIndex({ indexName: 'foreign', dimension: 1 }), 'VECTOR_STORE_FAILED');
    });
  });
});

// I10
it('ChromaVector ends its request when the signal fires', async () => {
  let waiting = 0;
  const silent = createServer((_request, response) => {
    waiting += 1;
    response.on('close', () => (waiting -= 1));
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const store = new ChromaVector({ host: '127.0.0.1', port: (silent.address() as AddressInfo).port });
  const controller = new AbortController();
  const query = store.query({ indexName: 'any', queryVector: [1], signal: controller.signal });
  await expect.poll(() => waiting).toBe(1);
  controller.abort(new Error('enough'));
  await expect(query).rejects.toThrow('enough');
  await expect.poll(() => waiting).toBe(0);
  silent.close();
});

it.each([
  [{ client: {} as never, host: 'localhost', port: 8000 }, "accepts 'client' or 'host', 'port', not both"],
  [{ apiKey: 'key', headers: { a: 'b' } }, "accepts 'apiKey' or 'headers', not both"],
])('ChromaVector rejects the options %j', (options, message) => {
  const error = { code: 'OPTIONS_INVALID', message: expect.stringContaining(message) };
  expect(() => new ChromaVector(options)).toThrow(expect.objectContaining(error));
});

it('ChromaVector says that a server is down', async () => {
  const store = new ChromaVector({ host: '127.0.0.1', port: 1 });
  await expect(store.query({ indexName: 'any', queryVector: [1] })).rejects.toMatchObject({
    code: 'VECTOR_STORE_FAILED',
    cause: expect.anything(),
  });
  await expectError(store.createIndex({ indexName: 'ab', dimension: 1 }), 'OPTIONS_INVALID');
});
