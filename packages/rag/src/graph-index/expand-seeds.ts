import { buildChunkGraph } from '../graph/build-chunk-graph.js';
import type { ChunkGraph } from '../graph/chunk-graph.js';
import type { EdgeOptions } from '../graph/edges/edge-kinds.js';
import { namesIn } from '../graph/edges/names-in.js';
import type { VectorMatch } from '../store/index.js';
import { findSeeds, seedCount, type SeedSearch } from './find-seeds.js';
import { toPassage } from './to-passage.js';

/** Passages whose neighbours are asked for in each round; with the one for the seeds, 21 queries at most. */
const expandedPerRound = 10;
const rounds = 2;
const neighboursPerQuery = 10;
const queriesAtOnce = 4;

export interface Expansion {
  readonly graph: ChunkGraph;
  readonly seeds: readonly VectorMatch[];
  /** Everything that was seen, by id. */
  readonly records: ReadonlyMap<string, VectorMatch>;
}

export interface ExpandOptions {
  readonly search: SeedSearch;
  readonly seeds: readonly VectorMatch[];
  readonly edges: EdgeOptions;
  readonly restartProb: number;
}

/**
 * The graph around the seeds, for an index that is too large to be held as a whole: asks the store for the neighbours of the seeds,
 * and then of the passages that rank best among what was found. A neighbour is like a passage or, where the store searches by
 * words, shares its names.
 *
 * @param options.seeds - with their vectors
 */
export async function expandSeeds({ search, seeds, edges, restartProb }: ExpandOptions): Promise<Expansion> {
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
      const found = await Promise.all(batch.map((record) => findNeighbours(search, record)));
      for (const match of found.flat()) if (!records.has(match.id)) records.set(match.id, match);
    }
    graph = await connect(records, edges, search.signal);
  }
  return { graph, seeds, records };
}

async function findNeighbours(search: SeedSearch, record: VectorMatch): Promise<VectorMatch[]> {
  const { title, document } = toPassage(record);
  const names = [...namesIn(document, title)].join(' ');
  const canFindNames = search.store.capabilities.modes.includes('hybrid') && names !== '';
  return findSeeds(
    { ...search, mode: canFindNames ? 'hybrid' : 'vector', fusion: undefined },
    { text: names, vector: Float32Array.from(record.vector ?? []) },
    { topK: neighboursPerQuery + 1, includeVector: true },
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
