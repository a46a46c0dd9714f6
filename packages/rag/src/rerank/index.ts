export type { RelevanceModel, RelevanceScorer, RerankingModel } from './relevance-model.js';
export type { WeightConfig } from './weight-config.js';
export {
  rerank,
  rerankWithScorer,
  type RerankConfig,
  type RerankerOptions,
  type RerankResult,
  type RerankWithScorerOptions,
} from './rerank.js';
