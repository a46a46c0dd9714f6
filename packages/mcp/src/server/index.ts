/**
 * `@quiver/mcp/server`: the server alone, without loading the client.
 *
 * @module
 */
export { MCPServer } from './mcp-server.js';
export type { CloseOptions, FetchOptions } from './transports/served-transports.js';
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
export type { ToolsInput, ToolType } from './tool-registry.js';
export type { MCPServerPrompts } from './server-prompts.js';
export type { MCPServerResourceContent, MCPServerResources } from './server-resources.js';
export type { CallbackContext } from './callback-context.js';
export type { CompletionRequest } from './completion-request.js';
export type { CacheableMethod, CacheHint, CacheHints } from './cache-hints.js';
export type { ServerEvent, ServerEventBus } from './server-events.js';
export type { PromptActions, ResourceActions, ToolActions } from './server-actions.js';
export type { ElicitationActions } from './elicitation-actions.js';
export { urlElicitationRequired } from './url-elicitation-required.js';
export type { UriVariables } from './uri-template.js';
export type { Prompt, PromptArgument, PromptMessage } from '../prompt.js';
export type { ContentAnnotations, Icon, ListResourcesResult, Resource, ResourceTemplate } from '../resource.js';
export type { StartHTTPOptions, StreamableHTTPServerTransportOptions } from './transports/http-options.js';
export type { ListenOptions, McpHttpServer } from './transports/listen.js';
export type { EventMessage, EventStore } from './transports/event-store.js';
export { InMemoryEventStore, type InMemoryEventStoreOptions } from './transports/in-memory-event-store.js';
export type {
  SSEServerTransport,
  SSETransport,
  StdioServerTransport,
  StreamableHTTPServerTransport,
} from './transports/server-transports.js';
export type { SSEOptions } from './transports/sse-endpoint.js';
export type {
  ConnectHonoSSEOptions,
  ConnectSSEOptions,
  HonoContextLike,
  StartHonoSSEOptions,
  StartHonoSSEWithContext,
  StartSSEOptions,
} from './transports/sse-options.js';
