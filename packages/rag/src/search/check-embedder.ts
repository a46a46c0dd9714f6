import { isQuiverError, QuiverError } from '@quiver/core';
import type { Embedder } from '../embedding/index.js';
import type { IndexRead } from '../store/index-read.js';
import type { VectorMatch, VectorMetadata, VectorStore } from '../store/vector-store.js';

/** An index that is searched by vectors of an embedder. */
export interface EmbeddedQuery {
  readonly store: VectorStore;
  readonly read: IndexRead;
  readonly embedder: Embedder;
}

/**
 * Runs a search by vectors, and rejects it if another embedder made the vectors of the index. Records of `ingest` name their embedder, so the
 * results tell it without a request.
 *
 * @throws `QUERY_EMBEDDER_CHANGED`; `VECTOR_DIMENSION_MISMATCH`; errors of the search
 */
export async function withSameEmbedder(
  query: EmbeddedQuery,
  search: () => Promise<VectorMatch[]>,
): Promise<VectorMatch[]> {
  let matches: VectorMatch[];
  try {
    matches = await search();
  } catch (error) {
    if (isQuiverError(error, 'VECTOR_DIMENSION_MISMATCH')) await explainDimension(query, error);
    throw error;
  }
  for (const { metadata } of matches) requireSame(query, metadata);
  return matches;
}

function requireSame({ read: { indexName }, embedder }: EmbeddedQuery, { embedder: existing }: VectorMetadata): void {
  if (typeof existing !== 'string' || existing === embedder.id) return;
  throw new QuiverError(
    'QUERY_EMBEDDER_CHANGED',
    `The index '${indexName}' was made with the embedder '${existing}', and the query with '${embedder.id}'. Their vectors cannot be compared: pass the embedder of the index as model, or ingest the documents into another index with '${embedder.id}'.`,
    { details: { indexName, existing, requested: embedder.id } },
  );
}

/** @throws the error that names the reason, if a record of the index tells it */
async function explainDimension(query: EmbeddedQuery, cause: unknown): Promise<void> {
  const { store, embedder, read } = query;
  const { indexName } = read;
  const { records } = await store.listVectors({ ...read, filter: undefined, limit: 1 }).catch(() => ({ records: [] }));
  const [first] = records;
  if (!first) return;
  requireSame(query, first.metadata);
  if (first.metadata['embedder'] === undefined) return;
  const { details } = cause as QuiverError;
  throw new QuiverError(
    'VECTOR_DIMENSION_MISMATCH',
    `The index '${indexName}' and the query have vectors of different length, although '${embedder.id}' made both: ${JSON.stringify(details)}. If a wrong response of the embedder created the index, delete it with store.deleteIndex({ indexName: '${indexName}' }) and ingest the documents again.`,
    { cause, details },
  );
}
