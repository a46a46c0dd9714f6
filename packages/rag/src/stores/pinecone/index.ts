import type { PineconeConfig } from './pinecone-index.js';

export type { PineconeConfig, PineconeQueryParams, PineconeUpsertParams } from './pinecone-index.js';
export { PineconeVector, type PineconeVectorConfig } from './pinecone-vector.js';
export {
  createLexicalSparseEncoder,
  type SparseEncoder,
  type SparseVector,
} from '../../words/lexical-sparse-encoder.js';

declare module '../../store/scope.js' {
  interface DatabaseConfig {
    pinecone?: PineconeConfig;
  }
}
