export type { RelevanceModel, RelevanceScorer, RerankingModel } from './relevance-model.js';
export type { RerankWeights } from './rerank-weights.js';
export {
  rerank,
  rerankWithScorer,
  type RerankConfig,
  type RerankerOptions,
  type RerankResult,
  type RerankWithScorerOptions,
} from './rerank.js';
