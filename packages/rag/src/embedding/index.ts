export {
  cacheEmbeddings,
  redisEmbeddingCache,
  storeEmbeddingCache,
  type CacheEmbeddingsOptions,
  type EmbeddingCache,
  type RedisEmbeddingCacheOptions,
  type StoreEmbeddingCacheOptions,
} from './cache-embeddings.js';
export type { CustomEmbedder, Embedder } from './embedder.js';
export type { SharedBuckets } from './rate-limit.js';
export { truncateEmbeddings } from './truncate-embeddings.js';
export { createLexicalEmbedder, type LexicalEmbedderOptions } from './lexical-embedder.js';
export { toEmbedder, type EmbedderInput } from './to-embedder.js';
