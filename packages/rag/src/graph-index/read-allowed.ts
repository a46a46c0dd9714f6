import type { VectorFilter, VectorStore } from '../store/index.js';
import { filterKey } from './graph-settings.js';
import type { IndexGraph } from './index-graph.js';

const pageSize = 10_000;
/** Answers kept for one graph: filters of models repeat. */
const maxKept = 16;

const keptOf = new WeakMap<IndexGraph, Map<string, ReadonlySet<string>>>();

export interface AllowedQuestion {
  readonly store: VectorStore;
  readonly indexName: string;
  readonly scopeFilter: VectorFilter;
  readonly filter: VectorFilter;
  readonly signal?: AbortSignal | undefined;
}

/** Which passages of a graph pass a filter, as the store understands it. */
export async function readAllowed(
  { store, indexName, scopeFilter, filter, signal }: AllowedQuestion,
  graph: IndexGraph,
): Promise<(id: string) => boolean> {
  const kept = keptOf.get(graph) ?? new Map<string, ReadonlySet<string>>();
  keptOf.set(graph, kept);
  const key = filterKey(filter);
  let allowed = kept.get(key);
  if (!allowed) {
    const both = scopeFilter ? { $and: [scopeFilter, filter] } : filter;
    allowed = await readIds(store, { indexName, filter: both, signal });
    kept.set(key, allowed);
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
  }
  const ids = allowed;
  return (id) => ids.has(id);
}

async function readIds(
  store: VectorStore,
  { indexName, filter, signal }: { indexName: string; filter: VectorFilter; signal: AbortSignal | undefined },
): Promise<Set<string>> {
  const ids = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await store.scan({
      indexName,
      filter,
      limit: pageSize,
      ...(cursor !== undefined && { cursor }),
      ...(signal && { signal }),
    });
    for (const { id } of page.records) ids.add(id);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return ids;
}
