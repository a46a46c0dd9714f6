import type { LanguageModel } from '@quiver/core/llm';

/** Judges one text at a time. */
export interface RelevanceScorer {
  /** @returns how well the text answers the query, from 0 to 1 */
  getRelevanceScore(query: string, text: string): Promise<number>;
}

/** A reranking model of AI SDK 6 or 7, such as `cohere.reranking('rerank-v3.5')`, as far as it is called. */
export interface RerankingModel {
  readonly modelId: string;
  doRerank(options: {
    query: string;
    documents: { type: 'text'; values: string[] };
    abortSignal?: AbortSignal;
  }): PromiseLike<{ ranking: readonly { index: number; relevanceScore: number }[] }>;
}

/** What can judge texts: a model string such as `openai/gpt-5.1`, a model of the AI SDK, or a scorer of your own. */
export type RelevanceModel = string | LanguageModel | RerankingModel | RelevanceScorer;
