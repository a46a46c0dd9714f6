import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeFilters, describeVectorStore } from '@quiver/devtools/stores';
import { expectError } from '../../../../../scripts/test-error.ts';
import { describeSearchModes } from '../../../../devtools/src/stores/describe-search-modes.ts';
import { describeRecreatedIndex } from '../describe-recreated-index.fixture.js';
import { describeWords } from '../describe-words.fixture.js';
import { FakePinecone } from './fake-pinecone.fixture.js';
import { createLexicalSparseEncoder, PineconeVector, type PineconeVectorConfig } from './index.js';

const services: FakePinecone[] = [];
afterAll(() => services.forEach((service) => service.close()));

async function open(config: PineconeVectorConfig = {}): Promise<PineconeVector & { service: FakePinecone }> {
  const service = new FakePinecone();
  services.push(service);
  const controllerHostUrl = await service.listen();
  return Object.assign(new PineconeVector({ apiKey: 'key', controllerHostUrl, ...config }), { service });
}

describeVectorStore('PineconeVector', open, async () => {});
describeFilters('PineconeVector', open, async () => {});
describeRecreatedIndex(
  'PineconeVector',
  async () => {
    const options = { apiKey: 'key', controllerHostUrl: (await open()).service.url };
    return [new PineconeVector(options), new PineconeVector(options)];
  },
  { noticesMetrics: false, hasLanguages: false },
);

/** Only indexes of this metric take the weights of words. */
async function openWithWords(): Promise<PineconeVector> {
  const store = await open({ sparseEncoder: createLexicalSparseEncoder() });
  const createIndex = store.createIndex.bind(store);
  return Object.assign(store, {
    createIndex: (params: Parameters<typeof createIndex>[0]) => createIndex({ metric: 'dotproduct', ...params }),
  });
}
describeSearchModes({ name: 'PineconeVector with a sparse encoder', open: openWithWords, close: async () => {} });
describeWords('PineconeVector with a sparse encoder', openWithWords, { close: async () => {} });

describe('PineconeVector with a sparse encoder', () => {
  it('refuses an index whose metric takes no weights of words', async () => {
    const store = await open({ sparseEncoder: createLexicalSparseEncoder() });
    const refused = { code: 'OPTIONS_INVALID', message: expect.stringContaining("'dotproduct'") };
    await expect(store.createIndex({ indexName: 'words', dimension: 2 })).rejects.toMatchObject(refused);
  });

  it('takes an encoder of the application', async () => {
    const encode = (text: string): { indices: number[]; values: number[] } => ({ indices: [text.length], values: [1] });
    const store = await open({ sparseEncoder: { encodeDocument: encode, encodeQuery: encode } });
    const indexName = 'lengths';
    await store.createIndex({ indexName, dimension: 1, metric: 'dotproduct' });
    await store.upsert({ indexName, ids: ['a', 'b'], vectors: [[1], [1]], documents: ['four', 'three'] });
    const found = await store.query({ indexName, mode: 'keyword', queryText: 'nine' });
    expect(found).toMatchObject([{ id: 'a', score: 1 }]);
  });

  it('keeps sparse vectors of the application until the text changes', async () => {
    const store = await open({ sparseEncoder: createLexicalSparseEncoder() });
    const indexName = 'own';
    await store.createIndex({ indexName, dimension: 1, metric: 'dotproduct' });
    const sparseVectors = [{ indices: [7], values: [1] }];
    await store.upsert({ indexName, ids: ['a'], vectors: [[1]], documents: ['cat'], sparseVectors });
    await store.updateVector({ indexName, id: 'a', update: { metadata: { seen: true } } });
    await store.updateVector({ indexName, id: 'a', update: { document: 'dog' } });
    const sent = store.service.requests.filter(({ path }) => path.endsWith('/upsert'));
    const [first, second, third] = sent.map(({ body }) => JSON.parse(body).vectors[0].sparseValues);
    expect(first).toEqual(sparseVectors[0]);
    expect(second).toEqual(first);
    expect(third).toEqual(createLexicalSparseEncoder().encodeDocument('dog'));
  });

  it('weighs words as BM25 does, without rarity', () => {
    const { encodeDocument, encodeQuery } = createLexicalSparseEncoder();
    const [once, twice] = ['red cat', 'red red'].map((text) => encodeDocument(text));
    expect(once?.values.map((value) => value.toFixed(4))).toEqual(['0.7587', '0.7587']);
    expect(twice?.values.map((value) => value.toFixed(4))).toEqual(['0.8628']);
    expect(encodeQuery('Red, red; cats')?.values).toEqual([2, 1]);
    expect(encodeQuery('Red, red; cats')?.indices).toEqual(once?.indices);
    expect(encodeDocument('— —')).toBeUndefined();
    expect(encodeQuery('the red cat of us')?.indices).toEqual(encodeDocument('red cat us')?.indices);
    expect(encodeQuery('of')?.indices).toEqual(encodeDocument('of')?.indices);
  });
});

describe('PineconeVector', () => {
  const indexName = 'things';
  let store: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    store = await open({ namespace: 'production' });
    await store.createIndex({ indexName, dimension: 2, metric: 'dotproduct' });
  });

  it('keeps namespaces apart', async () => {
    expect(store.databaseConfigKey).toBe('pinecone');
    await store.upsert({ indexName, ids: ['p'], vectors: [[1, 0]] });
    await store.upsert({ indexName, ids: ['d'], vectors: [[1, 0]], namespace: 'development' });
    const query = { indexName, queryVector: [1, 0] };
    expect((await store.query(query)).map(({ id }) => id)).toEqual(['p']);
    expect((await store.query({ ...query, namespace: 'development' })).map(({ id }) => id)).toEqual(['d']);
    await store.truncateIndex({ indexName, namespace: 'development' });
    await store.truncateIndex({ indexName, namespace: 'never used' });
    expect(await store.describeIndex({ indexName })).toMatchObject({ count: 1 });
    expect(await store.query({ ...query, namespace: 'development' })).toEqual([]);
  });

  it('adds sparse vectors to the score, and keeps them at updates', async () => {
    const sparse = (index: number): { indices: number[]; values: number[] } => ({ indices: [index], values: [1] });
    const params = { indexName, namespace: 'sparse' };
    await store.upsert({
      ...params,
      ids: ['x', 'y'],
      vectors: [
        [1, 0],
        [1, 0],
      ],
      sparseVectors: [sparse(3), sparse(7)],
    });
    await store.updateVector({ ...params, id: 'y', update: { metadata: { changed: true } } });
    const found = await store.query({ ...params, queryVector: [1, 0], sparseVector: sparse(7) });
    expect(found.map(({ id }) => id)).toEqual(['y', 'x']);
  });

  it('sends batches within the limits of bytes and number', async () => {
    const params = { indexName, namespace: 'large' };
    const count = 2500;
    const ids = Array.from({ length: count }, (_, n) => `n${n}`);
    const before = store.service.requests.length;
    await store.upsert({ ...params, ids, vectors: ids.map(() => [1, 1]) });
    const large = ids.slice(0, 100);
    await store.upsert({
      ...params,
      ids: large,
      vectors: large.map(() => [1, 1]),
      documents: large.map(() => 'ü'.repeat(19_500)),
    });
    const upserts = store.service.requests.slice(before).filter(({ path }) => path.endsWith('/upsert'));
    expect(upserts).toHaveLength(5);
    expect(await store.describeIndex(params)).toMatchObject({ count });
  });

  it('reads long ids in several requests', async () => {
    const params = { indexName, namespace: 'long ids' };
    const ids = Array.from({ length: 100 }, (_, n) => `${n}/${'x'.repeat(250)} ü`);
    await store.upsert({ ...params, ids, vectors: ids.map(() => [1, 1]) });
    expect((await store.get({ ...params, ids })).map(({ id }) => id)).toEqual(ids);
    expect((await store.listVectors(params)).records).toHaveLength(100);
  });

  it('refuses what the service would refuse, before anything is sent', async () => {
    const before = store.service.requests.filter(({ path }) => path.endsWith('/upsert')).length;
    const tooLong = {
      ids: ['ok', 'long'],
      vectors: [
        [1, 1],
        [1, 1],
      ],
      metadata: [{}, { small: 1, body: 'ä'.repeat(21_000) }],
    };
    await expectError(store.upsert({ indexName, ...tooLong }), 'OPTIONS_INVALID', /'long'.*body \(42002 bytes\)/);
    await store.createIndex({ indexName: 'distances', dimension: 2, metric: 'euclidean' });
    await expectError(
      store.upsert({ indexName: 'distances', vectors: [[0, 0]] }),
      'OPTIONS_INVALID',
      'Pinecone does not store',
    );
    await expect(store.query({ indexName, queryVector: [1, 1], topK: 10_001 })).rejects.toThrow('10000');
    await expect(store.createIndex({ indexName: 'With_Case', dimension: 1 })).rejects.toThrow('small letters');
    expect(store.service.requests.filter(({ path }) => path.endsWith('/upsert'))).toHaveLength(before);
  });

  it('waits until records are found', async () => {
    const slow = await open();
    await slow.createIndex({ indexName, dimension: 1 });
    slow.service.isIndexing = false;
    await slow.upsert({ indexName, ids: ['late'], vectors: [[1]] });
    expect(await slow.query({ indexName, queryVector: [1] })).toEqual([]);
    await expectError(slow.waitUntilIndexed({ indexName, ids: ['late'], timeout: 150 }), 'VECTOR_NOT_INDEXED');
    slow.service.requests.splice(0);
    const waiting = slow.waitUntilIndexed({ indexName, ids: ['late'] });
    await expect.poll(() => slow.service.requests.length).toBeGreaterThan(0);
    slow.service.isIndexing = true;
    await waiting;
    expect(await slow.query({ indexName, queryVector: [1] })).toMatchObject([{ id: 'late' }]);
  });

  // I10
  it('ends the request when the signal fires', async () => {
    const slow = await open();
    await slow.createIndex({ indexName, dimension: 1 });
    const controller = new AbortController();
    slow.service.latency = 60_000;
    const query = slow.query({ indexName, queryVector: [1], signal: controller.signal });
    await expect.poll(() => slow.service.waiting).toBe(1);
    controller.abort(new Error('enough'));
    await expect(query).rejects.toThrow('enough');
    await expect.poll(() => slow.service.waiting).toBe(0);
  });

  it('removes nothing from a namespace that never held a record', async () => {
    const params = { indexName, namespace: 'never held any' };
    await store.deleteVectors({ ...params, ids: ['x'] });
    await store.deleteVectors({ ...params, filter: { a: 1 } });
    await store.truncateIndex(params);
    expect(await store.describeIndex(params)).toMatchObject({ count: 0 });
  });

  it('asks once for host and dimension of an index, and again after a query that does not fit', async () => {
    const mine = await open();
    const known = { indexName: 'known' };
    await mine.createIndex({ ...known, dimension: 1 });
    const before = mine.service.requests.length;
    const asked = (): number =>
      mine.service.requests.slice(before).filter(({ path }) => path === '/indexes/known').length;
    await mine.upsert({ ...known, ids: ['a'], vectors: [[1]] });
    await mine.query({ ...known, queryVector: [1] });
    await expect(mine.query({ ...known, queryVector: [1], topK: 0 })).rejects.toThrow('topK');
    expect(asked()).toBe(1);
    await expectError(mine.query({ ...known, queryVector: [1, 2] }), 'VECTOR_DIMENSION_MISMATCH');
    expect(asked()).toBe(2);
  });

  it('rejects sparse vectors that are not one for each vector', async () => {
    const store = await open();
    await store.createIndex({ indexName: 'sparse', dimension: 1 });
    const sparseVectors = [{ indices: [1], values: [1] }];
    for (const params of [{ vectors: [] }, {}, { vectors: [[1], [2]] }] as { vectors: number[][] }[])
      await expectError(store.upsert({ indexName: 'sparse', sparseVectors, ...params }), 'OPTIONS_INVALID');
  });

  it('rejects a key next to a client', () => {
    const error = {
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining("'client' or 'apiKey', not both"),
    };
    expect(() => new PineconeVector({ client: {} as never, apiKey: 'key' })).toThrow(expect.objectContaining(error));
  });

  it('says that it has no key, and that the service is down', async () => {
    await expectError(new PineconeVector({}).listIndexes(), 'OPTIONS_INVALID');
    const service = new FakePinecone();
    const controllerHostUrl = await service.listen();
    service.close();
    const down = new PineconeVector({ apiKey: 'secret-key', controllerHostUrl });
    const error: unknown = await down.listIndexes().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'VECTOR_STORE_FAILED', cause: expect.anything() });
    expect(String(error)).not.toContain('secret-key');
  });
});
