import { createLexicalEmbedder, createVectorQueryTool, ingest, MDocument, type VectorQueryTool } from '@quiver/rag';
import { PgVector, type PgConnectionOptions } from '@quiver/rag/pg';

const embedder = createLexicalEmbedder();
const indexName = 'handbook';

export interface TenantSchemas {
  /** Stores a tenant's documents in its schema. */
  store(tenantId: string, documents: Record<string, string>): Promise<void>;
  /** Searches the schema of the tenant in the request context. */
  readonly tool: VectorQueryTool;
}

/** Creates a separate schema for each tenant. The index names are equal, and no statement can read two schemas. */
export function schemaPerTenant(connection: PgConnectionOptions, prefix: string): TenantSchemas {
  const stores = new Map<string, PgVector>();
  const storeOf = (tenantId: string): PgVector => {
    let store = stores.get(tenantId);
    // PgVector rejects schema names that are not identifiers.
    if (!store) stores.set(tenantId, (store = new PgVector({ ...connection, schemaName: `${prefix}${tenantId}` })));
    return store;
  };
  return {
    async store(tenantId, documents) {
      const texts = Object.entries(documents).map(([source, text]) => MDocument.fromText(text, { source }));
      await ingest({ documents: texts, vectorStore: storeOf(tenantId), indexName, model: embedder });
    },
    tool: createVectorQueryTool({
      indexName,
      model: embedder,
      mode: 'hybrid',
      vectorStore: ({ requestContext }) => {
        const tenantId = requestContext?.get('tenantId');
        if (typeof tenantId !== 'string') throw new Error('The request context has no tenantId.');
        return storeOf(tenantId);
      },
    }),
  };
}
