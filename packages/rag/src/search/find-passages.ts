import type { Embedder } from '../embedding/index.js';
import type { Question } from './question.js';
import { candidateDepth, rankCandidates } from './rank-candidates.js';
import type { IndexRead } from '../store/index-read.js';
import { defaultTopK } from '../store/options.js';
import type { FusionWeights, QueryParams, VectorMatch, VectorStore } from '../store/vector-store.js';
import { withSameEmbedder, type EmbeddedQuery } from './check-embedder.js';
import { queryChunks } from './query-chunks.js';

/** The records to search, the embedder of the query vector, which the mode `keyword` does not need, and the text of the query. */
export type SearchedPassages = Omit<EmbeddedQuery, 'embedder'> & {
  readonly embedder: Embedder | undefined;
  readonly question: Question;
};

/**
 * Searches an index for passages, as the query tools and `retrieve()` do it: chunks by the best of their vectors, with the weights that the
 * embedder recommends, and, for a query with words, ranked again by {@link rankCandidates}. Searches by vectors alone and diverse results keep the
 * order of the store. The question keeps how far the vectors of passages stand out, for the confidence, if those of the embedder have a meaning.
 *
 * @throws `QUERY_EMBEDDER_CHANGED` if another embedder made the vectors of the index; errors of the store
 */
export async function findPassages(
  { store, read, embedder, question }: SearchedPassages,
  { mode = 'vector', ...query }: Omit<QueryParams, keyof IndexRead>,
): Promise<VectorMatch[]> {
  const fusion = mode === 'hybrid' ? fusionWith(embedder, query.fusion) : undefined;
  const { topK = defaultTopK } = query;
  const hasMeaning = mode !== 'keyword' && embedder?.hybridWeight !== 0;
  // Fewer results do not show how far the first ones stand out.
  const depth = hasMeaning && !query.mmr ? Math.max(topK, candidateDepth) : topK;
  const params = { ...read, ...query, mode, fusion, topK: depth };
  const find = (): Promise<VectorMatch[]> => queryRanked(store, params, question);
  const found = await (embedder && mode !== 'keyword' ? withSameEmbedder({ store, read, embedder }, find) : find());
  return found.slice(0, topK).map(({ standsOut, ...match }) => {
    if (hasMeaning && standsOut !== undefined) question.standsOut.set(match.id, standsOut);
    return match;
  });
}

/** Returns the weights of a hybrid query, with that of the embedder for its vectors unless they are given. */
export function fusionWith(embedder: Embedder | undefined, given?: FusionWeights): FusionWeights {
  return { vector: embedder?.hybridWeight ?? 1, ...given };
}

async function queryRanked(store: VectorStore, params: QueryParams, question: Question): Promise<VectorMatch[]> {
  const { mode, queryText, topK = defaultTopK, mmr } = params;
  if (mode === 'vector' || mmr || typeof queryText !== 'string') return queryChunks(store, params);
  const candidates = await queryChunks(store, { ...params, topK: Math.max(topK, candidateDepth) });
  return rankCandidates(question, candidates).slice(0, topK);
}
