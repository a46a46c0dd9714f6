export type { PineconeConnectionOptions, PineconeLikeClient, SparseVector } from './pinecone-client.js';
export {
  PineconeVector,
  type PineconeQueryParams,
  type PineconeUpsertParams,
  type PineconeVectorConfig,
} from './pinecone-vector.js';
export { createLexicalSparseEncoder, type LexicalSparseEncoderOptions, type SparseEncoder } from './sparse-encoder.js';
