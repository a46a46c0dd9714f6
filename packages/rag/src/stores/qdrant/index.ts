import type { QdrantConfig } from './qdrant-index.js';

export type { QdrantConfig, QdrantCreateIndexParams, QdrantQueryParams } from './qdrant-index.js';
export { QdrantVector, type QdrantVectorConfig } from './qdrant-vector.js';

declare module '../../store/scope.js' {
  interface DatabaseConfig {
    qdrant?: QdrantConfig;
  }
}
