import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeFilters } from '../../testing/describe-filters.js';
import { describeVectorStore } from '../../testing/describe-vector-store.js';
import { FakePinecone } from './fake-pinecone.fixture.js';
import { PineconeVector, type PineconeVectorConfig } from './index.js';

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

describe('PineconeVector', () => {
  const indexName = 'things';
  let store: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    store = await open({ namespace: 'production' });
    await store.createIndex({ indexName, dimension: 2, metric: 'dotproduct' });
  });

  it('keeps namespaces apart', async () => {
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
      documents: large.map(() => 'x'.repeat(39_000)),
    });
    const upserts = store.service.requests.slice(before).filter(({ path }) => path.endsWith('/upsert'));
    expect(upserts).toHaveLength(5);
    expect(await store.describeIndex(params)).toMatchObject({ count });
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
    await expect(store.upsert({ indexName, ...tooLong })).rejects.toMatchObject({
      code: 'VECTOR_ARGUMENT_INVALID',
      message: expect.stringMatching(/'long'.*body \(42002 bytes\)/),
    });
    await expect(store.upsert({ indexName, vectors: [[0, 0]] })).rejects.toMatchObject({
      code: 'VECTOR_ARGUMENT_INVALID',
    });
    await expect(store.query({ indexName, queryVector: [1, 1], topK: 10_001 })).rejects.toThrow('10000');
    await expect(store.createIndex({ indexName: 'With_Case', dimension: 1 })).rejects.toThrow('small letters');
    expect(store.service.requests.filter(({ path }) => path.endsWith('/upsert'))).toHaveLength(before);
  });

  it('waits until records are found', async () => {
    const slow = await open();
    await slow.createIndex({ indexName, dimension: 1 });
    slow.service.delay = 250;
    await slow.upsert({ indexName, ids: ['late'], vectors: [[1]] });
    expect(await slow.query({ indexName, queryVector: [1] })).toEqual([]);
    await slow.waitUntilIndexed({ indexName, ids: ['late'] });
    expect(await slow.query({ indexName, queryVector: [1] })).toMatchObject([{ id: 'late' }]);
    await expect(slow.waitUntilIndexed({ indexName, ids: ['never'], timeout: 150 })).rejects.toMatchObject({
      code: 'VECTOR_NOT_INDEXED',
    });
  });

  it('says that it has no key, and that the service is down', async () => {
    await expect(new PineconeVector({}).listIndexes()).rejects.toMatchObject({ code: 'VECTOR_ARGUMENT_INVALID' });
    const service = new FakePinecone();
    const controllerHostUrl = await service.listen();
    service.close();
    const down = new PineconeVector({ apiKey: 'secret-key', controllerHostUrl });
    const error: unknown = await down.listIndexes().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'VECTOR_STORE_FAILED', cause: expect.anything() });
    expect(String(error)).not.toContain('secret-key');
  });
});
