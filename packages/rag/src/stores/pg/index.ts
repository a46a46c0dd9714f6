export type { PgIndexConfig } from './build-index.js';
export type { PgCreateIndexParams } from './create-index.js';
export type { PgConnectionOptions } from './open-database.js';
export type { PgIndexType, PgVectorType } from './pg-index.js';
export { PgVector, type PgIndexDescription, type PgVectorOptions } from './pg-vector.js';
export type { PgClient, PgPool } from './pool-database.js';
export type { PgQueryParams } from './search-settings.js';
