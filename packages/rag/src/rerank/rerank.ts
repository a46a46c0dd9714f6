import { QuiverError, toErrorMessage } from '@quiver/core';
import { recordText } from '../store/vector-store.js';
import type { VectorMatch } from '../store/vector-store.js';
import type { RelevanceModel } from './relevance-model.js';
import { toWeights, type WeightConfig } from './weight-config.js';
import { scoreTexts, type TextScore } from './score-texts.js';

export interface RerankerOptions {
  weights?: WeightConfig;
  /** The vector of the query: a long one raises all scores a little, as the formula says. */
  queryEmbedding?: readonly number[] | Float32Array;
  /** Results wanted. Default 3. */
  topK?: number;
  signal?: AbortSignal;
}

/** How a query tool reranks: the judge, and `weights` and `topK`. */
export interface RerankConfig {
  model: RelevanceModel;
  options?: Omit<RerankerOptions, 'queryEmbedding' | 'signal'>;
}

export interface RerankResult<Match extends VectorMatch = VectorMatch> {
  result: Match;
  /** The weighted sum. */
  score: number;
  /** The parts of the sum, each from 0 to 1. */
  details: {
    semantic: number;
    vector: number;
    position: number;
    queryAnalysis?: { magnitude: number; dominantFeatures: number[] };
    /** Why the model gave no score. The other parts then share its weight. */
    error?: string;
  };
}

/**
 * Puts search results into a better order: `semantic · relevance + vector · score + position · (1 − i/n)`, where the relevance
 * comes from a model. Equal scores keep the order of the search.
 *
 * A reranking model is asked once for the whole list, a language model once for each 20 results. Results whose relevance could
 * not be found are ranked by the other parts, and say so.
 *
 * @throws `RERANK_FAILED` with the first error as cause when the model judged nothing; `RERANK_WEIGHTS_INVALID`;
 *   `RERANK_MODEL_INVALID`; `VECTOR_ARGUMENT_INVALID` for a `topK` that is none and for results without a score; the reason of
 *   `signal`
 * @example
 * const best = await rerank(matches, 'How do I install it?', 'openai/gpt-5.1', { weights: { semantic: 0.6 }, topK: 5 });
 */
export async function rerank<Match extends VectorMatch>(
  results: readonly Match[],
  query: string,
  model: RelevanceModel,
  { weights, queryEmbedding, topK = 3, signal }: RerankerOptions = {},
): Promise<RerankResult<Match>[]> {
  const checkedWeights = toWeights(weights);
  if (!Number.isInteger(topK) || topK < 1)
    throw new QuiverError('VECTOR_ARGUMENT_INVALID', `topK must be a positive integer, not ${String(topK)}.`);
  for (const { id, score } of results) {
    if (Number.isFinite(score)) continue;
    throw new QuiverError('VECTOR_ARGUMENT_INVALID', `The result '${id}' must have a number as score, not ${score}.`);
  }
  const scores = await scoreResults(results, query, model, signal);
  const analysis = queryEmbedding && analyzeQuery(queryEmbedding);
  const ranked = results.map((result, place): RerankResult<Match> => {
    const relevance = scores[place] as TextScore;
    const parts = {
      semantic: 'score' in relevance ? relevance.score : 0,
      vector: Math.min(1, Math.max(0, result.score)),
      position: 1 - place / results.length,
    };
    const sum =
      checkedWeights.semantic * parts.semantic +
      checkedWeights.vector * parts.vector +
      checkedWeights.position * parts.position;
    const rest = checkedWeights.vector + checkedWeights.position;
    const score = 'score' in relevance ? sum : rest === 0 ? 0 : sum / rest;
    return {
      result,
      score: score * (analysis?.factor ?? 1),
      details: {
        ...parts,
        ...(analysis && { queryAnalysis: analysis.queryAnalysis }),
        ...('error' in relevance && { error: toErrorMessage(relevance.error) }),
      },
    };
  });
  // Sorting is stable, so equal scores stay in order.
  return ranked.toSorted((a, b) => b.score - a.score).slice(0, topK);
}

export interface RerankWithScorerOptions<Match extends VectorMatch> {
  results: readonly Match[];
  query: string;
  scorer: RelevanceModel;
  options?: RerankerOptions;
}

/** {@link rerank} with its parameters in one object. */
export async function rerankWithScorer<Match extends VectorMatch>({
  results,
  query,
  scorer,
  options,
}: RerankWithScorerOptions<Match>): Promise<RerankResult<Match>[]> {
  return rerank(results, query, scorer, options);
}

/** A result without text has nothing to judge: 0, and no question to the model. */
async function scoreResults(
  results: readonly VectorMatch[],
  query: string,
  model: RelevanceModel,
  signal: AbortSignal | undefined,
): Promise<TextScore[]> {
  // Results of other stores may lack metadata, whatever their type says.
  const texts = results.map((result) => recordText({ ...result, metadata: result.metadata ?? {} }));
  const asked = texts.filter((text) => text !== '');
  const answers = await scoreTexts(model, query, asked, signal);
  const firstError = answers.find((answer) => 'error' in answer);
  if (firstError && answers.every((answer) => 'error' in answer)) {
    throw new QuiverError(
      'RERANK_FAILED',
      `The model judged none of ${asked.length} texts: ${toErrorMessage(firstError.error)}`,
      {
        cause: firstError.error,
      },
    );
  }
  const queue = answers.values();
  return texts.map((text) => (text === '' ? { score: 0 } : (queue.next().value as TextScore)));
}

const dominantFeatureCount = 5;

function analyzeQuery(embedding: readonly number[] | Float32Array): {
  factor: number;
  queryAnalysis: { magnitude: number; dominantFeatures: number[] };
} {
  const magnitude = Math.hypot(...embedding);
  const dominantFeatures = Array.from(embedding, (value, index) => ({ size: Math.abs(value), index }))
    .toSorted((a, b) => b.size - a.size)
    .slice(0, dominantFeatureCount)
    .map(({ index }) => index);
  return { factor: magnitude > 10 ? 1.1 : magnitude > 5 ? 1.05 : 1, queryAnalysis: { magnitude, dominantFeatures } };
}
