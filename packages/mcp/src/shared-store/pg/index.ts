/**
 * `@quiver/mcp/pg`: state that the instances of a server share, in PostgreSQL.
 *
 * @module
 */
export type { PostgresClient, PostgresPool, PostgresResult } from './pool.js';
export { PostgresStore, type PostgresStoreOptions } from './postgres-store.js';
