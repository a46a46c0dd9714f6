/**
 * `@quiver/mcp/compat`: older names, kept so that programs go on working.
 *
 * @module
 */
export { MastraMCPClient, type MastraMCPClientOptions } from './mastra-mcp-client.js';
