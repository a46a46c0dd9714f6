import {
  createLexicalEmbedder,
  createVectorQueryTool,
  deleteDocuments,
  ingest,
  MDocument,
  type IngestReport,
  type VectorQueryTool,
} from '@quiver/rag';
import { PgVector, type PgConnectionOptions } from '@quiver/rag/pg';

const embedder = createLexicalEmbedder();
const indexName = 'notes';

export interface TenantRows {
  /** Makes the rows of a tenant match its documents. Rows of other tenants stay, even if their documents have the same names. */
  store(tenantId: string, documents: Record<string, string>): Promise<IngestReport>;
  /** Deletes documents of a tenant, and returns the number of deleted rows. */
  remove(tenantId: string, sources: readonly string[]): Promise<number>;
  /** Searches the rows that match the filter in the request context. A filter from the model can only narrow it. */
  readonly tool: VectorQueryTool;
}

/** Creates one table for all tenants. The indexed field `tenant` separates their rows. */
export async function filterPerTenant(connection: PgConnectionOptions, schemaName: string): Promise<TenantRows> {
  const store = new PgVector({ ...connection, schemaName });
  await store.createIndex({ indexName, dimension: embedder.dimension ?? 1024, metadataIndexes: ['tenant'] });
  return {
    store(tenantId, documents) {
      const texts = Object.entries(documents).map(([source, text]) => MDocument.fromText(text, { source }));
      const scope = { tenant: tenantId };
      return ingest({ documents: texts, vectorStore: store, indexName, model: embedder, scope, cleanup: 'all' });
    },
    remove: (tenantId, sources) =>
      deleteDocuments({ vectorStore: store, indexName, sources, scope: { tenant: tenantId } }),
    tool: createVectorQueryTool({ indexName, model: embedder, vectorStore: store, enableFilter: true }),
  };
}
