import type { FusionWeights, QueryMode, VectorFilter, VectorMatch, VectorStore } from '../store/index.js';

/** Passages that a walk starts at. */
export const seedCount = 10;

export interface Question {
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
  /** The block of the store's own settings. */
  readonly databaseConfig: object | undefined;
  readonly signal: AbortSignal | undefined;
}

/** By words and vectors where the store can, otherwise as it can. */
export function bestMode({ capabilities: { modes } }: VectorStore): QueryMode {
  return modes.includes('hybrid') ? 'hybrid' : (modes[0] ?? 'vector');
}

/** The passages that match a question best. @throws `VECTOR_QUERY_UNSUPPORTED` when the store does not have the mode */
export async function findSeeds(
  { store, indexName, mode, fusion, filter, databaseConfig, signal }: SeedSearch,
  { text, vector }: Question,
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
