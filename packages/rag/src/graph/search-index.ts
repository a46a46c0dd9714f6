import type { FusionWeights, QueryMode, VectorFilter, VectorMatch, VectorStore } from '../store/index.js';
import { buildChunkGraph } from './build-chunk-graph.js';
import type { ChunkGraph } from './chunk-graph.js';
import type { EdgeOptions } from './edge-options.js';
import { toPassage } from './passage.js';
import { namesIn } from './term-edges.js';

/** Number of seeds. */
const seedCount = 10;

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

/** Passages whose neighbors are requested in each round. With the search for the seeds that makes 21 queries at most. */
const expandedPerRound = 10;
const rounds = 2;
const neighborsPerQuery = 10;
const queriesAtOnce = 4;

export interface ExploredIndex {
  readonly graph: ChunkGraph;
  readonly seeds: readonly VectorMatch[];
  /** Records that were read, by id. */
  readonly records: ReadonlyMap<string, VectorMatch>;
}

export interface ExploreOptions {
  readonly search: SeedSearch;
  readonly seeds: readonly VectorMatch[];
  readonly edges: EdgeOptions;
  readonly restartProb: number;
}

/**
 * Builds the graph around the seeds, for an index that is too large for a graph of all passages. It requests the neighbors of the
 * seeds from the store, and then of the passages that rank best so far. A neighbor is similar to a passage or, where the store
 * supports keyword search, shares its names.
 *
 * @param options.seeds - with their vectors
 */
export async function exploreIndex({ search, seeds, edges, restartProb }: ExploreOptions): Promise<ExploredIndex> {
  const records = new Map(seeds.map((seed) => [seed.id, seed]));
  const expanded = new Set<string>();
  let graph = await connect(records, edges, search.signal);
  for (let round = 0; round < rounds; round += 1) {
    const ranked = graph.rank({ seeds, restartProb, topK: seedCount + expandedPerRound * rounds });
    const next = ranked
      .map(({ id }) => id)
      .filter((id) => !expanded.has(id))
      .slice(0, expandedPerRound);
    if (next.length === 0) break;
    for (const id of next) expanded.add(id);
    for (let first = 0; first < next.length; first += queriesAtOnce) {
      const batch = next.slice(first, first + queriesAtOnce).map((id) => records.get(id) as VectorMatch);
      const found = await Promise.all(batch.map((record) => findNeighbors(search, record)));
      for (const match of found.flat()) if (!records.has(match.id)) records.set(match.id, match);
    }
    graph = await connect(records, edges, search.signal);
  }
  return { graph, seeds, records };
}

async function findNeighbors(search: SeedSearch, record: VectorMatch): Promise<VectorMatch[]> {
  const { title, document } = toPassage(record);
  const names = [...namesIn(document, title)].join(' ');
  const canFindNames = search.store.capabilities.modes.includes('hybrid') && names !== '';
  return findSeeds(
    { ...search, mode: canFindNames ? 'hybrid' : 'vector', fusion: undefined },
    { text: names, vector: Float32Array.from(record.vector ?? []) },
    { topK: neighborsPerQuery + 1, includeVector: true },
  );
}

function connect(
  records: ReadonlyMap<string, VectorMatch>,
  edges: EdgeOptions,
  signal: AbortSignal | undefined,
): Promise<ChunkGraph> {
  const all = [...records.values()];
  return buildChunkGraph({
    passages: all.map(toPassage),
    vectors: Float32Array.from(all.flatMap(({ vector = [] }) => vector)),
    dimension: all[0]?.vector?.length ?? 1,
    edges,
    signal,
  });
}
