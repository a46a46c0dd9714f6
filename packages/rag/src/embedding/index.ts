export {
  cacheEmbeddings,
  redisEmbeddingCache,
  storeEmbeddingCache,
  type CacheEmbeddingsOptions,
  type EmbeddingCache,
  type RedisClient,
  type RedisEmbeddingCacheOptions,
  type StoreEmbeddingCacheOptions,
} from './cache-embeddings.js';
export type { CustomEmbedder, Embedder, EmbeddingPurpose, EmbeddingUsage, EmbedOptions } from './embedder.js';
export type { EmbeddingRateLimit, SharedBuckets } from './rate-limit.js';
export { truncateEmbeddings } from './truncate-embeddings.js';
export { createLexicalEmbedder, type LexicalEmbedderOptions } from './lexical-embedder.js';
export {
  toEmbedder,
  type EmbedderInput,
  type EmbeddingProviderOptions,
  type ModelEmbedderOptions,
} from './to-embedder.js';
