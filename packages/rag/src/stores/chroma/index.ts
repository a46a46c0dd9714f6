import type { ChromaConfig } from './chroma-vector.js';

export { ChromaVector, type ChromaConfig, type ChromaQueryParams, type ChromaVectorConfig } from './chroma-vector.js';

declare module '../../store/scope.js' {
  interface DatabaseConfig {
    chroma?: ChromaConfig;
  }
}
