import type { LibSQLConfig } from './libsql-vector.js';

export type { LibSQLCreateIndexParams } from './libsql-index.js';
export { LibSQLVector, type LibSQLConfig, type LibSQLQueryParams, type LibSQLVectorConfig } from './libsql-vector.js';

declare module '../../store/scope.js' {
  interface DatabaseConfig {
    libsql?: LibSQLConfig;
  }
}
