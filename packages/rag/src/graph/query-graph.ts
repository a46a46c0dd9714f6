import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import type { Embedder } from '../embedding/index.js';
import { createFilterTest, toFilter } from '../filter/index.js';
import type { FusionWeights, QueryMode, QueryParams, VectorMatch, VectorRecord, VectorStore } from '../store/index.js';
import { fusionWith, searchIndex } from '../search/find-passages.js';
import { createLimit } from '../requests/limit.js';
import { mergeCopies } from '../search/merge-copies.js';
import { Question } from '../search/question.js';
import { rankCandidates } from '../search/rank-candidates.js';
import { findDifferent, recordDepth } from '../store/depths.js';
import type { IndexRead } from '../store/scope.js';
import { scanPages } from '../store/paging.js';
import { buildChunkGraph } from './build-chunk-graph.js';
import { bestOf, type ChunkEdge, type ChunkGraph } from './chunk-graph.js';
import { filterKey, findGraph, type GraphProgress } from './graph-of-index.js';
import type { GraphSettings } from './graph-options.js';
import { toPassage } from './passage.js';
import { rankPassages, seedCount, weighByRank } from './rank-passages.js';
import { namesIn } from './term-edges.js';

export interface IndexQuery {
  readonly store: VectorStore;
  /** The records that the application allows: the graph consists of these only. */
  readonly allowed: IndexRead;
  /** Records of `allowed` that match the filter of the model: other passages are neither found nor steps between others. */
  readonly read: IndexRead;
  readonly queryText: string;
  /** The same, if it was read already. */
  readonly question?: Question | undefined;
  readonly embedder: Embedder;
  readonly topK: number;
  readonly settings: GraphSettings;
  /** Search mode for the seeds, see `createGraphRAGTool`. */
  readonly seeds?: QueryMode | undefined;
  readonly fusion?: FusionWeights | undefined;
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
  readonly isAllowed: (id: string) => boolean;
  /** Records that were read so far. */
  readonly records: ReadonlyMap<string, VectorRecord>;
}

/**
 * Finds passages that match a query and passages that are connected with them.
 *
 * @throws `OPTIONS_INVALID` for a `topK` below 1, `QUERY_EMBEDDER_CHANGED`, `VECTOR_QUERY_UNSUPPORTED`, `VECTOR_DIMENSION_MISMATCH`, `FILTER_INVALID`, and what the store
 *   and the embedder throw
 */
export async function queryGraph(query: IndexQuery): Promise<IndexAnswer> {
  const { store, allowed: application, read, queryText, settings, onProgress } = query;
  const { question = new Question(queryText) } = query;
  const { indexName, signal } = read;
  const { edges, maxNodes, maxCachedNodes, dimension } = settings;
  const topK = Math.floor(query.topK);
  if (!(topK >= 1)) throw invalidOptions('TopK must be greater than 0');
  if (dimension !== undefined) await requireDimension(query, dimension);
  const { filter } = application;
  const whole = await findGraph({ store, indexName, filter, edges, maxNodes, maxCachedNodes, signal, onProgress });
  const { mode, matches } = await findSeeds(query, question, { topK, includeVector: !whole });
  const { graph, records } = whole
    ? { graph: whole, records: new Map<string, VectorRecord>(matches.map((match) => [match.id, match])) }
    : await exploreIndex(query, matches);
  const allowed = whole && (await readAllowed(query, whole));
  const isAllowed = (id: string): boolean => allowed?.has(id) ?? true;
  const readKnown = async (ids: readonly string[]): Promise<VectorRecord[]> => {
    const missing = ids.filter((id) => !records.has(id));
    for (const [id, record] of await readRecords(query, missing)) records.set(id, record);
    return ids.flatMap((id) => records.get(id) ?? []);
  };
  const ranking = await rankPassages({
    graph,
    queryText,
    question,
    matches,
    settings,
    allowed: allowed && isAllowed,
    read: readKnown,
  });
  const best = await findDifferent(topK, recordDepth(topK), async (limit) => {
    const ranked = ranking.best(limit);
    const scores = new Map(ranked.map(({ id, score }) => [id, score]));
    const found = await readKnown([...scores.keys()]);
    const passages = found.map((record) => ({ ...record, score: scores.get(record.id) as number }));
    return { results: mergeCopies(passages), isLast: ranked.length < limit };
  });
  const paths = ranking.explain(best);
  return {
    found: best.map(({ score, ...record }) => ({ record, score, path: paths.get(record.id) ?? [] })),
    report: { complete: whole !== undefined, nodes: graph.ids.length, edges: graph.edgeCount, seeds: mode },
    graph,
    seeds: matches.slice(0, seedCount).filter(({ id }) => graph.has(id)),
    isAllowed,
    records,
  };
}

/** Searches with the filters of a query. @param embedder - of the query vector, if the vectors of the index must be those of the same one */
async function search(
  { store, read }: IndexQuery,
  query: Omit<QueryParams, keyof IndexRead> & { readonly topK: number },
  embedder?: Embedder,
): Promise<VectorMatch[]> {
  return (await searchIndex({ store, read, embedder }, query)).chunks;
}

/** The search returns more results than requested, because the ranking changes their order; hosted stores return 1,000 at most. */
const maxDepth = 1000;
/** Results of the search that a graph consists of, with their neighbors, where there is none of the whole index. */
const exploredDepth = 100;

/** Searches for the passages where the ranking starts, in the mode of the query, or in the best one for the store and the embedder. */
async function findSeeds(
  query: IndexQuery,
  question: Question,
  { topK, includeVector }: { topK: number; includeVector: boolean },
): Promise<{ mode: QueryMode; matches: VectorMatch[] }> {
  const { store, queryText, embedder, read } = query;
  const { modes } = store.capabilities;
  const weights = fusionWith(embedder, query.fusion);
  const depth = Math.max(topK, Math.min(topK + seedCount, maxDepth), includeVector ? exploredDepth : 0);
  const searchIn = async (mode: QueryMode): Promise<VectorMatch[]> => {
    const options = { purpose: 'query', signal: read.signal } as const;
    const [queryVector] = mode === 'keyword' ? [] : await embedder.embed([queryText], options);
    const fusion = mode === 'hybrid' ? weights : undefined;
    // Keywords that the caller asks for compare no vectors.
    const comparing = query.seeds === 'keyword' ? undefined : embedder;
    return search(query, { mode, queryText, queryVector, fusion, topK: depth, includeVector }, comparing);
  };
  // A ranking that does not count needs no search.
  const preferred: readonly QueryMode[] = weights.vector === 0 ? ['keyword', 'hybrid'] : ['hybrid'];
  const mode = query.seeds ?? preferred.find((each) => modes.includes(each)) ?? modes[0] ?? 'vector';
  const matches = await searchIn(mode);
  const isFixed = query.seeds !== undefined || query.fusion?.vector !== undefined;
  // No passage has a word of the query: a vector may know other forms and spellings of the words.
  if (matches.length === 0 && mode === 'keyword' && !isFixed && modes.includes('vector'))
    return { mode: 'vector', matches: await searchIn('vector') };
  return { mode, matches: mode === 'vector' ? matches : rankCandidates(question, matches) };
}

/** Passages whose neighbors are requested in each round. With the other searches that makes 15 queries at most. */
const expandedPerRound = 5;
const rounds = 2;
const neighborsPerQuery = 10;
const queriesAtOnce = 4;

/**
 * Builds the graph of the results of a search, for an index that is too large for a graph of all passages. It requests the neighbors of the
 * passages that rank best so far from the store. A neighbor is similar to a passage or, where the store
 * supports keyword search, shares its names.
 */
async function exploreIndex(
  query: IndexQuery,
  matches: readonly VectorMatch[],
): Promise<{ graph: ChunkGraph; records: Map<string, VectorRecord> }> {
  const { edges, restartProb } = query.settings;
  const { signal } = query.read;
  const namesMode = query.store.capabilities.modes.includes('hybrid') ? 'hybrid' : 'vector';
  const records = new Map<string, VectorRecord>(matches.map((match) => [match.id, match]));
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
  const findNeighbors = (record: VectorRecord): Promise<VectorMatch[]> => {
    const { title, document } = toPassage(record);
    const queryText = [...namesIn(document, title)].join(' ');
    const mode = queryText === '' ? 'vector' : namesMode;
    const queryVector = Float32Array.from(record.vector ?? []);
    return search(query, { mode, queryText, queryVector, topK: neighborsPerQuery + 1, includeVector: true });
  };
  const seeds = weighByRank(matches.slice(0, seedCount).filter(({ score }) => score > 0));
  const expanded = new Set<string>();
  let graph = await connect();
  for (let round = 0; round < rounds; round += 1) {
    const { scores } = graph.walk({ seeds, restartProb });
    const ranked = bestOf(scores, expandedPerRound * rounds);
    const next = ranked.filter(({ id }) => !expanded.has(id)).slice(0, expandedPerRound);
    if (next.length === 0) break;
    const limit = createLimit(queriesAtOnce);
    const found = await Promise.all(next.map(({ id }) => limit(() => findNeighbors(records.get(id) as VectorRecord))));
    for (const match of found.flat()) if (!records.has(match.id)) records.set(match.id, match);
    for (const { id } of next) expanded.add(id);
    graph = await connect();
  }
  return { graph, records };
}

/** @throws `VECTOR_DIMENSION_MISMATCH` when the index has another dimension than the options */
async function requireDimension({ store, read: { indexName, signal } }: IndexQuery, dimension: number): Promise<void> {
  const { dimension: actual } = await store.describeIndex({ indexName, signal });
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
const allowedOf = new WeakMap<ChunkGraph, Map<string, ReadonlySet<string>>>();

/** Returns the passages of a graph that match the filters of a query, as the store evaluates them; `undefined` for all of them. */
async function readAllowed(
  { store, read, allowed: application }: IndexQuery,
  graph: ChunkGraph,
): Promise<ReadonlySet<string> | undefined> {
  const key = filterKey(read.filter);
  if (key === filterKey(application.filter)) return undefined;
  const known = allowedOf.get(graph) ?? new Map<string, ReadonlySet<string>>();
  allowedOf.set(graph, known);
  const allowed = known.get(key);
  if (allowed) return allowed;
  const ids = new Set<string>();
  const pages = scanPages(store, { ...read, limit: allowedPageSize });
  for await (const records of pages) for (const { id } of records) ids.add(id);
  known.set(key, ids);
  const [oldest] = known.keys();
  if (known.size > maxAllowed && oldest !== undefined) known.delete(oldest);
  return ids;
}

/**
 * Reads current records by id. A record that was removed, or changed so that it no longer matches the filters of the query, is
 * left out: since the version was read, it may have become another tenant's.
 */
export async function readRecords(
  { store, read: { filter, ...target } }: IndexQuery,
  ids: readonly string[],
): Promise<Map<string, VectorRecord>> {
  if (ids.length === 0) return new Map();
  const records = await store.get({ ...target, ids });
  const matches = createFilterTest(toFilter(filter));
  const allowed = records.filter(({ metadata }) => matches(metadata));
  return new Map(allowed.map((record) => [record.id, record]));
}
