import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { chunkIdOf } from '../document/metadata-keys.js';
import { diverseDepth, findDifferent, fusedDepth } from './depths.js';
import { maximalMarginalRelevance } from './maximal-marginal-relevance.js';
import { defaultTopK } from './options.js';
import { fuseScores } from './score-fusion.js';
import type { QueryMode, QueryParams, VectorMatch, VectorRecord, VectorStoreCapabilities } from './vector-store.js';

/** A query after it was checked, with its defaults. */
export type Search = VectorSearch | KeywordSearch | HybridSearch;

interface CommonSearch {
  /** Number of results to find; larger than `topK` when diverse results are selected among them. */
  readonly limit: number;
  /** Whether the results must carry their vectors. */
  readonly includeVector: boolean;
}

export interface VectorSearch extends CommonSearch {
  readonly mode: 'vector';
  /** Its length and numbers are not checked yet: see `toVector`. */
  readonly queryVector: ArrayLike<number>;
}

export interface KeywordSearch extends CommonSearch {
  readonly mode: 'keyword';
  /** Not empty. */
  readonly queryText: string;
}

export interface HybridSearch extends CommonSearch {
  readonly mode: 'hybrid';
  readonly queryVector: ArrayLike<number>;
  readonly queryText: string;
  readonly fusion: { readonly vector: number; readonly keyword: number };
}

/** A record, and what a database states of it: larger is better. */
export interface FoundRecord {
  /** Cosine similarity; negative squared distance; dot product; relevance of the keywords. */
  readonly similarity: number;
  readonly record: VectorRecord;
}

/** The store that runs a query. */
export interface SearchedStore {
  /** For messages. */
  readonly name: string;
  readonly capabilities: VectorStoreCapabilities;
}

/**
 * Runs one query of a store, whose parameters have valid values: checks that they fit together, lets the store find the best records, and selects diverse ones if `mmr` is set.
 *
 * @param find - returns the best `search.limit` records, best first, with their vectors if `search.includeVector` is set
 * @throws `VECTOR_QUERY_UNSUPPORTED` for a mode that the store does not have; `OPTIONS_INVALID`; the abort reason of
 *   `params.signal`; errors of `find`
 */
export async function runSearch(
  params: QueryParams,
  store: SearchedStore,
  find: (search: Search) => Promise<VectorMatch[]>,
): Promise<VectorMatch[]> {
  const { mode = 'vector', includeVector = false } = params;
  requireMode(mode, store);
  const { topK = defaultTopK } = params;
  const mmr = params.mmr && parseMmr(params.mmr, topK);
  const limit = mmr?.candidates ?? topK;
  const search = parseSearch(mode, params, { limit, includeVector: includeVector || mmr !== undefined });
  params.signal?.throwIfAborted();
  const found = await find(search);
  if (!mmr) return found;
  const chosen = maximalMarginalRelevance(found, { lambda: mmr.lambda, topK });
  if (!includeVector) for (const match of chosen) delete match.vector;
  return chosen;
}

function requireMode(mode: QueryMode, { name, capabilities }: SearchedStore): void {
  if (capabilities.modes.includes(mode)) return;
  throw new QuiverError(
    'VECTOR_QUERY_UNSUPPORTED',
    `${name} cannot search in the mode '${mode}'; it knows: ${capabilities.modes.join(', ')}.`,
    { details: { mode, modes: capabilities.modes } },
  );
}

function parseSearch(mode: QueryMode, params: QueryParams, common: CommonSearch): Search {
  const { queryVector, queryText } = params;
  const hasVector = typeof queryVector === 'object' && queryVector !== null;
  const hasText = typeof queryText === 'string' && queryText.trim() !== '';
  if (mode !== 'keyword' && !hasVector)
    throw invalidOptions(`A query in the mode '${mode}' needs queryVector, the embedding of the query.`);
  if (mode !== 'vector' && !hasText) throw invalidOptions(`A query in the mode '${mode}' needs queryText.`);
  // Checked above.
  const input = { ...common, queryVector: queryVector as ArrayLike<number>, queryText: queryText as string };
  return mode === 'hybrid' ? { ...input, mode, fusion: parseWeights(params.fusion ?? {}) } : { ...input, mode };
}

function parseWeights({ vector = 1, keyword = 1 }: NonNullable<QueryParams['fusion']>): HybridSearch['fusion'] {
  if (vector + keyword === 0) throw invalidOptions('At least one weight of fusion must be above 0.');
  return { vector, keyword };
}

function parseMmr(
  { lambda = 0.5, candidates }: NonNullable<QueryParams['mmr']>,
  topK: number,
): { lambda: number; candidates: number } {
  if (candidates === undefined) return { lambda, candidates: diverseDepth(topK) };
  if (candidates < topK)
    throw invalidOptions(`mmr.candidates must be an integer of at least topK (${topK}), not ${String(candidates)}.`);
  return { lambda, candidates };
}

/**
 * Runs a search in a store that supports vector search and keyword search; fuses both for a hybrid search.
 *
 * @param toScore - score of a similarity. A fusion compares the similarities themselves, so that the scores of stores do not decide its order
 */
export async function fuseSearches(
  search: Search,
  find: (search: VectorSearch | KeywordSearch) => Promise<FoundRecord[]>,
  toScore: (mode: 'vector' | 'keyword', similarity: number, best: number) => number,
): Promise<VectorMatch[]> {
  if (search.mode !== 'hybrid') {
    const found = await find(search);
    const best = found[0]?.similarity ?? 0;
    return rateDistances(search.mode, found).map(({ record, similarity, ...rated }) => {
      return { ...record, ...rated, score: toScore(search.mode, similarity, best) };
    });
  }
  const { queryVector, queryText, fusion, limit, includeVector } = search;
  const common = { limit: Math.max(limit, fusedDepth), includeVector };
  const parts = [
    { mode: 'vector', queryVector, ...common },
    { mode: 'keyword', queryText, ...common },
  ] as const;
  const rankings = parts.map(async (part) => {
    const { mode } = part;
    const found = fusion[mode] === 0 ? [] : await findChunks(part, find);
    const matches = rateDistances(mode, found).map(({ record, similarity, ...rated }) => {
      return { id: chunkIdOf(record), score: similarity, foundBy: [mode], record, ...rated };
    });
    return { matches, mode, weight: fusion[mode] };
  });
  const fused = fuseScores<Omit<VectorMatch, 'metadata'> & { record: VectorRecord }>(await Promise.all(rankings));
  return fused.slice(0, limit).map(({ id: _chunkId, record, ...scored }) => ({ ...record, ...scored }));
}

/**
 * Adds their lead to the first records of a search by vectors. The largest similarities of a query with texts that do not answer it fall by
 * about the same amount each time that the rank doubles.
 */
function rateDistances(
  mode: 'vector' | 'keyword',
  found: readonly FoundRecord[],
): (FoundRecord & Pick<VectorMatch, 'standsOut'>)[] {
  if (mode !== 'vector') return [...found];
  const chunks = new Map(found.toReversed().map(({ record, similarity }) => [chunkIdOf(record), similarity]));
  const similarities = [...chunks.values()].toSorted((a, b) => b - a);
  const [tenth = 0, twentieth = 0, fortieth] = [10, 20, 40].map((rank) => similarities[rank - 1]);
  if (fortieth === undefined) return [...found];
  const unit = Math.max(tenth - twentieth, twentieth - fortieth);
  return found.map((one) => {
    const standsOut = (one.similarity - twentieth) / unit;
    return standsOut > 0 && Number.isFinite(standsOut) ? { ...one, standsOut } : one;
  });
}

/** Returns the best record of each chunk. The limit counts chunks, which have one place however many of their vectors are near. */
function findChunks<Part extends VectorSearch | KeywordSearch>(
  part: Part,
  find: (search: Part) => Promise<FoundRecord[]>,
): Promise<FoundRecord[]> {
  return findDifferent(part.limit, part.limit, async (limit) => {
    const found = await find({ ...part, limit });
    const seen = new Set<string>();
    const results = found.filter(({ record }) => seen.size < seen.add(chunkIdOf(record)).size);
    return { results, isLast: found.length < limit };
  });
}
