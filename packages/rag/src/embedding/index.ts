export type { Embedder, EmbeddingPurpose, EmbedOptions } from './embedder.js';
export { createLexicalEmbedder, type LexicalEmbedderOptions } from './lexical-embedder.js';
export {
  toEmbedder,
  type EmbedderInput,
  type EmbeddingProviderOptions,
  type ModelEmbedderOptions,
} from './to-embedder.js';
