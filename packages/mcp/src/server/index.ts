/**
 * `@quiver/mcp/server`: the server alone, without loading the client.
 *
 * @module
 */
export { MCPServer } from './mcp-server.js';
export type {
  MCPServerConfig,
  PackageInfo,
  RemoteInfo,
  Repository,
  ServerDetail,
  ServerInfo,
  ToolInfo,
  ToolListInfo,
} from './server-config.js';
export type { RequestStateOptions } from './modern/request-state.js';
export type { ToolsInput } from './tool-registry.js';
export type { StartHTTPOptions, StreamableHTTPServerTransportOptions } from './transports/http-options.js';
export type { ListenOptions, McpHttpServer } from './transports/listen.js';
