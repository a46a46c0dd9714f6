/**
 * `@quiver/mcp/client`: the client alone, without loading the server.
 *
 * @module
 */
export { MCPClient, type AuthenticateServerOptions, type MCPClientOptions } from './mcp-client.js';
export type { BoundClient } from './bound-client.js';
export type { RequestOptions } from './config/caller.js';
export type { ClientInfo } from './config/client-info.js';
export { loadMcpConfig, type LoadMcpConfigOptions } from './config/config-file.js';
export type {
  ElicitationHandler,
  ElicitationRequest,
  LogHandler,
  LoggingLevel,
  LogMessage,
  ProgressUpdate,
  RequestHandlers,
  SamplingHandler,
  SamplingModel,
  SamplingOptions,
  SamplingRequest,
  SamplingResult,
  ServerMessageHandler,
} from './config/handlers.js';
export type { InProcessServer, MessageTransport } from './config/in-process-server.js';
export type {
  HttpServerDefinition,
  MastraMCPServerDefinition,
  ServerDefinition,
  ServerOptions,
  StdioServerDefinition,
  TlsOptions,
} from './config/server-definition.js';
export {
  RemoteToolError,
  type ToolApproval,
  type ToolCallInfo,
  type ToolCallProcessor,
} from './config/tool-options.js';
export type { CompleteOptions } from './features/completion.js';
export type { ClientPrompts, GetPromptOptions } from './features/prompts.js';
export type { ClientResources, ReadResourceResult, ResourceContents } from './features/resources.js';
export type { ServerStatus } from './remote/server-connection.js';
export type { Answers, ListOptions, ServerErrorDetails } from './remote/shared-servers.js';
export { fingerprintTool, type DefinitionChanges } from './remote/tool-definitions.js';
export type { CallToolOptions } from './tools/call-tool.js';
export type { ClientTasks, TaskHandle, TaskResultOptions } from './tools/client-tasks.js';
export type { RemoteTask } from './tools/task.js';
export type { RemoteTool } from './tools/remote-tool.js';
export { getToolResult } from './tools/tool-result.js';
export type { ToolCatalogue, ToolsWithErrors } from './tools/tool-set.js';
export type { ToolSignature, TypedServer } from './tools/typed-server.js';
export type { ContextualFetch } from '../http/send.js';
export type { Prompt, PromptArgument, PromptMessage } from '../prompt.js';
export type { CallToolResult, ClientCapabilities, ProtocolTool, Root } from '../protocol/types.js';
export type { ListResourcesResult, Resource, ResourceTemplate } from '../resource.js';
export type { ElicitResult } from '@quiver/core/tools';
