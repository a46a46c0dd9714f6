import { QuiverError } from '@quiver/core';
import { maximalMarginalRelevance } from './maximal-marginal-relevance.js';
import { fusionDepth, reciprocalRankFusion } from './reciprocal-rank-fusion.js';
import { defaultTopK, invalidArgument, largestTopK } from './options.js';
import type { QueryMode, QueryParams, VectorMatch, VectorStoreCapabilities } from './vector-store.js';

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
 * @throws `VECTOR_QUERY_UNSUPPORTED` for a mode that the store does not have; `VECTOR_ARGUMENT_INVALID`; the abort reason of
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
    throw invalidArgument(`A query in the mode '${mode}' needs queryVector, the embedding of the query.`);
  if (mode !== 'vector' && !hasText) throw invalidArgument(`A query in the mode '${mode}' needs queryText.`);
  // Checked above.
  const input = { ...common, queryVector: queryVector as ArrayLike<number>, queryText: queryText as string };
  return mode === 'hybrid' ? { ...input, mode, fusion: parseWeights(params.fusion ?? {}) } : { ...input, mode };
}

function parseWeights({ vector = 1, keyword = 1 }: NonNullable<QueryParams['fusion']>): HybridSearch['fusion'] {
  if (vector + keyword === 0) throw invalidArgument('At least one weight of fusion must be above 0.');
  return { vector, keyword };
}

/** Number of the best results that `topK` diverse ones are chosen from by default. */
export function diverseCandidates(topK: number): number {
  return Math.min(largestTopK, Math.max(20, 4 * topK));
}

function parseMmr(
  { lambda = 0.5, candidates }: NonNullable<QueryParams['mmr']>,
  topK: number,
): { lambda: number; candidates: number } {
  if (candidates === undefined) return { lambda, candidates: diverseCandidates(topK) };
  if (candidates < topK)
    throw invalidArgument(`mmr.candidates must be an integer of at least topK (${topK}), not ${String(candidates)}.`);
  return { lambda, candidates };
}

/** Runs a search in a store that supports vector search and keyword search; fuses both for a hybrid search. */
export async function fuseSearches(
  search: Search,
  find: (search: VectorSearch | KeywordSearch) => Promise<VectorMatch[]>,
): Promise<VectorMatch[]> {
  if (search.mode !== 'hybrid') return find(search);
  const { queryVector, queryText, fusion, limit, includeVector } = search;
  const common = { limit: fusionDepth(limit), includeVector };
  const [byVector, byWords] = await Promise.all([
    fusion.vector === 0 ? [] : find({ mode: 'vector', queryVector, ...common }),
    fusion.keyword === 0 ? [] : find({ mode: 'keyword', queryText, ...common }),
  ]);
  const matches = new Map([...byWords, ...byVector].map((match) => [match.id, match]));
  const fused = reciprocalRankFusion([
    { ids: byVector.map(({ id }) => id), weight: fusion.vector },
    { ids: byWords.map(({ id }) => id), weight: fusion.keyword },
  ]);
  const inVector = new Set(byVector.map(({ id }) => id));
  const inKeyword = new Set(byWords.map(({ id }) => id));
  return fused.slice(0, limit).map(({ id, score }) => {
    const foundBy = [
      ...(inVector.has(id) ? (['vector'] as const) : []),
      ...(inKeyword.has(id) ? (['keyword'] as const) : []),
    ];
    return { ...(matches.get(id) as VectorMatch), score, foundBy };
  });
}
