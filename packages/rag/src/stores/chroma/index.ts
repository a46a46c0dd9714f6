import type { ChromaConfig } from './chroma-vector.js';

export type { ChromaConnectionOptions, ChromaLikeClient, ChromaWhere } from './chroma-client.js';
export { ChromaVector, type ChromaConfig, type ChromaQueryParams, type ChromaVectorConfig } from './chroma-vector.js';

declare module '../../store/database-config.js' {
  interface DatabaseConfig {
    chroma?: ChromaConfig;
  }
}
