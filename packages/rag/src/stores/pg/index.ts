import type { PgVectorConfig } from './search.js';

export type { PgConnectionOptions, PgPool } from './database.js';
export type { PgIndexConfig } from './build-index.js';
export type { PgCreateIndexParams } from './create-index.js';
export type { PgIndexDescription } from './pg-records.js';
export { PgVector, type PgVectorOptions } from './pg-vector.js';
export type { PgQueryParams, PgVectorConfig } from './search.js';

declare module '../../store/scope.js' {
  interface DatabaseConfig {
    pgvector?: PgVectorConfig;
  }
}
