/**
 * `@quiver/mcp/pg`: state that the instances of a server share, in PostgreSQL.
 *
 * @module
 */
export { PostgresStore, type PostgresStoreOptions } from './postgres-store.js';
