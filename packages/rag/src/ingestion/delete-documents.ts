import type { VectorStore } from '../store/vector-store.js';
import { invalidArgument } from '../store/check-arguments.js';
import { defaultMaxRetries } from './ingest-target.js';
import { parseScope, type IngestScope } from './scope.js';
import { addSource, removeStale, type Sources } from './stale-chunks.js';

export interface DeleteDocumentsOptions {
  store: VectorStore;
  indexName: string;
  /** Values of `metadata.source` of the documents to delete. */
  sources: readonly unknown[];
  /** Scope that the documents were ingested with. Default: the documents of these sources in the whole index. */
  scope?: IngestScope;
  /** Attempts after the first for transient errors of the store. Default 6, in about 30 seconds. */
  maxRetries?: number;
  signal?: AbortSignal;
}

/**
 * Deletes all chunks that {@link ingest} stored for documents. Records from other programs stay, even if they have the same source.
 *
 * @returns the number of deleted chunks
 * @throws `INGEST_SCOPE_INVALID`; `VECTOR_ARGUMENT_INVALID` when `sources` is not a list of values; the abort reason; errors of the
 *   store, such as `VECTOR_INDEX_NOT_FOUND`
 * @example
 * await deleteDocuments({ store, indexName: 'docs', sources: ['guide.md'], scope: { tenant: 'b' } });
 */
export async function deleteDocuments(options: DeleteDocumentsOptions): Promise<number> {
  const { store, indexName, maxRetries = defaultMaxRetries, signal } = options;
  const scope = parseScope(options.scope);
  if (!Array.isArray(options.sources) || options.sources.some((source) => source === undefined || source === null))
    throw invalidArgument('sources must be a list of the values of metadata.source, without undefined and null.');
  const sources: Sources = new Map();
  for (const source of options.sources) addSource(sources, source);
  let deleted = 0;
  for await (const removed of removeStale({ store, indexName, maxRetries, signal }, { sources, scope }))
    deleted = removed;
  return deleted;
}
