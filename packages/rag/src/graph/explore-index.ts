import type { FusionWeights, QueryMode, VectorMatch } from '../store/index.js';
import { buildChunkGraph } from './build-chunk-graph.js';
import type { ChunkGraph } from './chunk-graph.js';
import type { EdgeOptions } from './graph-options.js';
import { toPassage } from './passage.js';
import { namesIn } from './term-edges.js';

/** Search in an index with the filters of a query. */
export type IndexSearch = (query: {
  readonly mode: QueryMode;
  readonly text: string;
  /** Absent in the mode `keyword`. */
  readonly vector: Float32Array | undefined;
  readonly topK: number;
  readonly includeVector: boolean;
  readonly fusion?: FusionWeights;
}) => Promise<VectorMatch[]>;

/** Number of results of a search where ranking starts. */
export const seedCount = 10;
/** Passages whose neighbors are requested in each round. With the search for the seeds that makes 21 queries at most. */
const expandedPerRound = 10;
const rounds = 2;
const neighborsPerQuery = 10;
const queriesAtOnce = 4;

export interface ExploredIndex {
  readonly graph: ChunkGraph;
  /** Records that were read, by id. */
  readonly records: ReadonlyMap<string, VectorMatch>;
}

export interface ExploreOptions {
  readonly search: IndexSearch;
  /** Whether the store supports the mode `hybrid`. */
  readonly isHybrid: boolean;
  /** Results of the search, with their vectors. */
  readonly seeds: readonly VectorMatch[];
  readonly edges: EdgeOptions;
  readonly restartProb: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Builds the graph around the seeds, for an index that is too large for a graph of all passages. It requests the neighbors of the
 * seeds from the store, and then of the passages that rank best so far. A neighbor is similar to a passage or, where the store
 * supports keyword search, shares its names.
 */
export async function exploreIndex(options: ExploreOptions): Promise<ExploredIndex> {
  const { search, isHybrid, seeds, edges, restartProb, signal } = options;
  const records = new Map(seeds.map((seed) => [seed.id, seed]));
  const connect = (): Promise<ChunkGraph> => {
    const all = [...records.values()];
    return buildChunkGraph({
      passages: all.map(toPassage),
      vectors: Float32Array.from(all.flatMap(({ vector = [] }) => vector)),
      dimension: all[0]?.vector?.length ?? 1,
      edges,
      signal,
    });
  };
  const findNeighbors = (record: VectorMatch): Promise<VectorMatch[]> => {
    const { title, document } = toPassage(record);
    const text = [...namesIn(document, title)].join(' ');
    const mode = isHybrid && text !== '' ? 'hybrid' : 'vector';
    const vector = Float32Array.from(record.vector ?? []);
    return search({ mode, text, vector, topK: neighborsPerQuery + 1, includeVector: true });
  };
  const expanded = new Set<string>();
  let graph = await connect();
  for (let round = 0; round < rounds; round += 1) {
    const ranked = graph.rank({ seeds, restartProb, topK: seedCount + expandedPerRound * rounds });
    const next = ranked.filter(({ id }) => !expanded.has(id)).slice(0, expandedPerRound);
    if (next.length === 0) break;
    for (let first = 0; first < next.length; first += queriesAtOnce) {
      const batch = next.slice(first, first + queriesAtOnce).map(({ id }) => records.get(id) as VectorMatch);
      const found = await Promise.all(batch.map(findNeighbors));
      for (const match of found.flat()) if (!records.has(match.id)) records.set(match.id, match);
    }
    for (const { id } of next) expanded.add(id);
    graph = await connect();
  }
  return { graph, records };
}
