import { QuiverError } from '@quiver/core';
import type { LanguageModel } from '@quiver/core/llm';
import { createLimit } from '../embedding/concurrency-limit.js';
import { retry } from '../embedding/retry.js';
import { partsOf } from '../store/store-call.js';
import { untilAborted } from '../store/store-call.js';
import { askLanguageModel } from './ask-language-model.js';
import type { RelevanceModel, RelevanceScorer, RerankingModel } from './relevance-model.js';

/** From 0 to 1, or why there is none. */
export type TextScore = { readonly score: number } | { readonly error: unknown };

/** More texts in one prompt are judged worse. */
const textsPerPrompt = 20;
const callsAtOnce = 4;

/**
 * Judges texts with as few calls as the model allows: one for a reranking model, one for each 20 texts for a language model, one
 * for each text for a scorer; four at once. Errors that may pass are tried again; one that stays costs only the texts it is about.
 *
 * @returns one per text, in order
 * @throws the reason of `signal`; `RERANK_MODEL_INVALID`; what resolving a model string throws
 */
export async function scoreTexts(
  model: RelevanceModel,
  query: string,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<TextScore[]> {
  if (typeof model === 'string') {
    const { resolveLanguageModel } = await import('@quiver/core/llm');
    return scoreTexts(await resolveLanguageModel(model), query, texts, signal);
  }
  const { size, ask } = toAsk(model);
  const limit = createLimit(callsAtOnce);
  const judge = async (part: readonly string[]): Promise<TextScore[]> => {
    try {
      const answer = await retry(() => ask(query, part, signal), { signal });
      return part.map((_, position) => toTextScore(answer[position]));
    } catch (error) {
      signal?.throwIfAborted();
      return part.map(() => ({ error }));
    }
  };
  const judgeAll = (): Promise<TextScore[][]> =>
    Promise.all(partsOf(texts, size).map((part) => limit(() => judge(part))));
  // A scorer knows no signal.
  const scores = await untilAborted(judgeAll, signal);
  return scores.flat();
}

type Ask = (
  query: string,
  texts: readonly string[],
  signal: AbortSignal | undefined,
) => Promise<(number | undefined)[]>;

function toAsk(model: Exclude<RelevanceModel, string>): { size: number; ask: Ask } {
  const { doRerank, getRelevanceScore, doGenerate } = (model ?? {}) as Partial<
    RerankingModel & RelevanceScorer & LanguageModel
  >;
  if (typeof doRerank === 'function') {
    return { size: Number.POSITIVE_INFINITY, ask: (...call) => askRerankingModel(model as RerankingModel, ...call) };
  }
  if (typeof getRelevanceScore === 'function') {
    const scorer = model as RelevanceScorer;
    return { size: 1, ask: async (query, [text = '']) => [await scorer.getRelevanceScore(query, text)] };
  }
  if (typeof doGenerate === 'function') {
    return { size: textsPerPrompt, ask: (...call) => askLanguageModel(model as LanguageModel, ...call) };
  }
  throw new QuiverError(
    'RERANK_MODEL_INVALID',
    'A reranker must be a model string such as openai/gpt-5.1, a language or reranking model of the AI SDK, or an object with getRelevanceScore(query, text).',
  );
}

async function askRerankingModel(
  model: RerankingModel,
  query: string,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<(number | undefined)[]> {
  const { ranking } = await model.doRerank({
    query,
    documents: { type: 'text', values: [...texts] },
    ...(signal && { abortSignal: signal }),
  });
  const scores = new Map(ranking.map(({ index, relevanceScore }) => [index, relevanceScore]));
  return texts.map((_, position) => scores.get(position));
}

function toTextScore(score: number | undefined): TextScore {
  if (typeof score === 'number' && Number.isFinite(score)) return { score: Math.min(1, Math.max(0, score)) };
  return {
    error: new QuiverError(
      'RERANK_ANSWER_INVALID',
      `The model gave a text ${score === undefined ? 'no score' : `the score ${String(score)}`}. An answer needs a number for every text.`,
    ),
  };
}
