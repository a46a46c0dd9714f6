export {
  ModelRouterEmbeddingModel,
  type EmbedCall,
  type EmbeddingModel,
  type EmbedResult,
  type EmbeddingSpecification,
  type ModelRouterEmbeddingOptions,
  type RoutedEmbedResult,
} from './model-router-embedding-model.js';
export type { ModelProviderOptions } from './model-provider.js';
export {
  resolveLanguageModel,
  type LanguageModel,
  type MastraLanguageModel,
  type ResolvedLanguageModel,
} from './resolve-language-model.js';
