/**
 * `@quiver/mcp/client`: the client alone, without loading the server.
 *
 * @module
 */
export type { ToolCatalogue, ToolsWithErrors } from './tools/client-tools.js';
export type { ContextualFetch } from '../http/send.js';
export type { ClientInfo } from './config/client-info.js';
export { MCPClient, type ClientLease, type MCPClientOptions } from './mcp-client.js';
export type { Answers, ServerErrorDetails } from './server/ask-servers.js';
export type { AuthenticateServerOptions } from './authenticate-server.js';
export type { CallToolOptions } from './tools/call-tool.js';
export type { CompleteOptions } from './features/completion.js';
export { loadMcpConfig, type LoadMcpConfigOptions } from './config/config-file.js';
export type { ElicitationHandler, ElicitationRequest } from './features/elicitation.js';
export type { LogHandler, LoggingLevel, LogMessage } from './server/log-message.js';
export type { ClientPrompts, GetPromptOptions } from './features/prompts.js';
export { RemoteToolError } from './tools/remote-tool-error.js';
export type { RemoteTool } from './tools/remote-tool.js';
export type { ToolCallInfo, ToolCallProcessor } from './tools/tool-call-processor.js';
export type {
  BinaryContent,
  ClientResources,
  ListOptions,
  ReadResourceResult,
  ResourceContents,
} from './features/resources.js';
export type {
  SamplingHandler,
  SamplingModel,
  SamplingOptions,
  SamplingRequest,
  SamplingResult,
} from './features/sampling.js';
export type {
  HttpServerDefinition,
  InProcessServerDefinition,
  MastraMCPServerDefinition,
  ServerDefinition,
  ServerMessageHandler,
  TlsOptions,
  ServerOptions,
  StdioServerDefinition,
  ToolApproval,
} from './config/server-definition.js';
export type { ProgressUpdate, ServerMessage } from './engine/engine.js';
export type { ServerStatus } from './server/server-status.js';
export { fingerprintTool, type DefinitionChanges } from './server/tool-fingerprint.js';
export { getToolResult } from './tools/tool-result.js';
export type { ToolSelection } from './tools/tool-selection.js';
export type { MessageTransport } from './transports/transport-channel.js';
export type { InProcessServer } from './transports/in-process.js';
export type { CallToolResult, ClientCapabilities, ProtocolTool, Root } from '../protocol/client-types.js';
export type { Prompt, PromptArgument, PromptMessage } from '../prompt.js';
export type { ListResourcesResult, Resource, ResourceTemplate } from '../resource.js';
export type { ElicitResult } from '@quiver/core/tools';
