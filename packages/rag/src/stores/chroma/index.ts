export type { ChromaConnectionOptions, ChromaLikeClient, ChromaWhere } from './chroma-client.js';
export { ChromaVector, type ChromaQueryParams, type ChromaVectorConfig } from './chroma-vector.js';
