import { createLexicalEmbedder, createVectorQueryTool, type VectorQueryTool } from '@quiver/rag';
import { PgVector, type PgConnectionOptions } from '@quiver/rag/pg';

const embedder = createLexicalEmbedder();
const indexName = 'notes';

export interface TenantRows {
  /** Stores a tenant's texts beside those of all others. */
  store(tenantId: string, texts: readonly string[]): Promise<void>;
  /** Answers from the rows that pass the filter in the request context; what the model filters by can only narrow it. */
  readonly tool: VectorQueryTool;
}

/** All tenants share a table; the field `tenant` tells their rows apart, and has an index. */
export async function filterPerTenant(connection: PgConnectionOptions, schemaName: string): Promise<TenantRows> {
  const store = new PgVector({ ...connection, schemaName });
  await store.createIndex({ indexName, dimension: embedder.dimension ?? 1024, metadataIndexes: ['tenant'] });
  return {
    async store(tenantId, texts) {
      const vectors = await embedder.embed(texts);
      await store.upsert({
        indexName,
        ids: texts.map((_, n) => `${tenantId}/${n}`),
        vectors,
        documents: texts,
        metadata: texts.map(() => ({ tenant: tenantId })),
      });
    },
    tool: createVectorQueryTool({ indexName, model: embedder, vectorStore: store, enableFilter: true }),
  };
}
