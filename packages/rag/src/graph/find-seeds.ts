import type { FusionWeights, QueryMode, VectorFilter, VectorMatch, VectorStore } from '../store/index.js';

/** Number of seeds. */
export const seedCount = 10;

export interface SeedQuery {
  readonly text: string;
  /** Absent in the mode `keyword`. */
  readonly vector: Float32Array | undefined;
}

export interface SeedSearch {
  readonly store: VectorStore;
  readonly indexName: string;
  readonly mode: QueryMode;
  readonly fusion: FusionWeights | undefined;
  readonly filter: VectorFilter;
  /** Settings of the store. */
  readonly databaseConfig: object | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Returns `hybrid` where the store supports it, otherwise its first mode. */
export function bestMode({ capabilities: { modes } }: VectorStore): QueryMode {
  return modes.includes('hybrid') ? 'hybrid' : (modes[0] ?? 'vector');
}

/** Returns the passages that match a query best. @throws `VECTOR_QUERY_UNSUPPORTED` when the store does not support the mode */
export async function findSeeds(
  { store, indexName, mode, fusion, filter, databaseConfig, signal }: SeedSearch,
  { text, vector }: SeedQuery,
  { topK = seedCount, includeVector = false }: { topK?: number; includeVector?: boolean } = {},
): Promise<VectorMatch[]> {
  return store.query({
    ...databaseConfig,
    indexName,
    mode,
    queryText: text,
    ...(vector && { queryVector: vector }),
    ...(mode === 'hybrid' && fusion && { fusion }),
    topK,
    filter,
    includeVector,
    ...(signal && { signal }),
  });
}
