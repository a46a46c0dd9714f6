/**
 * `@quiver/mcp/auth`: OAuth for both sides, without loading the client or the server.
 *
 * @module
 */
export * from './client/index.js';
export * from './server/index.js';
