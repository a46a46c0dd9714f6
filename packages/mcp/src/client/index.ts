/**
 * `@quiver/mcp/client`: the client alone, without loading the server.
 *
 * @module
 */
export { MCPClient, type MCPClientOptions, type ToolsWithErrors } from './mcp-client.js';
export type { RemoteSchema, RemoteTool } from './remote-tool.js';
export type {
  HttpServerDefinition,
  LogHandler,
  LoggingLevel,
  LogMessage,
  MastraMCPServerDefinition,
  ServerOptions,
  StdioServerDefinition,
} from './server-definition.js';
