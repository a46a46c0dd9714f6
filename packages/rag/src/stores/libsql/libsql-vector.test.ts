import { join } from 'node:path';
import { toErrorMessage } from '@quiver/core';
import { afterEach, describe, expect, it } from 'vitest';
import { expectError } from '../../../../../scripts/test-error.ts';
import { newFolder } from '../../../../../scripts/test-folder.ts';
import { describeFilters, describeVectorStore } from '@quiver/devtools/stores';
import { describeRecreatedIndex } from '../describe-recreated-index.fixture.js';
import { describeLanguage, describeWords } from '../describe-words.fixture.js';
import { LibSQLVector } from './index.js';

// Native code, which does not exist for every platform.
const client = await import('@libsql/client').catch((error: unknown) => {
  // oxlint-disable-next-line no-console -- names the reason
  console.warn(`Skips the tests of LibSQLVector: ${toErrorMessage(error)}`);
});
const createClient = client?.createClient as (typeof import('@libsql/client'))['createClient'];

const newUrl = async (): Promise<string> => `file:${join(await newFolder(), 'test.db')}`;

if (client) {
  describeVectorStore(
    'LibSQLVector in memory',
    async () => new LibSQLVector({ url: ':memory:' }),
    (store) => store.close(),
  );
  for (const language of ['en', 'auto'])
    describeWords(`LibSQLVector with the language ${language}`, async () => new LibSQLVector({ url: ':memory:' }), {
      close: (store) => store.close(),
      params: { language },
    });

  describeVectorStore(
    'LibSQLVector in a file',
    async () => new LibSQLVector({ url: await newUrl() }),
    (store) => store.close(),
  );

  describeLanguage(
    'LibSQLVector',
    async () => new LibSQLVector({ url: ':memory:' }),
    (store) => store.close(),
  );
  describeRecreatedIndex(
    'LibSQLVector',
    async () => {
      const url = await newUrl();
      return [new LibSQLVector({ url }), new LibSQLVector({ url })];
    },
    { close: (store: LibSQLVector) => store.close() },
  );
  describeFilters(
    'LibSQLVector',
    async () => new LibSQLVector({ url: ':memory:' }),
    (store) => store.close(),
  );
}

const indexName = 'guides';
const invalid = (message: string): object => ({
  code: 'OPTIONS_INVALID',
  message: expect.stringContaining(message),
});

describe.skipIf(!client)('LibSQLVector', () => {
  const stores: LibSQLVector[] = [];
  const open = (options: ConstructorParameters<typeof LibSQLVector>[0]): LibSQLVector => {
    const store = new LibSQLVector(options);
    stores.push(store);
    return store;
  };
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });
  const idsOf = (records: readonly { id: string }[]): string[] => records.map(({ id }) => id);

  it.each([
    [{}, 'needs a client or a url'],
    [{ url: '' }, 'needs a client or a url'],
    [{ url: ':memory:', client: {} as never }, 'not both'],
    [{ authToken: 'a', syncUrl: 'b', client: {} as never }, "accepts 'client' or 'authToken', 'syncUrl', not both"],
    [{ url: ':memory:', maxRetries: -1 }, "'maxRetries' must be an integer of at least 0, not -1"],
    [{ url: ':memory:', initialBackoffMs: -0.5 }, "'initialBackoffMs' must be a finite number of at least 0, not -0.5"],
    [{ url: ':memory:', initialBackoffMs: Number.NaN }, 'initialBackoffMs'],
  ])('rejects the options %j', (options, message) => {
    expect(() => new LibSQLVector(options)).toThrow(expect.objectContaining(invalid(message)));
  });

  it('names the file that cannot be opened', async () => {
    const store = open({ url: 'file:/nowhere/at/all.db' });
    await expectError(store.listIndexes(), 'VECTOR_STORE_FAILED', 'listing indexes');
  });

  it('keeps records in the file, and uses a client of the caller without closing it', async () => {
    const url = await newUrl();
    const first = open({ url });
    await first.createIndex({ indexName, dimension: 2 });
    await first.upsert({ indexName, ids: ['a'], vectors: [[1, 2]], metadata: [{ n: 1 }] });
    await first.close();
    const client = createClient({ url });
    const second = open({ client });
    expect(await second.get({ indexName, ids: ['a'], includeVector: true })).toEqual([
      { id: 'a', vector: [1, 2], metadata: { n: 1 } },
    ]);
    await second.close();
    expect(client.closed).toBe(false);
    client.close();
  });

  it('waits for a lock of another connection, and reports one that stays', async () => {
    const url = await newUrl();
    const store = open({ url });
    await store.createIndex({ indexName, dimension: 1 });
    const client = createClient({ url });
    const other = await client.transaction('write');
    const impatient = open({ url, maxRetries: 1, initialBackoffMs: 0.5 });
    await expect(impatient.upsert({ indexName, vectors: [[1]] })).rejects.toMatchObject({
      code: 'VECTOR_STORE_FAILED',
      details: { isTransient: true },
    });
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(store.upsert({ indexName, vectors: [[1]], signal })).rejects.toThrow('enough');
    const stored = store.upsert({ indexName, ids: ['a'], vectors: [[1]] });
    await other.rollback();
    expect(await stored).toEqual(['a']);
    client.close();
  });

  it('ends the wait for a lock when the signal fires', async () => {
    const url = await newUrl();
    const store = open({ url, maxRetries: 1_000_000 });
    await store.createIndex({ indexName, dimension: 1 });
    const client = createClient({ url });
    const other = await client.transaction('write');
    const controller = new AbortController();
    const stored = store.upsert({ indexName, vectors: [[1]], signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 20);
    await expect(stored).rejects.toThrow('enough');
    await other.rollback();
    client.close();
  });

  it('applies concurrent updates by filter one after the other', async () => {
    const url = await newUrl();
    const writers = [open({ url }), open({ url })] as const;
    await writers[0].createIndex({ indexName, dimension: 1 });
    await writers[0].upsert({ indexName, ids: ['a', 'b'], vectors: [[1], [2]], metadata: [{ n: 0 }, { n: 0 }] });
    await Promise.all([
      ...Array.from({ length: 10 }, (_, n) =>
        (writers[n % 2] as LibSQLVector).updateVector({ indexName, id: 'a', update: { metadata: { n } } }),
      ),
      ...Array.from({ length: 10 }, (_, n) =>
        (writers[n % 2] as LibSQLVector).updateVector({ indexName, id: 'a', update: { document: `text ${n}` } }),
      ),
      writers[1].deleteVectors({ indexName, filter: { n: { $regex: 'never' } } }),
    ]);
    // A lost update would leave the metadata or the document of before.
    expect(await writers[0].get({ indexName, ids: ['a'] })).toMatchObject([
      { metadata: { n: expect.any(Number) }, document: expect.stringMatching(/^text \d$/) },
    ]);
  });

  it('creates an index once when several processes create it', async () => {
    const url = await newUrl();
    const creators = Array.from({ length: 4 }, () => open({ url }));
    await Promise.all(creators.map((store) => store.createIndex({ indexName, dimension: 2 })));
    expect(await creators[0]?.listIndexes()).toEqual([indexName]);
  });

  it('distinguishes names by case, and accepts names of system tables', async () => {
    const store = open({ url: ':memory:' });
    for (const name of ['sqlite_master', 'Guides', 'guides', 'quiver_indexes'])
      await store.createIndex({ indexName: name, dimension: 1 });
    await store.upsert({ indexName: 'Guides', ids: ['a'], vectors: [[1]] });
    expect(await store.listVectors({ indexName: 'guides' })).toEqual({ records: [] });
    await expect(store.createIndex({ indexName: 'a"; DROP TABLE quiver_indexes', dimension: 1 })).rejects.toMatchObject(
      invalid('cannot name an index'),
    );
  });

  it('stores hostile text unchanged, and rejects text that SQLite cuts', async () => {
    const store = open({ url: ':memory:' });
    await store.createIndex({ indexName, dimension: 1 });
    const text = `'); DROP TABLE x; -- "\\ \u{1F600} %_ \n`;
    const metadata = { [text]: text, 'a\0b': 'c\0d', half: '\ud800', deep: { [text]: [text, null, 1e21] } };
    await store.upsert({ indexName, ids: [text], vectors: [[1]], metadata: [metadata], documents: [text] });
    expect(await store.get({ indexName, ids: [text] })).toEqual([{ id: text, metadata, document: text }]);
    for (const filter of [{ [text]: text }, { half: '\ud800' }, { 'a\0b': 'c\0d' }])
      expect(idsOf((await store.listVectors({ indexName, filter })).records)).toEqual([text]);
    expect(await store.get({ indexName, ids: ['a\0b', '\ud800'] })).toEqual([]);
    await store.deleteVectors({ indexName, ids: ['a\0b'] });
    for (const params of [{ ids: ['a\0b'] }, { documents: ['half \ud800'] }])
      await expect(store.upsert({ indexName, vectors: [[1]], ...params })).rejects.toMatchObject(invalid('NUL'));
    let deep: object = {};
    for (let level = 0; level < 1500; level += 1) deep = { deep };
    await expect(store.upsert({ indexName, vectors: [[1]], metadata: [deep] })).rejects.toMatchObject(
      invalid('nested'),
    );
    expect(await store.describeIndex({ indexName })).toMatchObject({ count: 1 });
  });

  it('stores 5,000 records in one transaction, reads them by id, and finds their texts', async () => {
    const store = open({ url: ':memory:' });
    await store.createIndex({ indexName, dimension: 2 });
    const ids = Array.from({ length: 5000 }, (_, n) => `id-${n}`);
    const documents = ids.map((_id, n) => `Chapter ${n} on ${n % 2 === 0 ? 'rivers' : 'mountains'}.`);
    await store.upsert({ indexName, ids, vectors: ids.map((_id, n) => [1, n]), documents });
    expect(idsOf(await store.get({ indexName, ids: ids.toReversed() }))).toEqual(ids.toReversed());
    const query = { indexName, mode: 'keyword', queryText: documents.join(' '), topK: 3 } as const;
    expect(await store.query(query)).toHaveLength(3);
    const [match] = await store.query({ indexName, mode: 'keyword', queryText: 'chapter 4711' });
    expect(match?.id).toBe('id-4711');
  });

  it('compares large numbers and long lists of conditions exactly', async () => {
    const store = open({ url: ':memory:' });
    await store.createIndex({ indexName, dimension: 1 });
    const numbers = [2 ** 60, 2 ** 60 + 256, 1e300, -5e-324, 0.1 + 0.2, 2 ** 53];
    await store.upsert({
      indexName,
      ids: numbers.map(String),
      vectors: numbers.map(() => [1]),
      metadata: numbers.map((n) => ({ n })),
    });
    for (const n of numbers) {
      expect(idsOf((await store.listVectors({ indexName, filter: { n } })).records)).toEqual([String(n)]);
      const above = numbers
        .filter((other) => other > n)
        .map(String)
        .toSorted();
      expect(idsOf((await store.listVectors({ indexName, filter: { n: { $gt: n } } })).records)).toEqual(above);
    }
    const filter = { $or: Array.from({ length: 900 }, (_, n) => ({ n })) };
    expect(await store.listVectors({ indexName, filter })).toEqual({ records: [] });
  });

  it('keeps results above minScore, and gives a query of zeros the cosine similarity 0', async () => {
    const store = open({ url: ':memory:' });
    await store.createIndex({ indexName, dimension: 2 });
    await store.upsert({
      indexName,
      ids: ['near', 'far'],
      vectors: [
        [1, 0],
        [-1, 0],
      ],
    });
    const query = { indexName, queryVector: [1, 0] };
    expect(idsOf(await store.query(query))).toEqual(['near', 'far']);
    expect(await store.query({ indexName, queryVector: [0, 0] })).toMatchObject([
      { id: 'far', score: 0 },
      { id: 'near', score: 0 },
    ]);
    expect(idsOf(await store.query({ ...query, minScore: 0.5 }))).toEqual(['near']);
    await expect(store.query({ ...query, minScore: Number.NaN })).rejects.toMatchObject(invalid('minScore'));
    const hybrid = { ...query, mode: 'hybrid', queryText: 'near', minScore: 0.5 } as const;
    expect(idsOf(await store.query(hybrid))).toEqual(['near']);
  });
});
