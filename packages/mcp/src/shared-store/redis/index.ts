/**
 * `@quiver/mcp/redis`: state that the instances of a server share, in Redis.
 *
 * @module
 */
export type { IoredisClient, IoredisSubscriber, NodeRedisClient, NodeRedisSubscriber } from './redis-client.js';
export { RedisStore, type RedisStoreOptions } from './redis-store.js';
