import { QuiverError, toErrorMessage, traceChannels, type RetrievalTraceEvent } from '@quiver/core';
import {
  anyValue,
  checkOptions,
  ignoredOptions,
  numberIn,
  objectOf,
  type OptionCheck,
  type OptionChecks,
  signalValue,
  valueThat,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import { recordText } from '../store/record-text.js';
import type { VectorMatch } from '../store/vector-store.js';
import { scoreTexts, type RelevanceModel, type TextScore } from './score-texts.js';

/** Weights of the parts of a score. */
export interface WeightConfig {
  /** Relevance by the model. Default 0.4. */
  semantic?: number;
  /** Score of the search. Default 0.4. */
  vector?: number;
  /** Rank in the results of the search. Default 0.2. */
  position?: number;
}

/** Weights and number of results of a reranker. */
export interface RerankerOptions {
  /** Weights of the semantic score, the vector score and the position. */
  weights?: WeightConfig;
  /** Embedding of the query. A long one raises all scores a little. */
  queryEmbedding?: readonly number[] | Float32Array | undefined;
  /** Number of results. Default 3. */
  topK?: number;
  /** Time that the model has, in milliseconds. Afterwards the results keep the order of the search, and `details.error` is set. Default: any. */
  budget?: number;
  /** Aborts the ranking. */
  signal?: AbortSignal | undefined;
}

/** Reranker of a query tool and of `retrieve()`. */
export interface RerankConfig {
  model: RelevanceModel;
  /** Its `topK` can only reduce the number of results of the query, which is the default. */
  options?: Omit<RerankerOptions, 'queryEmbedding' | 'signal'>;
}

const ignoredContext = ignoredOptions({
  observabilityContext: 'queries are traced by the channels of @quiver/core.',
});
const weightValue = numberIn({ least: 0 });
const optionChecks: OptionChecks<RerankerOptions> = {
  weights: objectOf<WeightConfig>({ semantic: weightValue, vector: weightValue, position: weightValue }),
  queryEmbedding: valueThat((value) => Array.isArray(value) || ArrayBuffer.isView(value), 'a list of numbers'),
  topK: wholeNumber(1),
  budget: numberIn({ above: 0 }),
  signal: signalValue,
  ...ignoredContext,
};
const { queryEmbedding: _queryEmbedding, signal: _signal, ...configChecks } = optionChecks;

/** Accepts {@link RerankConfig}. */
export const rerankConfigValue: OptionCheck = objectOf<RerankConfig>({
  model: anyValue,
  options: objectOf<NonNullable<RerankConfig['options']>>(configChecks),
});

/** Result with its score after reranking. */
export interface RerankResult<Match extends VectorMatch = VectorMatch> {
  result: Match;
  /** The weighted sum. */
  score: number;
  /** Parts of the sum, each from 0 to 1. */
  details: {
    semantic: number;
    vector: number;
    position: number;
    queryAnalysis?: { magnitude: number; dominantFeatures: number[] };
    /** Reason for a missing relevance. The other parts then share its weight. */
    error?: string;
  };
}

/**
 * Sorts search results by a better score: `semantic · relevance + vector · score + position · (1 − i/n)`, where the relevance
 * comes from a model. Equal scores keep the order of the search.
 *
 * A reranking model receives the whole list in one request, a language model 20 results per request. Results without a relevance
 * are ranked by the other parts, and `details.error` names the reason.
 *
 * @throws `RERANK_FAILED` with the first error as cause if the model scored no text;
 *   `OPTIONS_INVALID` for an unknown or invalid option and for results without a score; the errors of `resolveLanguageModel`
 *   for a model string; `signal.reason`
 * @example
 * const best = await rerank(matches, 'How do I install it?', 'openai/gpt-5.1', { weights: { semantic: 0.6 }, topK: 5 });
 */
export async function rerank<Match extends VectorMatch>(
  results: readonly Match[],
  query: string,
  model: RelevanceModel,
  options: RerankerOptions = {},
): Promise<RerankResult<Match>[]> {
  if (!channel.isActive) return rankResults(results, query, model, options);
  // Invalid options are an error of the operation, which the event carries.
  const topK = options?.topK ?? defaultResults;
  const candidates = results.length;
  const event: RetrievalTraceEvent = { type: 'retrieval', operation: 'rerank', queryText: query, topK, candidates };
  return channel.trace(event, async () => {
    const ranked = await rankResults(results, query, model, options);
    event.documents = ranked.map(({ result, score }) => ({ id: result.id, score }));
    return ranked;
  });
}

const channel = traceChannels['quiver:retrieval'];
const defaultResults = 3;

async function rankResults<Match extends VectorMatch>(
  results: readonly Match[],
  query: string,
  model: RelevanceModel,
  options: RerankerOptions,
): Promise<RerankResult<Match>[]> {
  checkOptions('rerank', options, optionChecks);
  const { weights, queryEmbedding, topK = defaultResults, budget, signal } = options;
  const checkedWeights = toWeights(weights);
  for (const { id, score } of results) {
    if (Number.isFinite(score)) continue;
    throw invalidOptions(`The result '${id}' must have a number as score, not ${score}.`);
  }
  const scores = await scoreWithin(budget, signal, (end) => scoreResults(results, query, model, end), results.length);
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
  // Without any relevance the search knows better: the order of diverse results is not that of their scores.
  if (scores.every((relevance) => 'error' in relevance)) return ranked.slice(0, topK);
  // Sorting is stable, so equal scores stay in order.
  return ranked.toSorted((a, b) => b.score - a.score).slice(0, topK);
}

/** Returns the best `topK` candidates of a query; fewer if the reranker has a smaller `topK`. */
export async function selectByReranker<Match extends VectorMatch>(
  { model, options = {} }: RerankConfig,
  query: string,
  candidates: readonly Match[],
  { topK, ...rest }: Pick<RerankerOptions, 'queryEmbedding' | 'signal'> & { readonly topK: number },
): Promise<RerankResult<Match>[]> {
  return rerank(candidates, query, model, { ...options, ...rest, topK: Math.min(topK, options.topK ?? topK) });
}

/** Options of `rerankWithScorer()`. */
export interface RerankWithScorerOptions<Match extends VectorMatch> {
  /** Results of a search. */
  results: readonly Match[];
  /** Query of the results. */
  query: string;
  /** Model or function that scores the texts for the query. */
  scorer: RelevanceModel;
  /** Number of results, weights and signal. */
  options?: RerankerOptions;
}

/**
 * {@link rerank} with its parameters in one object.
 *
 * @example
 * const ranked = await rerankWithScorer({ results, query: 'coats', scorer: 'openai/gpt-5.1', options: { topK: 5 } });
 */
export async function rerankWithScorer<Match extends VectorMatch>(
  options: RerankWithScorerOptions<Match>,
): Promise<RerankResult<Match>[]> {
  checkOptions('rerankWithScorer', options, scorerChecks);
  return rerank(options.results, options.query, options.scorer, options.options);
}

const scorerChecks: OptionChecks<RerankWithScorerOptions<VectorMatch>> = {
  results: valueThat(Array.isArray, 'a list'),
  query: valueThat((value) => typeof value === 'string', 'a string'),
  scorer: anyValue,
  options: objectOf<RerankerOptions>(optionChecks),
  ...ignoredContext,
};

/** A model that takes longer than its budget is stopped, and every result has the same error. */
async function scoreWithin(
  budget: number | undefined,
  signal: AbortSignal | undefined,
  score: (signal: AbortSignal | undefined) => Promise<TextScore[]>,
  count: number,
): Promise<TextScore[]> {
  if (budget === undefined) return score(signal);
  // A process that waits for nothing else ends before `AbortSignal.timeout` aborts.
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), Math.min(budget, longestBudget));
  try {
    return await score(signal ? AbortSignal.any([signal, end.signal]) : end.signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (!end.signal.aborted) throw error;
    const exceeded = new QuiverError(
      'RERANK_BUDGET_EXCEEDED',
      `The model did not score the results within ${budget} ms.`,
    );
    return Array.from({ length: count }, () => ({ error: exceeded }));
  } finally {
    clearTimeout(timer);
  }
}

/** A larger delay of a timer overflows. */
const longestBudget = 2 ** 31 - 1;

/** A result without text has the relevance 0; the model does not receive it. */
async function scoreResults(
  results: readonly VectorMatch[],
  query: string,
  model: RelevanceModel,
  signal: AbortSignal | undefined,
): Promise<TextScore[]> {
  // Results of other stores may lack metadata, although the type requires it.
  const texts = results.map((result) => recordText({ ...result, metadata: result.metadata ?? {} }));
  const asked = texts.filter((text) => text !== '');
  const answers = await scoreTexts(model, query, asked, signal);
  const firstError = answers.find((answer) => 'error' in answer);
  if (firstError && answers.every((answer) => 'error' in answer)) {
    throw new QuiverError(
      'RERANK_FAILED',
      `The model returned a score for none of ${asked.length} texts: ${toErrorMessage(firstError.error)}`,
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

/** Returns weights whose sum is 1. @throws `OPTIONS_INVALID` */
function toWeights({ semantic = 0.4, vector = 0.4, position = 0.2 }: WeightConfig = {}): Required<WeightConfig> {
  const sum = semantic + vector + position;
  if (sum === 0) throw invalidOptions('At least one weight must be greater than 0.');
  return { semantic: semantic / sum, vector: vector / sum, position: position / sum };
}
