import { evaluateFilter, parseFilter } from '../filter/index.js';
import type { VectorFilter, VectorRecord, VectorStore } from '../store/index.js';

export interface RecordsQuestion {
  readonly store: VectorStore;
  readonly indexName: string;
  readonly databaseConfig?: object | undefined;
  readonly scopeFilter: VectorFilter;
  readonly filter: VectorFilter;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Records of a graph as they are now, by id. One that was removed since, or was changed so that it passes the filters of the question
 * no longer, is left out: between the reading of a version and this, it may have become another tenant's.
 */
export async function readRecords(
  { store, indexName, databaseConfig, scopeFilter, filter, signal }: RecordsQuestion,
  ids: readonly string[],
): Promise<Map<string, VectorRecord>> {
  if (ids.length === 0) return new Map();
  const records = await store.get({ ...databaseConfig, indexName, ids, ...(signal && { signal }) });
  const filters = [scopeFilter, filter].flatMap((one) => (one ? [parseFilter(one)] : []));
  const allowed = records.filter(({ metadata }) => filters.every((one) => evaluateFilter(one, metadata)));
  return new Map(allowed.map((record) => [record.id, record]));
}
