/**
 * `@quiver/mcp/client`: the client alone, without loading the server.
 *
 * @module
 */
export type { ToolCatalogue, ToolsWithErrors } from './client-tools.js';
export { MCPClient, type MCPClientOptions } from './mcp-client.js';
export type { Answers, ServerErrorDetails } from './ask-servers.js';
export type { AuthenticateServerOptions } from './authenticate-server.js';
export type { CallToolOptions } from './call-tool.js';
export type { CompleteOptions } from './completion.js';
export { loadMcpConfig, type LoadMcpConfigOptions } from './config-file.js';
export type { ElicitationHandler, ElicitationRequest } from './elicitation.js';
export type { LogHandler, LoggingLevel, LogMessage } from './log-message.js';
export type { ClientPrompts, GetPromptOptions } from './prompts.js';
export { RemoteToolError } from './remote-tool-error.js';
export type { RemoteTool } from './remote-tool.js';
export type { ToolCallInfo, ToolCallProcessor } from './tool-call-processor.js';
export type { ClientResources, ListOptions, ReadResourceResult, ResourceContents } from './resources.js';
export type { SamplingHandler, SamplingModel, SamplingOptions, SamplingRequest, SamplingResult } from './sampling.js';
export type {
  ContextualFetch,
  HttpServerDefinition,
  InProcessServerDefinition,
  MastraMCPServerDefinition,
  ServerOptions,
  StdioServerDefinition,
  ToolApproval,
} from './server-definition.js';
export type { ProgressUpdate } from './server-handlers.js';
export type { ServerStatus } from './server-status.js';
export { fingerprintTool, type DefinitionChanges } from './tool-fingerprint.js';
export { getToolResult } from './tool-result.js';
export type { ToolSelection } from './tool-selection.js';
export type { InProcessServer } from './transports/in-process.js';
export type { CallToolResult, ClientCapabilities, ProtocolTool, Root } from '../protocol/client-types.js';
export type { Prompt, PromptArgument, PromptMessage } from '../prompt.js';
export type { ListResourcesResult, Resource, ResourceTemplate } from '../resource.js';
export type { ElicitResult } from '@quiver/core/tools';
