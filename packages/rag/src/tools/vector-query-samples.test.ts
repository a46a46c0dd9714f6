// The samples of the documentation that Quiver keeps working, unchanged. The application's part is set up here:
// stores by their names, an agent's query, and an embedder that needs no key, which the request context sets.
import { RuntimeContext } from '@quiver/core/compat';
import { ModelRouterEmbeddingModel } from '@quiver/core/llm';
import { RequestContext } from '@quiver/core/request-context';
import { getToolId } from '@quiver/core/tools';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createVectorQueryTool as createV0Tool } from '../compat/index.js';
import { createLexicalEmbedder } from '../embedding/index.js';
import { ingest } from '../ingest/ingest.js';
import { MDocument } from '../document/document.js';
import type { QueryParams, VectorFilter, VectorMatch } from '../store/index.js';
import { LocalVector } from '../stores/local/index.js';
import { PgVector, type PgVectorOptions } from '../stores/pg/index.js';
import { pgliteForTests } from '../stores/pg/open-stores.fixture.js';
import type { DatabaseConfig } from '../store/scope.js';
import type { VectorQueryToolOptions, VectorStoreResolver } from './query-tool-options.js';
import { createVectorQueryTool as createTool, type VectorQueryTool } from './vector-query-tool.js';

const embedder = createLexicalEmbedder();
const asked: QueryParams[] = [];

/** A store that tells what it was asked. */
class RecordingStore extends LocalVector {
  override readonly databaseConfigKey: 'local';
  constructor(databaseConfigKey: string) {
    super();
    this.databaseConfigKey = databaseConfigKey as 'local';
  }
  override query(params: QueryParams): Promise<VectorMatch[]> {
    asked.push(params);
    // Settings of other stores are none of this one.
    const { indexName, queryText = '', queryVector = [], topK = 10, filter, includeVector = false } = params;
    return super.query({ indexName, queryText, queryVector, topK, filter, includeVector });
  }
}

const texts = ['Deployment: run npm run deploy.', 'The API needs a key.', 'Company policies: be kind.'];
async function fill(store: LocalVector | PgVector, indexName: string): Promise<void> {
  const documents = texts.map((text, n) =>
    MDocument.fromText(text, { source: String(n), category: n === 1 ? 'docs' : 'other', version: n + 1.5 }),
  );
  await ingest({ documents, vectorStore: store, indexName, model: embedder });
}

let stores: Record<string, RecordingStore>;
beforeEach(async () => {
  asked.length = 0;
  stores = {
    pinecone: new RecordingStore('pinecone'),
    postgres: new RecordingStore('pgvector'),
    chroma: new RecordingStore('chroma'),
    milvus: new RecordingStore('milvus'),
    'my-store': new RecordingStore('pinecone'),
  };
  for (const store of Object.values(stores))
    for (const indexName of ['docs', 'documentation', 'documents', 'embeddings', 'my-index'])
      await fill(store, indexName);
});

/** An application that keeps its stores by name. */
function createVectorQueryTool(options: VectorQueryToolOptions): VectorQueryTool {
  const byName: VectorStoreResolver = ({ requestContext }) =>
    stores[requestContext?.get('vectorStoreName') ?? options.vectorStoreName] as RecordingStore;
  return createTool({ vectorStore: byName, ...options });
}

/** Asks with an embedder that needs no key, unless the context of the sample sets another. */
const ask = (tool: VectorQueryTool, queryText: string, input: object = {}, requestContext = new RequestContext()) => {
  requestContext.set('model', embedder);
  return tool.execute({ queryText, ...input }, { onFailure: 'throw', requestContext });
};

describe('samples of createVectorQueryTool', () => {
  it('basic usage, and a custom description', async () => {
    const queryTool = createVectorQueryTool({
      vectorStoreName: 'pinecone',
      indexName: 'docs',
      model: new ModelRouterEmbeddingModel('openai/text-embedding-3-small'),
    });
    expect(getToolId(queryTool)).toBe('VectorQuery pinecone docs Tool');
    const { relevantContext, sources } = await ask(queryTool, 'How does deployment work?');
    expect(relevantContext.startsWith('[1] (0)\nDeployment: run npm run deploy.')).toBe(true);
    expect(sources[0]).toEqual({
      id: expect.any(String),
      metadata: expect.objectContaining({ source: '0' }),
      vector: [],
      score: expect.any(Number),
      confidence: expect.any(Number),
      document: 'Deployment: run npm run deploy.',
    });
    expect(asked[0]?.topK).toBe(20);

    const described = createVectorQueryTool({
      vectorStoreName: 'pinecone',
      indexName: 'docs',
      model: new ModelRouterEmbeddingModel('openai/text-embedding-3-small'),
      description:
        'Search through document archives to find relevant information for answering questions about company policies and procedures',
    });
    expect(described.description).toMatch(/^Search through document archives/);
  });

  it('filters', async () => {
    const queryTool = createVectorQueryTool({
      vectorStoreName: 'pinecone',
      indexName: 'docs',
      model: new ModelRouterEmbeddingModel('openai/text-embedding-3-small'),
      enableFilter: true,
    });
    const { sources } = await ask(queryTool, 'API', { filter: '{ "version": { "$gt": 2.0 } }' });
    expect(sources.map(({ metadata }) => metadata['version'])).toEqual([2.5, 3.5]);
  });

  it('reranking', async () => {
    const queryTool = createVectorQueryTool({
      vectorStoreName: 'milvus',
      indexName: 'documentation',
      model: new ModelRouterEmbeddingModel('openai/text-embedding-3-small'),
      reranker: {
        model: 'openai/gpt-5.1',
        options: {
          weights: {
            semantic: 0.5, // Semantic relevance weight
            vector: 0.3, // Vector similarity weight
            position: 0.2, // Original position weight
          },
          topK: 5,
        },
      },
    });
    // The same options with a model that needs no key, as the request context may set them.
    const kind = { getRelevanceScore: async (_question: string, text: string) => (text.includes('kind') ? 1 : 0) };
    const requestContext = new RequestContext<Record<string, unknown>>([
      ['reranker', { model: kind, options: { topK: 2 } }],
    ]);
    const { sources } = await ask(queryTool, 'rules', {}, requestContext as RequestContext);
    expect(sources.map(({ document }) => document)).toEqual(['Company policies: be kind.', expect.any(String)]);
  });

  it.each<[string, string, DatabaseConfig, object]>([
    [
      'pinecone',
      'docs',
      {
        pinecone: { namespace: 'production', sparseVector: { indices: [0, 1, 2, 3], values: [0.1, 0.2, 0.15, 0.05] } },
      },
      { namespace: 'production', sparseVector: { indices: [0, 1, 2, 3], values: [0.1, 0.2, 0.15, 0.05] } },
    ],
    [
      'postgres',
      'embeddings',
      { pgvector: { minScore: 0.7, ef: 200, probes: 10 } },
      { minScore: 0.7, ef: 200, probes: 10 },
    ],
    [
      'chroma',
      'documents',
      { chroma: { where: { category: 'technical', status: 'published' }, whereDocument: { $contains: 'API' } } },
      { where: { category: 'technical', status: 'published' }, whereDocument: { $contains: 'API' } },
    ],
  ])('configuration of %s reaches the store', async (vectorStoreName, indexName, databaseConfig, expected) => {
    const queryTool = createVectorQueryTool({
      vectorStoreName,
      indexName,
      model: new ModelRouterEmbeddingModel('openai/text-embedding-3-small'),
      databaseConfig,
    });
    await ask(queryTool, 'API');
    expect(asked).toEqual([expect.objectContaining({ ...expected, indexName })]);
  });

  it('configurations of several databases: each store gets its own', async () => {
    const multiDbQueryTool = createVectorQueryTool({
      vectorStoreName: 'dynamic-store', // Will be set at runtime
      indexName: 'docs',
      model: new ModelRouterEmbeddingModel('openai/text-embedding-3-small'),
      databaseConfig: {
        pinecone: {
          namespace: 'default',
        },
        pgvector: {
          minScore: 0.8,
          ef: 150,
        },
        chroma: {
          where: { type: 'documentation' },
        },
      },
    });
    await ask(multiDbQueryTool, 'API', {}, new RequestContext([['vectorStoreName', 'chroma']]) as RequestContext);
    expect(asked[0]).toMatchObject({ where: { type: 'documentation' } });
    expect(asked[0]).not.toHaveProperty('namespace');
    expect(asked[0]).not.toHaveProperty('ef');
  });

  it('configuration at run time, by an agent', async () => {
    const queryTool = createVectorQueryTool({
      vectorStoreName: 'pinecone',
      indexName: 'docs',
      model: new ModelRouterEmbeddingModel('openai/text-embedding-3-small'),
      databaseConfig: {
        pinecone: {
          namespace: 'development',
        },
      },
    });
    const agent = {
      generate: (question: string, options: { requestContext: RequestContext }) =>
        ask(queryTool, question, {}, options.requestContext),
    };

    // Override at runtime
    const requestContext = new RequestContext();
    requestContext.set('databaseConfig', {
      pinecone: {
        namespace: 'production', // Switch to production namespace
      },
    });

    const response = await agent.generate('Find information about deployment', {
      requestContext,
    });
    expect(response.sources[0]?.document).toMatch(/^Deployment/);
    expect(asked).toEqual([expect.objectContaining({ namespace: 'production' })]);
  });

  it('everything from the request context', async () => {
    const queryTool = createVectorQueryTool({
      vectorStoreName: 'pinecone',
      indexName: 'docs',
      model: new ModelRouterEmbeddingModel('openai/text-embedding-3-small'),
    });
    const requestContext = new RequestContext<{
      vectorStoreName: string;
      indexName: string;
      topK: number;
      filter: VectorFilter;
      databaseConfig: DatabaseConfig;
      model: unknown;
    }>();
    requestContext.set('vectorStoreName', 'my-store');
    requestContext.set('indexName', 'my-index');
    requestContext.set('topK', 5);
    requestContext.set('filter', { category: 'docs' });
    requestContext.set('databaseConfig', {
      pinecone: { namespace: 'runtime-namespace' },
    });
    requestContext.set('model', embedder);
    const { sources } = await queryTool.execute(
      { queryText: 'Find documentation from the knowledge base.' },
      { onFailure: 'throw', requestContext },
    );
    expect(sources.map(({ document }) => document)).toEqual(['The API needs a key.']);
    expect(asked).toEqual([
      expect.objectContaining({
        indexName: 'my-index',
        filter: { category: 'docs' },
        namespace: 'runtime-namespace',
      }),
    ]);
  });

  describe('with PgVector', () => {
    const database = pgliteForTests();
    afterAll(() => database.close());
    let config: PgVectorOptions;
    beforeEach(async () => {
      config = await database.open();
    });

    it('usage without a server, also in the older form', async () => {
      const pgVector = new PgVector({
        id: 'pg-vector',
        ...config,
      });
      await fill(pgVector, 'embeddings');

      const vectorQueryTool = createTool({
        vectorStoreName: 'pgVector', // optional since we're passing in a store
        vectorStore: pgVector,
        indexName: 'embeddings',
        model: embedder,
      });

      const requestContext = new RequestContext();
      const queryResult = await vectorQueryTool.execute(
        { queryText: 'policies', topK: 1 },
        { onFailure: 'throw', requestContext },
      );
      expect(queryResult.sources.map(({ document }) => document)).toEqual(['Company policies: be kind.']);

      const v0Tool = createV0Tool({
        vectorStoreName: 'pgVector',
        vectorStore: pgVector,
        indexName: 'embeddings',
        model: embedder,
      });
      const runtimeContext = new RuntimeContext();
      const v0Result = await v0Tool.execute(
        {
          context: { queryText: 'policies', topK: 1 },
          runtimeContext,
        },
        { onFailure: 'throw' },
      );
      expect(v0Result).toEqual(queryResult);
    });

    it('a store for each tenant', async () => {
      // Cache for tenant-specific vector stores
      const vectorStoreCache = new Map<string, PgVector>();

      // Resolver function that returns the correct vector store based on tenant
      const vectorStoreResolver: VectorStoreResolver = async ({ requestContext }) => {
        const tenantId = requestContext?.get('tenantId');

        if (!tenantId) {
          throw new Error('tenantId is required in request context');
        }

        // Return cached instance or create new one
        if (!vectorStoreCache.has(tenantId)) {
          vectorStoreCache.set(
            tenantId,
            new PgVector({
              ...config,
              id: `pg-vector-${tenantId}`,
              schemaName: `${config.schemaName}_${tenantId.replace('-', '_')}`, // Each tenant has their own schema
            }),
          );
        }

        return vectorStoreCache.get(tenantId)!;
      };

      const vectorQueryTool = createTool({
        indexName: 'embeddings',
        model: embedder,
        vectorStore: vectorStoreResolver, // Dynamic resolution!
      });

      // Usage with tenant context
      const requestContext = new RequestContext();
      requestContext.set('tenantId', 'acme-corp');
      await fill((await vectorStoreResolver({ requestContext })) as PgVector, 'embeddings');

      const result = await vectorQueryTool.execute(
        { queryText: 'company policies', topK: 5 },
        { onFailure: 'throw', requestContext },
      );
      expect(result.sources[0]?.document).toBe('Company policies: be kind.');

      requestContext.set('tenantId', 'other');
      await expect(
        vectorQueryTool.execute({ queryText: 'company policies' }, { onFailure: 'throw', requestContext }),
      ).rejects.toMatchObject({
        code: 'VECTOR_INDEX_NOT_FOUND',
      });
      await expect(vectorQueryTool.execute({ queryText: 'company policies' }, { onFailure: 'throw' })).rejects.toThrow(
        'tenantId is required',
      );
    });
  });
});
