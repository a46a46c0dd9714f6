import { QuiverError } from '@quiver/core';
import { toEmbedder, type Embedder, type EmbedderInput, type EmbeddingProviderOptions } from '../embedding/index.js';
import { evaluateFilter, parseFilter } from '../filter/index.js';
import type { FusionWeights, QueryMode, VectorFilter, VectorMatch, VectorRecord, VectorStore } from '../store/index.js';
import type { ChunkEdge, ChunkGraph } from './chunk-graph.js';
import { bestMode, exploreIndex, findSeeds, type SeedQuery, type SeedSearch } from './search-index.js';
import { findGraph } from './graph-registry.js';
import { filterKey, type GraphSettings } from './graph-settings.js';
import type { GraphProgress, IndexGraph } from './index-graph.js';

export interface IndexQuery {
  readonly store: VectorStore;
  readonly indexName: string;
  readonly queryText: string;
  readonly model: EmbedderInput;
  readonly providerOptions?: EmbeddingProviderOptions | undefined;
  readonly topK: number;
  readonly settings: GraphSettings;
  /** Search mode for the seeds. Default: `hybrid` where the store supports it. */
  readonly seeds?: QueryMode | undefined;
  readonly fusion?: FusionWeights | undefined;
  /** Filter of the application: the graph consists of matching records only. */
  readonly scopeFilter: VectorFilter;
  /** Filter of the model: other passages are neither found nor steps between others. */
  readonly filter: VectorFilter;
  readonly databaseConfig?: object | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: GraphProgress) => void) | undefined;
}

/** Description of the graph that a query used. */
export interface GraphReport {
  /** Whether the graph contains the whole index, as far as the filter allows. Otherwise it is the neighborhood of the seeds. */
  complete: boolean;
  /** Number of passages. */
  nodes: number;
  /** Number of edges. */
  edges: number;
  /** Search mode of the seeds. */
  seeds: QueryMode;
}

export interface FoundPassage {
  readonly record: VectorRecord;
  readonly score: number;
  readonly path: readonly ChunkEdge[];
}

export interface IndexAnswer {
  readonly found: readonly FoundPassage[];
  readonly report: GraphReport;
  readonly graph: ChunkGraph;
  readonly seeds: readonly VectorMatch[];
  /** Whether a passage of the graph matches the filters. */
  readonly isAllowed: (id: string) => boolean;
  /** Records that were read so far. */
  readonly records: ReadonlyMap<string, VectorRecord>;
}

/**
 * Finds passages that match a query and passages that are connected with them.
 *
 * @throws `VECTOR_QUERY_UNSUPPORTED`, `VECTOR_DIMENSION_MISMATCH`, `FILTER_INVALID`, and what the store and the embedder throw
 */
export async function queryGraph(query: IndexQuery): Promise<IndexAnswer> {
  const { store, indexName, settings, scopeFilter, filter, signal, onProgress } = query;
  const { edges, maxNodes, restartProb, randomWalkSteps, dimension } = settings;
  if (dimension !== undefined) await requireDimension(query, dimension);
  const embedder = toEmbedder(query.model, {
    ...(query.providerOptions && { providerOptions: query.providerOptions }),
  });
  const search = toSearch(query, embedder);
  const asked = await toSeedQuery(query.queryText, search, embedder);
  const whole = await findGraph({
    store,
    scope: { indexName, filter: scopeFilter, edges },
    maxNodes,
    signal,
    onProgress,
  });
  const matches = await findSeeds(search, asked, { includeVector: whole === undefined });
  const explored = whole ? undefined : await exploreIndex({ search, seeds: matches, edges, restartProb });
  const graph = whole?.graph ?? (explored?.graph as ChunkGraph);
  // A passage that was added after the graph was built is part of the next graph.
  const seeds = matches.filter(({ id }) => graph.has(id));
  const isAllowed = whole && filter ? await readAllowed(query, whole) : () => true;
  const ranked = graph.rank({
    seeds: seeds.filter(({ id }) => isAllowed(id)),
    topK: query.topK,
    restartProb,
    maxIterations: randomWalkSteps,
    ...(whole && filter && { allowed: isAllowed }),
  });
  const ids = ranked.map(({ id }) => id);
  const records = explored?.records ?? (await readRecords(query, ids));
  return {
    found: ranked.flatMap(({ id, score, path }) => {
      const record = records.get(id);
      return record ? [{ record, score, path }] : [];
    }),
    report: { complete: whole !== undefined, nodes: graph.ids.length, edges: graph.edgeCount, seeds: search.mode },
    graph,
    seeds,
    isAllowed,
    records,
  };
}

function toSearch(
  { store, indexName, seeds, fusion, scopeFilter, filter, databaseConfig, signal }: IndexQuery,
  { hybridWeight = 1 }: Embedder,
): SeedSearch {
  return {
    store,
    indexName,
    mode: seeds ?? bestMode(store),
    fusion: { vector: hybridWeight, ...fusion },
    filter: scopeFilter && filter ? { $and: [scopeFilter, filter] } : (scopeFilter ?? filter),
    databaseConfig,
    signal,
  };
}

async function toSeedQuery(text: string, { mode, signal }: SeedSearch, embedder: Embedder): Promise<SeedQuery> {
  if (mode === 'keyword') return { text, vector: undefined };
  const [vector] = await embedder.embed([text], { purpose: 'query', signal });
  return { text, vector };
}

/** @throws `VECTOR_DIMENSION_MISMATCH` when the index has another dimension than the options */
async function requireDimension({ store, indexName, signal }: IndexQuery, dimension: number): Promise<void> {
  const { dimension: actual } = await store.describeIndex({ indexName, ...(signal && { signal }) });
  if (actual === dimension) return;
  throw new QuiverError(
    'VECTOR_DIMENSION_MISMATCH',
    `graphOptions.dimension is ${dimension}, but the index '${indexName}' has dimension ${actual}. Leave the option out to use the dimension of the index.`,
    { details: { expected: actual, actual: dimension } },
  );
}

const allowedPageSize = 10_000;
const maxAllowed = 16;

/**
 * Ids that match a filter of a model, by graph and filter, because such filters repeat. At most 16 filters per graph; the oldest
 * is evicted.
 */
const allowedOf = new WeakMap<IndexGraph, Map<string, ReadonlySet<string>>>();

/** Returns which passages of a graph match the filters of a query, as the store evaluates them. */
async function readAllowed(
  { store, indexName, scopeFilter, filter, signal }: IndexQuery,
  graph: IndexGraph,
): Promise<(id: string) => boolean> {
  const known = allowedOf.get(graph) ?? new Map<string, ReadonlySet<string>>();
  allowedOf.set(graph, known);
  const key = filterKey(filter);
  let allowed = known.get(key);
  if (!allowed) {
    const both = scopeFilter ? { $and: [scopeFilter, filter] } : filter;
    allowed = await readIds(store, { indexName, filter: both, signal });
    known.set(key, allowed);
    const [oldest] = known.keys();
    if (known.size > maxAllowed && oldest !== undefined) known.delete(oldest);
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
      limit: allowedPageSize,
      ...(cursor !== undefined && { cursor }),
      ...(signal && { signal }),
    });
    for (const { id } of page.records) ids.add(id);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return ids;
}

/**
 * Reads current records by id. A record that was removed, or changed so that it no longer matches the filters of the query, is
 * left out: since the version was read, it may have become another tenant's.
 */
export async function readRecords(
  {
    store,
    indexName,
    databaseConfig,
    scopeFilter,
    filter,
    signal,
  }: Pick<IndexQuery, 'store' | 'indexName' | 'databaseConfig' | 'scopeFilter' | 'filter' | 'signal'>,
  ids: readonly string[],
): Promise<Map<string, VectorRecord>> {
  if (ids.length === 0) return new Map();
  const records = await store.get({ ...databaseConfig, indexName, ids, ...(signal && { signal }) });
  const filters = [scopeFilter, filter].flatMap((one) => (one ? [parseFilter(one)] : []));
  const allowed = records.filter(({ metadata }) => filters.every((one) => evaluateFilter(one, metadata)));
  return new Map(allowed.map((record) => [record.id, record]));
}
