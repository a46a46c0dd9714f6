/**
 * `@quiver/mcp/redis`: state that the instances of a server share, in Redis.
 *
 * @module
 */
export { RedisStore, type RedisStoreOptions } from './redis-store.js';
