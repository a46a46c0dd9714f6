export {
  cacheEmbeddings,
  storeEmbeddingCache,
  type CacheEmbeddingsOptions,
  type EmbeddingCache,
  type StoreEmbeddingCacheOptions,
} from './cache-embeddings.js';
export type { CustomEmbedder, Embedder } from './embedder.js';
export { truncateEmbeddings } from './truncate-embeddings.js';
export { createLexicalEmbedder, type LexicalEmbedderOptions } from './lexical-embedder.js';
export { toEmbedder, type EmbedderInput } from './to-embedder.js';
