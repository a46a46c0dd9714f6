// The settings of stores in the specification's samples, and what they do in the stores themselves.
import { RequestContext } from '@quiver/core/request-context';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTestVariable } from '../../../../scripts/test-variable.ts';
import { createLexicalEmbedder } from '../embedding/index.js';
import type { VectorMetadata, VectorStore } from '../store/index.js';
import { createVectorQueryTool, type VectorQueryTool } from '../tools/vector-query-tool.js';
import { ChromaVector } from './chroma/index.js';
import { pgliteForTests } from './pg/open-stores.fixture.js';
import { PgVector } from './pg/index.js';
import { FakePinecone } from './pinecone/fake-pinecone.fixture.js';
import { PineconeVector } from './pinecone/index.js';

const model = createLexicalEmbedder({ dimension: 64 });
const texts = ['The API of the server.', 'A page about cooking.', 'The API of the client.'];
const metadata: VectorMetadata[] = [
  { category: 'technical', status: 'published' },
  { category: 'other', status: 'published' },
  { category: 'technical', status: 'draft' },
];

async function seed(store: VectorStore, indexName: string, more: object = {}): Promise<void> {
  await store.upsert({
    indexName,
    ids: ['server', 'cooking', 'client'],
    vectors: await model.embed(texts),
    documents: texts,
    metadata,
    ...more,
  });
}

async function idsOf(tool: VectorQueryTool, requestContext = new RequestContext()): Promise<string[]> {
  return (
    await tool.execute({ queryText: 'the API of the server' }, { onFailure: 'throw', requestContext })
  ).sources.map(({ id }) => id);
}

describe('databaseConfig', () => {
  const pglite = pgliteForTests();
  const service = new FakePinecone();
  afterAll(async () => {
    service.close();
    await pglite.close();
  });

  it('pgvector: minScore, ef and probes', { timeout: 60_000 }, async () => {
    const vectorStore = new PgVector({ id: 'pg-vector', ...(await pglite.open()) });
    const indexName = 'embeddings';
    await vectorStore.createIndex({ indexName, dimension: 64 });
    await seed(vectorStore, indexName);
    const pgvector = { minScore: 0.7, ef: 200, probes: 10 };
    const options = { vectorStoreName: 'postgres', vectorStore, indexName, model };
    expect(await idsOf(createVectorQueryTool(options))).toHaveLength(3);
    const tool = createVectorQueryTool({ ...options, databaseConfig: { pgvector } });
    expect(await idsOf(tool)).toEqual(['server']);
    const tooLarge = new RequestContext([['databaseConfig', { pgvector: { ef: 2000 } }]]);
    await expect(idsOf(tool, tooLarge as RequestContext)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  describe('pinecone', () => {
    const indexName = 'docs';
    let vectorStore: PineconeVector;
    beforeAll(async () => {
      vectorStore = new PineconeVector({ apiKey: 'key', controllerHostUrl: await service.listen() });
      await vectorStore.createIndex({ indexName, dimension: 64, metric: 'dotproduct' });
      const sparse = (index: number): object => ({ indices: [index], values: [100] });
      await seed(vectorStore, indexName, { namespace: 'production', sparseVectors: [9, 3, 8].map(sparse) });
      await vectorStore.upsert({
        indexName,
        namespace: 'runtime-namespace',
        ids: ['other'],
        vectors: await model.embed(['something else']),
      });
    });

    it('namespace and sparseVector', async () => {
      const sparseVector = { indices: [0, 1, 2, 3], values: [0.1, 0.2, 0.15, 0.05] };
      const options = { vectorStoreName: 'pinecone', vectorStore, indexName, model };
      const inProduction = { ...options, databaseConfig: { pinecone: { namespace: 'production' } } };
      expect((await idsOf(createVectorQueryTool(inProduction)))[0]).toBe('server');
      const tool = createVectorQueryTool({
        ...options,
        databaseConfig: { pinecone: { namespace: 'production', sparseVector } },
      });
      expect((await idsOf(tool))[0]).toBe('cooking');
      const requestContext = new RequestContext([['databaseConfig', { pinecone: { namespace: 'runtime-namespace' } }]]);
      expect(await idsOf(tool, requestContext as RequestContext)).toEqual(['other']);
    });
  });

  const chromaUrl = readTestVariable('QUIVER_CHROMA_URL');
  it.skipIf(chromaUrl === undefined)('chroma: where and whereDocument', async () => {
    const { hostname: host, port } = new URL(chromaUrl as string);
    const vectorStore = new ChromaVector({ host, port: Number(port) });
    const indexName = `documents-${process.pid}`;
    await vectorStore.createIndex({ indexName, dimension: 64 });
    await seed(vectorStore, indexName);
    const ask = (chroma: object): Promise<string[]> =>
      idsOf(
        createVectorQueryTool({ vectorStoreName: 'chroma', vectorStore, indexName, model, databaseConfig: { chroma } }),
      );
    const where = { category: 'technical', status: 'published' };
    expect(await ask({ where, whereDocument: { $contains: 'API' } })).toEqual(['server']);
    expect(await ask({ where: { category: 'technical' } })).toEqual(['server', 'client']);
    expect(await ask({ whereDocument: { $contains: 'cooking' } })).toEqual(['cooking']);
    const databaseConfig = { chroma: { whereDocument: { $contains: 'API' } } };
    const list = createVectorQueryTool({ mode: 'filter', vectorStore, indexName, model, databaseConfig });
    const { sources } = await list.execute({ filter: { status: 'published' } }, { onFailure: 'throw' });
    expect(sources.map(({ id }) => id)).toEqual(['server']);
    await vectorStore.deleteIndex({ indexName });
  });
});
