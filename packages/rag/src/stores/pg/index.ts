export type { PgCreateIndexParams, PgIndexConfig } from './create-index.js';
export type { PgConnectionOptions } from './open-database.js';
export type { PgIndexType, PgVectorType } from './pg-index.js';
export { PgVector, type PgIndexDescription, type PgVectorConfig } from './pg-vector.js';
export type { PgQueryParams } from './search-settings.js';
