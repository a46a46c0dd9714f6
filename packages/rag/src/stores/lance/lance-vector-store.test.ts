import { toErrorMessage } from '@quiver/core';
import { afterEach, describe, expect, it } from 'vitest';
import { newFolder } from '../../../../../scripts/test-folder.ts';
import { describeFilters, describeVectorStore } from '@quiver/devtools/stores';
import { describeHostileText } from '../describe-hostile-text.fixture.js';
import { describeRecreatedIndex } from '../describe-recreated-index.fixture.js';
import { describeLanguage, describeWords } from '../describe-words.fixture.js';
import { LanceVectorStore } from './index.js';

// Native code, which does not exist for every platform.
const client = await import('@lancedb/lancedb').catch((error: unknown) => {
  // oxlint-disable-next-line no-console -- names the reason
  console.warn(`Skips the tests of LanceVectorStore: ${toErrorMessage(error)}`);
});
const connect = client?.connect as (typeof import('@lancedb/lancedb'))['connect'];

const open = async (): Promise<LanceVectorStore> => new LanceVectorStore({ uri: await newFolder() });
const close = (store: LanceVectorStore): Promise<void> => store.close();

if (client) {
  describeVectorStore('LanceVectorStore', open, close);
  describeWords('LanceVectorStore', open, { close });
  describeWords('LanceVectorStore with texts of any language', open, { close, params: { language: 'auto' } });
  describeLanguage('LanceVectorStore', open, close);
  describeRecreatedIndex(
    'LanceVectorStore',
    async () => {
      const uri = await newFolder();
      return [new LanceVectorStore({ uri }), new LanceVectorStore({ uri })];
    },
    { close, noticesMetrics: false },
  );
  describeFilters('LanceVectorStore', open, close, { runs: 100 });
}

const indexName = 'guides';

describe.skipIf(!client)('LanceVectorStore', () => {
  const stores: LanceVectorStore[] = [];
  const openAt = (uri: string): LanceVectorStore => {
    const store = new LanceVectorStore({ uri });
    stores.push(store);
    return store;
  };
  afterEach(async () => {
    for (const store of stores.splice(0)) await close(store);
  });
  const idsOf = (records: readonly { id: string }[]): string[] => records.map(({ id }) => id);

  it.each([
    [{}, 'needs a connection or a uri'],
    [{ uri: '' }, 'needs a connection or a uri'],
    [{ uri: './lance', connection: {} as never }, 'not both'],
    [{ connectionOptions: {}, connection: {} as never }, "'connection' or 'connectionOptions', not both"],
  ])('rejects the options %j', (options, message) => {
    const error = { code: 'OPTIONS_INVALID', message: expect.stringContaining(message) };
    expect(() => new LanceVectorStore(options)).toThrow(expect.objectContaining(error));
  });

  it('closes after pending changes, and can be used again', async () => {
    const store = openAt(await newFolder());
    await store.createIndex({ indexName, dimension: 1 });
    const changes = ['a', 'b', 'c'].map((id) => store.upsert({ indexName, ids: [id], vectors: [[1]] }));
    await store.close();
    await Promise.all(changes);
    expect(await store.describeIndex({ indexName })).toMatchObject({ count: 3 });
    await store.upsert({ indexName, ids: ['d'], vectors: [[1]] });
    expect(await store.describeIndex({ indexName })).toMatchObject({ count: 4 });
  });

  it('keeps records in the folder, and uses a connection of the caller without closing it', async () => {
    const folder = await newFolder();
    const first = await LanceVectorStore.create(folder);
    await first.createIndex({ indexName, dimension: 2 });
    await first.upsert({ indexName, ids: ['a'], vectors: [[1, 2]], metadata: [{ n: 1 }] });
    await first.close();
    const connection = await connect(folder);
    const second = new LanceVectorStore({ connection });
    stores.push(second);
    const record = { id: 'a', vector: [1, 2], metadata: { n: 1 } };
    expect(await second.get({ indexName, ids: ['a'], includeVector: true })).toEqual([record]);
    await connection.createTable('mine', [{ id: 1 }]);
    expect(await second.listIndexes()).toEqual([indexName]);
    await expect(second.listVectors({ indexName: 'mine' })).rejects.toMatchObject({ code: 'VECTOR_INDEX_NOT_FOUND' });
    await expect(second.createIndex({ indexName: 'mine', dimension: 2 })).rejects.toMatchObject({
      code: 'VECTOR_STORE_FAILED',
    });
    await second.close();
    expect(connection.isOpen()).toBe(true);
    connection.close();
  });

  it('reports the version of an index that another store recreated', async () => {
    const uri = await newFolder();
    const [store, other] = [openAt(uri), openAt(uri)];
    const create = async (metric: 'cosine' | 'euclidean'): Promise<void> => {
      await other.createIndex({ indexName, dimension: 1, metric });
      await other.upsert({ indexName, ids: ['a'], vectors: [[1]] });
    };
    await create('cosine');
    const version = await store.version({ indexName });
    expect(version).toBe(await other.version({ indexName }));
    await other.deleteIndex({ indexName });
    await create('euclidean');
    expect(await store.version({ indexName })).not.toBe(version);
  });

  it('completes a table whose creation was interrupted', async () => {
    const connection = await connect(await newFolder(), { readConsistencyInterval: 0 });
    /** Fails at the first call of a method, as if the process ended there. */
    const interrupt = (target: object, method: string): never =>
      new Proxy(target, {
        get: (_target, name) => {
          if (name === method) return () => Promise.reject(new Error('interrupted'));
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }) as never;
    for (const [place, method] of ['setUnenforcedPrimaryKey', 'createIndex'].entries()) {
      const interrupted = {
        openTable: async (name: string) => interrupt(await connection.openTable(name), method),
        createEmptyTable: (name: string, schema: never) => connection.createEmptyTable(name, schema),
      };
      const name = `index-${place}`;
      const first = new LanceVectorStore({ connection: interrupted as never });
      await expect(first.createIndex({ indexName: name, dimension: 1 })).rejects.toThrow('interrupted');
      const next = [0, 1, 2].map(() => new LanceVectorStore({ connection }));
      stores.push(...next);
      await Promise.all(next.map((store) => store.createIndex({ indexName: name, dimension: 1 })));
      const table = await connection.openTable(name);
      expect((await table.schema()).fields[0]?.metadata.size).toBe(1);
      expect(await table.listIndices()).toHaveLength(1);
    }
    connection.close();
  });

  it('gives a query of zeros, and vectors of very large numbers, their cosine similarity', async () => {
    const store = openAt(await newFolder());
    await store.createIndex({ indexName, dimension: 2 });
    const ids = ['near', 'far', 'huge'];
    await store.upsert({
      indexName,
      ids,
      vectors: [
        [1, 0],
        [-1, 0],
        // Its square exceeds 32 bits.
        [3e38, 3e38],
      ],
      metadata: ids.map((name) => ({ name })),
    });
    const query = { indexName, queryVector: [1, 0] };
    expect(idsOf(await store.query(query))).toEqual(['near', 'huge', 'far']);
    expect(idsOf(await store.query({ ...query, filter: { name: { $in: ['far', 'huge'] } } }))).toEqual(['huge', 'far']);
    expect(idsOf(await store.query({ indexName, queryVector: [0, 0] }))).toEqual(['far', 'huge', 'near']);
    expect(await store.query({ indexName, queryVector: [3e38, 1] })).toHaveLength(3);
  });

  describeHostileText(async () => openAt(await newFolder()));

  it('finds the same records before and after optimize, among 5,000', async () => {
    const store = openAt(await newFolder());
    await store.createIndex({ indexName, dimension: 2 });
    const ids = Array.from({ length: 5000 }, (_, n) => `id-${String(n).padStart(4, '0')}`);
    const documents = ids.map((_id, n) => `Chapter ${n} on ${n % 2 === 0 ? 'rivers' : '日本語'}.`);
    const metadata = ids.map((_id, n) => ({ n, tags: [`tag-${n % 100}`] }));
    await store.upsert({ indexName, ids, vectors: ids.map((_id, n) => [n % 7, 1]), documents, metadata });
    expect(idsOf(await store.get({ indexName, ids: ids.toReversed() }))).toEqual(ids.toReversed());
    const find = async (): Promise<string[][]> => [
      idsOf(await store.query({ indexName, mode: 'keyword', queryText: 'chapter 4711' })).slice(0, 1),
      idsOf(await store.query({ indexName, mode: 'keyword', queryText: '日本語', topK: 3 })),
      idsOf(await store.query({ indexName, queryVector: [1, 1], topK: 3, filter: { tags: 'tag-8' } })),
      idsOf((await store.listVectors({ indexName, filter: { n: { $gte: 4998 } } })).records),
    ];
    const before = await find();
    expect(before).toEqual([
      ['id-4711'],
      ['id-0001', 'id-0003', 'id-0005'],
      ['id-0008', 'id-0708', 'id-1408'],
      ids.slice(-2),
    ]);
    await store.optimize({ indexName });
    expect(await find()).toEqual(before);
  });
});
