import { QdrantClient } from '@qdrant/js-client-rest';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { readTestVariable } from '../../../../../scripts/test-variable.ts';
import { describeFilters, describeVectorStore } from '@quiver/devtools/stores';
import { describeHostileText } from '../describe-hostile-text.fixture.js';
import { describeRecreatedIndex } from '../describe-recreated-index.fixture.js';
import { describeLanguage, describeWords } from '../describe-words.fixture.js';
import { FakeQdrant } from './fake-qdrant.fixture.js';
import { QdrantVector } from './index.js';
import { toPointId } from './qdrant-point.js';

const servers: FakeQdrant[] = [];
afterAll(() => servers.forEach((server) => server.close()));

async function open(): Promise<QdrantVector & { server: FakeQdrant; url: string }> {
  const server = new FakeQdrant();
  servers.push(server);
  const url = await server.listen();
  return Object.assign(new QdrantVector({ url }), { server, url });
}

describeVectorStore('QdrantVector', open, async () => {});
for (const language of ['en', 'auto'])
  describeWords(`QdrantVector with the language ${language}`, open, { close: async () => {}, params: { language } });
describeLanguage('QdrantVector', open);
describeRecreatedIndex('QdrantVector', async () => {
  const { url } = await open();
  return [new QdrantVector({ url }), new QdrantVector({ url })];
});
describeFilters('QdrantVector', open, async () => {});

/** A server to test against. Indexes of Quiver are removed from it. */
const address = readTestVariable('QUIVER_QDRANT_URL') ?? '';
async function openAtServer(): Promise<QdrantVector> {
  const store = new QdrantVector({ url: address });
  for (const name of await store.listIndexes()) await store.deleteIndex({ indexName: name });
  return store;
}
if (address !== '') {
  describeVectorStore('QdrantVector with a server', openAtServer, async () => {});
  describeFilters('QdrantVector with a server', openAtServer, async () => {}, { runs: 100 });
}

const indexName = 'guides';
const idsOf = (records: readonly { id: string }[]): string[] => records.map(({ id }) => id);

describe('QdrantVector', () => {
  it.each([
    [{}, 'needs a client or a url'],
    [{ url: 'localhost:6333' }, 'needs a client or a url'],
    [{ url: 'http://localhost:6333/path' }, "has the path '/path'"],
    [{ url: 'http://localhost:6333', client: {} as never }, 'not both'],
    [{ apiKey: 'key', client: {} as never }, "QdrantVector accepts 'client' or 'apiKey', not both."],
  ])('rejects the options %j', (options, message) => {
    const error = { code: 'OPTIONS_INVALID', message: expect.stringContaining(message) };
    expect(() => new QdrantVector(options)).toThrow(expect.objectContaining(error));
  });

  it('lists the ids again for a first page, also with an empty cursor', async () => {
    const store = await open();
    const elsewhere = new QdrantVector({ url: store.url });
    await store.createIndex({ indexName, dimension: 1 });
    await elsewhere.upsert({ indexName, ids: ['a'], vectors: [[1]] });
    expect(idsOf((await store.listVectors({ indexName })).records)).toEqual(['a']);
    await elsewhere.upsert({ indexName, ids: ['b'], vectors: [[1]] });
    expect(idsOf((await store.listVectors({ indexName, cursor: '' })).records)).toEqual(['a', 'b']);
  });

  it('asks for all ids once, however many pages are read, and again after a change', async () => {
    const store = await open();
    await store.createIndex({ indexName, dimension: 1 });
    const ids = ['a', 'b', 'c', 'd'];
    await store.upsert({ indexName, ids, vectors: ids.map(() => [1]), metadata: ids.map((_, n) => ({ n })) });
    const listings = (): number => store.server.requests.filter(({ path }) => path.endsWith('/scroll')).length;
    const first = await store.listVectors({ indexName, limit: 1 });
    const second = await store.listVectors({ indexName, limit: 2, cursor: first.nextCursor as string });
    expect([...idsOf(first.records), ...idsOf(second.records)]).toEqual(['a', 'b', 'c']);
    expect(listings()).toBe(1);
    const filter = { n: { $lt: 3 } };
    expect(idsOf((await store.listVectors({ indexName, cursor: 'a', filter })).records)).toEqual(['b', 'c']);
    await store.deleteVector({ indexName, id: 'b' });
    await store.upsert({ indexName, ids: ['ba'], vectors: [[1]] });
    const next = await store.listVectors({ indexName, limit: 2, cursor: first.nextCursor as string });
    expect(idsOf(next.records)).toEqual(['ba', 'c']);
  });

  it('uses a client of the caller, and leaves collections of others alone', async () => {
    const { url } = await open();
    const client = new QdrantClient({ url, checkCompatibility: false });
    const store = new QdrantVector({ client });
    await client.createCollection('mine', { vectors: { size: 2, distance: 'Dot' } });
    await store.createIndex({ indexName, dimension: 2 });
    expect(await store.listIndexes()).toEqual([indexName]);
    await expect(store.deleteIndex({ indexName: 'mine' })).rejects.toMatchObject({ code: 'VECTOR_INDEX_NOT_FOUND' });
    await expect(store.createIndex({ indexName: 'mine', dimension: 2 })).rejects.toMatchObject({
      code: 'VECTOR_STORE_FAILED',
      message: expect.stringContaining('already exists'),
      cause: { status: 409 },
    });
  });

  it('sends the key, and compares all vectors on request', async () => {
    const { server, url } = await open();
    // The client warns of a key that is sent without TLS.
    using warn = vi.spyOn(console, 'warn').mockReturnValue();
    const store = new QdrantVector({ url, apiKey: 'key' });
    await store.createIndex({ indexName, dimension: 1 });
    await store.query({ indexName, queryVector: [1] });
    await store.query({ indexName, queryVector: [1], exact: true });
    const queries = server.requests.filter(({ path }) => path.endsWith('/query'));
    expect(queries.map(({ body }) => JSON.parse(body).params)).toEqual([undefined, { exact: true }]);
    expect(server.requests.every(({ apiKey }) => apiKey === 'key')).toBe(true);
    expect(warn).toHaveBeenCalledOnce();
  });

  it('reads the shape of an index once', async () => {
    const { server, url } = await open();
    const store = new QdrantVector({ url });
    await store.createIndex({ indexName, dimension: 1 });
    const query = { indexName, queryVector: [1], mode: 'hybrid', queryText: 'Vertrag' } as const;
    await store.query(query);
    const before = server.requests.length;
    await store.query(query);
    const points = `/collections/${indexName}/points/query`;
    expect(server.requests.slice(before).map(({ path }) => path)).toEqual([points, points]);
  });

  it('reports a deleted index to a query without terms', async () => {
    const { url } = await open();
    const [reader, other] = [new QdrantVector({ url }), new QdrantVector({ url })];
    await other.createIndex({ indexName, dimension: 1 });
    const query = { indexName, mode: 'keyword', queryText: '—' } as const;
    expect(await reader.query(query)).toEqual([]);
    await other.deleteIndex({ indexName });
    await expect(reader.query(query)).rejects.toMatchObject({ code: 'VECTOR_INDEX_NOT_FOUND' });
  });

  it('derives the ids of points from ids', async () => {
    expect(await toPointId('guide#1')).toBe('104582b6-2dac-88e8-8c49-bc5a747adcc3');
    expect(await toPointId('guide#1')).not.toBe(await toPointId('guide#2'));
  });

  it('keeps vectors of any length with the metric cosine', async () => {
    const store = await open();
    await store.createIndex({ indexName, dimension: 2 });
    const vectors = { near: [3, 4], tiny: [1e-30, 0], huge: [3e38, 3e38], far: [-2e17, 0] };
    await store.upsert({ indexName, ids: Object.keys(vectors), vectors: Object.values(vectors) });
    for (const { id, vector = [] } of await store.get({ indexName, ids: Object.keys(vectors), includeVector: true }))
      vector.forEach((value, at) => expect(value / (vectors[id as 'near'][at] || 1)).toBeCloseTo(value && 1, 5));
    expect(idsOf(await store.query({ indexName, queryVector: [1e30, 0] }))).toEqual(['tiny', 'huge', 'near', 'far']);
  });

  describeHostileText(open);

  it('sends large batches in parts, and reads them back in order', async () => {
    const store = await open();
    await store.createIndex({ indexName, dimension: 2 });
    const ids = Array.from({ length: 2300 }, (_, n) => `id-${String(n).padStart(4, '0')}`);
    const documents = ids.map((_id, n) => `Chapter ${n}.`);
    const metadata = ids.map((_id, n) => (n < 8 ? { html: 'ü'.repeat(400_000) } : {}));
    await store.upsert({ indexName, ids, vectors: ids.map((_id, n) => [n % 7, 1]), documents, metadata });
    const upserts = store.server.requests.filter(({ method, path }) => method === 'PUT' && path.includes('/points'));
    expect(upserts).toHaveLength(6);
    expect(idsOf((await store.listVectors({ indexName, limit: 2000 })).records)).toEqual(ids.slice(0, 2000));
    expect(idsOf(await store.get({ indexName, ids: ids.toReversed() }))).toEqual(ids.toReversed());
    expect(idsOf(await store.query({ indexName, mode: 'keyword', queryText: 'chapter 2217', topK: 1 }))).toEqual([
      'id-2217',
    ]);
  });

  it('prefers texts with rare terms, and narrows by a condition', async () => {
    const store = await open();
    await store.createIndex({ indexName, dimension: 1 });
    const documents = ['river river', 'river otter', 'river bank', 'river delta'];
    await store.upsert({
      indexName,
      ids: ['a', 'b', 'c', 'd'],
      vectors: documents.map(() => [1]),
      documents,
      metadata: documents.map((_text, n) => ({ n, tags: [`tag-${n % 2}`] })),
    });
    const query = { indexName, mode: 'keyword', queryText: 'river otter' } as const;
    expect(idsOf(await store.query({ ...query, topK: 1 }))).toEqual(['b']);
    expect(idsOf(await store.query({ ...query, filter: { tags: 'tag-0', n: { $gt: 0 } } }))).toEqual(['c']);
    const sent = store.server.requests.at(-1)?.body ?? '';
    expect(JSON.parse(sent).filter).toEqual({ must: [{ key: 'conditions', match: { any: ['["tags","tag-0"]'] } }] });
    expect(await store.query({ ...query, filter: { n: { $in: [] } } })).toEqual([]);
  });

  it('sends no further request after an abort', async () => {
    const store = await open();
    await store.createIndex({ indexName, dimension: 1 });
    const controller = new AbortController();
    store.server.onRequest = (path) => {
      if (path.includes('/points')) controller.abort(new Error('enough'));
    };
    const upsert = store.upsert({
      indexName,
      vectors: Array.from({ length: 1200 }, () => [1]),
      signal: controller.signal,
    });
    await expect(upsert).rejects.toThrow('enough');
    store.server.onRequest = () => {};
    expect(await store.describeIndex({ indexName })).toMatchObject({ count: 500 });
  });

  it('completes an index whose creation was interrupted', async () => {
    const { server, url } = await open();
    const client = new QdrantClient({ url, checkCompatibility: false });
    const store = new QdrantVector({
      client: Object.assign(client, { createPayloadIndex: () => Promise.reject(new Error('gone')) }),
    });
    await expect(store.createIndex({ indexName, dimension: 1 })).rejects.toMatchObject({ code: 'VECTOR_STORE_FAILED' });
    const other = new QdrantVector({ url });
    await other.createIndex({ indexName, dimension: 1 });
    expect(await other.query({ indexName, queryVector: [1], filter: { a: 1 } })).toEqual([]);
    server.close();
    await expect(other.listIndexes()).rejects.toMatchObject({ code: 'VECTOR_STORE_FAILED', cause: expect.anything() });
  });
});
