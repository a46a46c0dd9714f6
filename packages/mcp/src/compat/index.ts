/**
 * `@quiver/mcp/compat`: the names of the v0 API.
 *
 * @module
 */
export { MastraMCPClient, type MastraMCPClientOptions } from './mastra-mcp-client.js';
