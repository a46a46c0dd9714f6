export type { PgIndexConfig } from './create-index.js';
export type { PgCreateIndexParams } from './create-index.js';
export type { PgConnectionOptions } from './database.js';
export type { PgIndexType, PgVectorType } from './pg-index.js';
export { PgVector, type PgIndexDescription, type PgVectorOptions } from './pg-vector.js';
export type { PgClient, PgPool } from './database.js';
export type { PgQueryParams } from './search-sql.js';
