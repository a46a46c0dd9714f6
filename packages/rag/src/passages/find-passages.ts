import { candidateDepth, rankCandidates } from '../retrieval/rank-candidates.js';
import type { QueryParams, VectorMatch, VectorStore } from '../store/vector-store.js';
import { queryChunks } from './query-chunks.js';

/**
 * Searches an index for passages, as the query tools and `retrieve()` do it: chunks by the best of their vectors, and, for a query with words,
 * ranked anew by {@link rankCandidates}. Searches by vectors alone and diverse results keep the order of the store.
 */
export async function findPassages(store: VectorStore, params: QueryParams): Promise<VectorMatch[]> {
  const { mode = 'vector', queryText, topK = 10, diversity } = params;
  if (mode === 'vector' || diversity || typeof queryText !== 'string') return queryChunks(store, params);
  const query = { ...params, topK: Math.max(topK, candidateDepth) };
  if (mode === 'hybrid' && !isKeywordAlone(params))
    return rankCandidates(queryText, await queryChunks(store, query), 'fusion').slice(0, topK);
  const { fusion: _notUsed, queryVector: _neither, ...keywordQuery } = query;
  const candidates = await queryChunks(store, { ...keywordQuery, mode: 'keyword' });
  const ranked = rankCandidates(queryText, candidates, 'keyword').slice(0, topK);
  return mode === 'hybrid' ? ranked.map((match) => ({ ...match, foundBy: ['keyword'] })) : ranked;
}

/** A fusion of one ranking would replace its scores by those of places. */
function isKeywordAlone({ fusion }: QueryParams): boolean {
  return fusion?.vector === 0 && fusion.keyword !== 0;
}
