export type { Embedder, EmbeddingPurpose, EmbedOptions } from './embedder.js';
export { createLexicalEmbedder, type LexicalEmbedderOptions } from './lexical-embedder.js';
export type { EmbeddingProviderOptions, ModelEmbedderOptions } from './model-embedder.js';
export { toEmbedder, type EmbedderInput } from './to-embedder.js';
