import type { QdrantConfig } from './qdrant-vector.js';

export type { QdrantCreateIndexParams } from './qdrant-index.js';
export { QdrantVector, type QdrantConfig, type QdrantQueryParams, type QdrantVectorConfig } from './qdrant-vector.js';

declare module '../../store/index-read.js' {
  interface DatabaseConfig {
    qdrant?: QdrantConfig;
  }
}
