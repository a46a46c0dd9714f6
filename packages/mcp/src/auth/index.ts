/**
 * `@quiver/mcp/auth`: OAuth for both sides, without loading the client or the server.
 *
 * @module
 */
export * from './server/index.js';
