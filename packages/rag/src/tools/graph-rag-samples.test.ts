// The samples of the documentation about the graph tool, unchanged. The application's part is set up here: stores
// by their names, an agent's query, and an embedder that needs no key, which the request context sets.
import { RuntimeContext } from '@quiver/core/compat';
import { ModelRouterEmbeddingModel } from '@quiver/core/llm';
import { RequestContext } from '@quiver/core/request-context';
import { getToolId } from '@quiver/core/tools';
import { afterAll, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { readTestVariable } from '../../../../scripts/test-variable.ts';
import { createGraphRAGTool as createV0Tool } from '../compat/index.js';
import { createLexicalEmbedder } from '../embedding/index.js';
import { buildGraph } from '../graph/graph-of-index.js';
import type { GraphOptions } from '../graph/graph-options.js';
import { LocalVector } from '../stores/local/index.js';
import { PgVector as PgStore, type PgVectorOptions } from '../stores/pg/index.js';
import { pgliteForTests, postgresForTests } from '../stores/pg/open-stores.fixture.js';
import { FakePinecone } from '../stores/pinecone/fake-pinecone.fixture.js';
import { PineconeVector } from '../stores/pinecone/index.js';
import type { VectorStore } from '../store/index.js';
import { createGraphRAGTool as createTool, type GraphRAGTool, type GraphRAGToolOptions } from './graph-rag-tool.js';
import type { VectorStoreResolver } from './query-tool-options.js';

const postgresUrl = readTestVariable('QUIVER_POSTGRES_URL');
const embedder = createLexicalEmbedder({ dimension: 1536 });
const texts = [
  'Ada Quill works at the Bremer Institute.',
  'The Bremer Institute was founded by Otto Lindqvist.',
  'Otto Lindqvist collected maps of harbours.',
];

async function fill(store: VectorStore, indexName: string, prefix = ''): Promise<void> {
  await store.createIndex({ indexName, dimension: 1536 });
  await store.upsert({
    indexName,
    ids: texts.map((_text, n) => `${prefix}${n}`),
    vectors: await embedder.embed(texts),
    documents: texts,
    metadata: texts.map((_text, n) => ({ category: n < 2 ? 'docs' : 'other' })),
  });
}

let stores: Record<string, LocalVector>;
beforeEach(async () => {
  stores = { pinecone: new LocalVector(), 'my-store': new LocalVector() };
  await fill(stores['pinecone'] as LocalVector, 'docs');
  await fill(stores['my-store'] as LocalVector, 'my-index');
});

/** An application that keeps its stores by name. */
const byName: VectorStoreResolver = ({ requestContext }) =>
  stores[(requestContext?.get('vectorStoreName') as string | undefined) ?? 'pinecone'] as LocalVector;
const createGraphRAGTool = (options: GraphRAGToolOptions): GraphRAGTool =>
  createTool({ vectorStore: byName, ...options });

/** Asks with an embedder that needs no key, unless the context of the sample sets another. */
const ask = (tool: GraphRAGTool, queryText: string, requestContext = new RequestContext()) => {
  requestContext.set('model', embedder);
  return tool.execute({ queryText }, { onFailure: 'throw', requestContext });
};

describe('samples of createGraphRAGTool', () => {
  it('usage', async () => {
    const graphTool = createGraphRAGTool({
      vectorStoreName: 'pinecone',
      indexName: 'docs',
      model: new ModelRouterEmbeddingModel('openai/text-embedding-3-small'),
      graphOptions: {
        dimension: 1536,
        threshold: 0.7,
        randomWalkSteps: 100,
        restartProb: 0.15,
      },
    });
    expect(getToolId(graphTool)).toBe('GraphRAG pinecone docs Tool');
    expect(graphTool.description).toMatch(/relationships between/);
    const { relevantContext, sources } = await ask(graphTool, 'Where does Ada Quill work?');
    for (const text of texts) expect(relevantContext).toContain(text);
    expect(sources[0]).toEqual({
      id: '0',
      metadata: { category: 'docs' },
      vector: [],
      score: 1,
      confidence: expect.any(Number),
      document: texts[0],
      path: [],
    });
    expectTypeOf<GraphOptions>().toHaveProperty('restartProb');
  });

  it('more steps, and a higher threshold', async () => {
    const graphTool = createGraphRAGTool({
      vectorStoreName: 'pinecone',
      indexName: 'docs',
      model: new ModelRouterEmbeddingModel('openai/text-embedding-3-small'),
      graphOptions: {
        dimension: 1536,
        threshold: 0.8, // Higher similarity threshold
        randomWalkSteps: 200, // More exploration steps
        restartProb: 0.2, // Higher restart probability
      },
    });
    expect((await ask(graphTool, 'Ada Quill')).sources).toHaveLength(3);
  });

  it('custom description, and a model string with white space', async () => {
    const graphTool = createGraphRAGTool({
      vectorStoreName: 'pinecone',
      indexName: 'docs',
      model: 'openai/text-embedding-3-small	',
      description:
        "Analyze document relationships to find complex patterns and connections in our company's historical data",
    });
    expect(graphTool.description).toMatch(/^Analyze document relationships/);
    expect((await ask(graphTool, 'Ada Quill')).sources[0]?.id).toBe('0');
  });

  it('the request context decides', async () => {
    const graphTool = createGraphRAGTool({
      vectorStoreName: 'pinecone',
      indexName: 'docs',
      model: 'openai/text-embedding-3-small	',
    });
    const requestContext = new RequestContext<{
      vectorStoreName: string;
      indexName: string;
      topK: number;
      // oxlint-disable-next-line typescript/no-explicit-any -- as the sample has it
      filter: any;
      randomWalkSteps: number;
      restartProb: number;
    }>();
    requestContext.set('vectorStoreName', 'my-store');
    requestContext.set('indexName', 'my-index');
    requestContext.set('topK', 5);
    requestContext.set('filter', { category: 'docs' });
    requestContext.set('randomWalkSteps', 100);
    requestContext.set('restartProb', 0.15);
    const { sources, graph } = await ask(
      graphTool,
      'Find documentation from the knowledge base.',
      requestContext as RequestContext,
    );
    expect(sources.every(({ metadata }) => metadata['category'] === 'docs')).toBe(true);
    expect(graph.nodes).toBe(2);
  });

  it('the older generation', async () => {
    const graphTool = createV0Tool({
      vectorStoreName: 'pinecone',
      indexName: 'docs',
      model: 'openai/text-embedding-3-small',
      vectorStore: byName,
    });
    const runtimeContext = new RuntimeContext<Record<string, unknown>>();
    runtimeContext.set('vectorStoreName', 'my-store');
    runtimeContext.set('indexName', 'my-index');
    runtimeContext.set('topK', 5);
    runtimeContext.set('filter', { category: 'docs' });
    runtimeContext.set('randomWalkSteps', 100);
    runtimeContext.set('restartProb', 0.15);
    runtimeContext.set('model', embedder);
    const { sources, graph } = await graphTool.execute(
      { context: { queryText: 'Ada Quill' }, runtimeContext },
      { onFailure: 'throw' },
    );
    expect(sources[0]).toMatchObject({ id: '0', score: 1 });
    expect(graph.nodes).toBe(2);
  });
});

for (const database of [pgliteForTests(), ...(postgresUrl === undefined ? [] : [postgresForTests(postgresUrl)])]) {
  describe(`the graph tool over a schema for each tenant in ${database.name}`, () => {
    afterAll(() => database.close());

    it('keeps tenants apart, makes each graph once, and keeps it in a table where there is one', async () => {
      const configs = new Map<unknown, PgVectorOptions>();
      for (const tenant of ['a', 'b']) {
        const config = await database.open();
        configs.set(tenant, config);
        const store = new PgStore(config);
        await fill(store, 'embeddings', tenant);
        if (tenant === 'a')
          await buildGraph({ vectorStore: store, indexName: 'embeddings', graphOptions: { dimension: 1536 } });
      }
      let scans = 0;
      class PgVector extends PgStore {
        override listVectors(params: Parameters<PgStore['listVectors']>[0]): ReturnType<PgStore['listVectors']> {
          scans += 1;
          return super.listVectors(params);
        }
      }

      const vectorStoreResolver: VectorStoreResolver = async ({ requestContext }) => {
        const tenantId = requestContext?.get('tenantId');

        return new PgVector({
          id: `pg-vector-${tenantId as string}`,
          ...(configs.get(tenantId) as PgVectorOptions),
        });
      };

      const graphTool = createTool({
        indexName: 'embeddings',
        model: new ModelRouterEmbeddingModel('openai/text-embedding-3-small'),
        vectorStore: vectorStoreResolver,
      });
      const askAs = (tenantId: string) =>
        ask(
          graphTool,
          'Where does Ada Quill work?',
          new RequestContext([['tenantId', tenantId]] as [string, unknown][]),
        );
      const first = await askAs('a');
      expect(first.sources.map(({ id }) => id).toSorted()).toEqual(['a0', 'a1', 'a2']);
      expect(first.graph.complete).toBe(true);
      // A separate store for each call: it reads the graph from the table.
      expect(await askAs('a')).toEqual(first);
      expect(scans).toBe(0);
      // Without the table nothing is kept, and nothing fails.
      const other = await askAs('b');
      expect(other.sources.map(({ id }) => id).toSorted()).toEqual(['b0', 'b1', 'b2']);
      expect(scans).toBe(1);

      const store = new PgStore(configs.get('a') as PgVectorOptions);
      await store.deleteVector({ indexName: 'embeddings', id: 'a1' });
      const after = await askAs('a');
      expect(after.sources.map(({ id }) => id)).toEqual(['a0']);
      expect(after.graph.nodes).toBe(2);
      expect(scans).toBe(2);
      expect(await askAs('a')).toEqual(after);
      expect(scans).toBe(2);
    });

    it('answers who may read an index, but not what is derived from it', async (context) => {
      const config = await database.open();
      if (!('pglite' in config && config.pglite)) return context.skip('A pool has connections of other roles.');
      const { pglite, schemaName } = config;
      const role = `reader_of_${schemaName}`;
      const owner = new PgStore(config);
      await fill(owner, 'embeddings');
      await buildGraph({ vectorStore: owner, indexName: 'embeddings' });
      const tool = createTool({ indexName: 'embeddings', model: embedder, vectorStore: () => new PgStore(config) });
      const expected = await tool.execute({ queryText: 'Ada Quill' }, { onFailure: 'throw' });
      for (const sql of [
        `CREATE ROLE "${role}"`,
        `GRANT USAGE ON SCHEMA "${schemaName}" TO "${role}"`,
        `GRANT SELECT ON "${schemaName}"."embeddings" TO "${role}"`,
        `SET ROLE "${role}"`,
      ])
        await pglite.query(sql);
      try {
        await expect(owner.derived.read({ indexName: 'embeddings', name: 'any' })).rejects.toThrow(/permission denied/);
        expect(await tool.execute({ queryText: 'Ada Quill' }, { onFailure: 'throw' })).toEqual(expected);
      } finally {
        await pglite.query('RESET ROLE');
      }
    });
  });
}

describe('the graph tool over Pinecone', () => {
  const service = new FakePinecone();
  afterAll(() => service.close());

  it('explores a namespace from the seeds, for the store cannot tell when its data change', async () => {
    const store = new PineconeVector({ apiKey: 'key', controllerHostUrl: await service.listen(), namespace: 'ours' });
    await fill(store, 'docs');
    const tool = createTool({ indexName: 'docs', model: embedder, vectorStore: store });
    const { sources, graph } = await tool.execute({ queryText: 'Where does Ada Quill work?' }, { onFailure: 'throw' });
    expect(sources.map(({ id }) => id).toSorted()).toEqual(['0', '1', '2']);
    expect(graph).toEqual({ complete: false, nodes: 3, edges: expect.any(Number), seeds: 'vector' });
    const requestContext = new RequestContext([['databaseConfig', { pinecone: { namespace: 'theirs' } }]] as [
      string,
      unknown,
    ][]);
    expect((await tool.execute({ queryText: 'Ada Quill' }, { onFailure: 'throw', requestContext })).sources).toEqual(
      [],
    );
  });
});
