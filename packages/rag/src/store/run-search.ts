import { maximalMarginalRelevance } from '../retrieval/maximal-marginal-relevance.js';
import { fusionDepth, reciprocalRankFusion } from '../retrieval/reciprocal-rank-fusion.js';
import {
  parseSearch,
  type HybridSearch,
  type KeywordSearch,
  type Search,
  type SearchedStore,
  type VectorSearch,
} from './parse-search.js';
import type { QueryMode, QueryParams, VectorMatch } from './vector-store.js';

/**
 * One query of a store: checks it, lets the store find the best records, and chooses different ones among them where that was
 * asked for.
 *
 * @param find - the best `search.limit` records, best first, with their vectors where `search.includeVector` says so
 * @throws `VECTOR_QUERY_UNSUPPORTED`, `VECTOR_ARGUMENT_INVALID`, the reason of `params.signal`, and what `find` throws
 */
export async function runSearch<Mode extends QueryMode>(
  params: QueryParams,
  store: SearchedStore<Mode>,
  find: (search: Extract<Search, { mode: Mode }>) => Promise<VectorMatch[]>,
): Promise<VectorMatch[]> {
  const { search, choice } = parseSearch(params, store);
  params.signal?.throwIfAborted();
  // Other modes were refused.
  const found = await find(search as Extract<Search, { mode: Mode }>);
  const { lambda, topK, includeVector } = choice;
  if (lambda === undefined) return found;
  const chosen = maximalMarginalRelevance(found, { lambda, topK });
  if (!includeVector) for (const match of chosen) delete match.vector;
  return chosen;
}

/** Hybrid search for a store that finds by vectors and by words, but not by both at once. */
export async function fuseSearches(
  { queryVector, queryText, fusion, limit, includeVector }: HybridSearch,
  find: (search: VectorSearch | KeywordSearch) => Promise<VectorMatch[]>,
): Promise<VectorMatch[]> {
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
  return fused.slice(0, limit).map(({ id, score }) => ({ ...(matches.get(id) as VectorMatch), score }));
}
