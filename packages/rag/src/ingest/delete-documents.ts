import {
  unchecked,
  checkOptions,
  type OptionChecks,
  signalValue,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import { canonicalJson } from '../document/content-hash.js';
import { partsOf } from '../requests/parts-of.js';
import { storeValue } from '../store/options.js';
import type { VectorFilter, VectorRecord, VectorStore } from '../store/vector-store.js';
import { callStore, defaultMaxRetries, readPages, requireScope, type StoreAccess } from './ingest-target.js';
import { isInScope, isScalar, parseScope, toScopeFilter, type IngestScope, type RunScope } from '../store/scope.js';

/** Options of `deleteDocuments()`. */
export interface DeleteDocumentsOptions {
  /** Store of the index. */
  vectorStore: VectorStore;
  /** Index from which chunks are removed. */
  indexName: string;
  /** Values of `metadata.source` of the documents to delete. */
  sources: readonly unknown[];
  /**
   * Scope that the documents were ingested with; `'all'`: the documents of these sources in every scope and in none. Required for an index
   * with scopes.
   */
  scope?: IngestScope | 'all';
  /** Attempts after the first for transient errors of the store. Default 6, in about 30 seconds. */
  maxRetries?: number;
  /** Aborts the deletion. */
  signal?: AbortSignal | undefined;
}

const optionChecks: OptionChecks<DeleteDocumentsOptions> = {
  vectorStore: storeValue,
  ...unchecked<DeleteDocumentsOptions>()('indexName', 'sources', 'scope'),
  maxRetries: wholeNumber(0),
  signal: signalValue,
};

/**
 * Deletes all chunks that {@link ingest} stored for documents. Records from other programs stay, even if they have the same source.
 *
 * @returns the number of deleted chunks
 * @throws `INGEST_SCOPE_MISSING` without `scope` for an index with scopes; `INGEST_SCOPE_MISMATCH` for a scope with other keys than those of
 *   the index; `OPTIONS_INVALID` for an unknown option, and when `sources` is not a list of values; the abort reason; errors of the
 *   store, such as `VECTOR_INDEX_NOT_FOUND`
 * @example
 * await deleteDocuments({ vectorStore, indexName: 'docs', sources: ['guide.md'], scope: { tenant: 'b' } });
 */
export async function deleteDocuments(options: DeleteDocumentsOptions): Promise<number> {
  checkOptions('deleteDocuments', options, optionChecks);
  const { vectorStore: store, indexName, maxRetries = defaultMaxRetries, signal } = options;
  const scope = parseScope(options.scope);
  if (!Array.isArray(options.sources) || options.sources.some((source) => source === undefined || source === null))
    throw invalidOptions('sources must be a list of the values of metadata.source, without undefined and null.');
  const sources: Sources = new Map(options.sources.map((source) => [canonicalJson(source), source]));
  const access = { store, indexName, maxRetries, signal };
  await requireScope(access, scope);
  let deleted = 0;
  for await (const removed of removeStale(access, { sources, scope })) deleted = removed;
  return deleted;
}

export interface StaleChunks {
  keep?: ReadonlySet<string>;
  keepSources?: Sources;
  /** Limits the removal to chunks that `ingest` stored for these sources. Without it, every record is stale. */
  sources?: Sources;
  scope: RunScope;
  isDry?: boolean;
}

/** Larger pages than usual, because a store may have to find its position again for each page. */
const recordsPerPage = 5000;

/**
 * Removes stale chunks page by page.
 *
 * @returns the number of chunks removed so far, after each page
 * @throws the abort reason; errors of the store
 */
export async function* removeStale(
  access: StoreAccess,
  { keep, keepSources, sources, scope, isDry = false }: StaleChunks,
): AsyncGenerator<number> {
  const { indexName } = access;
  const isStale = ({ id, metadata }: VectorRecord): boolean =>
    !keep?.has(id) &&
    !keepSources?.has(canonicalJson(metadata['source'])) &&
    // Without a scope, the filter selects records of all owners. With one, this check protects them if a store filters incorrectly.
    isInScope(metadata, scope) &&
    (!sources || (metadata['embedder'] !== undefined && sources.has(canonicalJson(metadata['source']))));
  let removed = 0;
  for (const filter of toFilters(sources, scope)) {
    for await (const records of readPages(access, { filter, limit: recordsPerPage })) {
      const ids = records.filter(isStale).map(({ id }) => id);
      if (ids.length > 0 && !isDry)
        await callStore(access, (store, end) => store.deleteVectors({ indexName, ids, ...end }));
      removed += ids.length;
      yield removed;
    }
  }
}

/** Above this number, reading the whole scope takes less time than one query for each few sources. */
const maxListed = 1000;
const sourcesPerFilter = 100;

/** Filters that select at least the records of the sources, and none outside the scope. */
function toFilters(sources: Sources | undefined, scope: RunScope): VectorFilter[] {
  const conditions = toScopeFilter(scope);
  const listed = sources ? [...sources.values()] : undefined;
  if (!listed || listed.length > maxListed || !listed.every(isScalar)) return [conditions];
  return partsOf(listed, sourcesPerFilter).map((part) => ({ ...conditions, source: { $in: part } }));
}

/** Values of `metadata.source` of documents, by their canonical JSON. */
export type Sources = Map<string, unknown>;
