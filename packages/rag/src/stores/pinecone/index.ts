import type { PineconeConfig } from './pinecone-vector.js';

export {
  PineconeVector,
  type PineconeConfig,
  type PineconeQueryParams,
  type PineconeUpsertParams,
  type PineconeVectorConfig,
} from './pinecone-vector.js';
export {
  createLexicalSparseEncoder,
  type LexicalSparseEncoderOptions,
  type SparseEncoder,
  type SparseVector,
} from '../../words/lexical-sparse-encoder.js';

declare module '../../store/index-read.js' {
  interface DatabaseConfig {
    pinecone?: PineconeConfig;
  }
}
