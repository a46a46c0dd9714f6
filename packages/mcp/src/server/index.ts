/**
 * `@quiver/mcp/server`: the server alone, without loading the client.
 *
 * @module
 */
export { MCPServer } from './mcp-server.js';
export type {
  CloseOptions,
  FetchOptions,
  SSEServerTransport,
  SSETransport,
  StdioServerTransport,
  StreamableHTTPServerTransport,
} from './mcp-server.js';
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
export type {
  CallbackContext,
  CompletionRequest,
  MCPServerPrompts,
  MCPServerResourceContent,
  MCPServerResources,
  UriVariables,
} from './server-callbacks.js';
export type { RequestStateOptions } from './request-state.js';
export type { ToolsInput, ToolType } from './tool-registry.js';
export type { CacheableMethod, CacheHint, CacheHints } from './cache-hints.js';
export type { ServerEvent, ServerEventBus } from './subscribers.js';
export type { ElicitationActions, PromptActions, ResourceActions, ToolActions } from './server-actions.js';
export { urlElicitationRequired } from './methods/url-elicitation-required.js';
export type { Prompt, PromptArgument, PromptMessage } from '../prompt.js';
export type { ContentAnnotations, Icon, ListResourcesResult, Resource, ResourceTemplate } from '../resource.js';
export type { StartHTTPOptions, StreamableHTTPServerTransportOptions } from './http/options.js';
export type { ListenOptions, McpHttpServer } from './http/listen.js';
export type { EventMessage, EventStore } from './http/event-store.js';
export { InMemoryEventStore, type InMemoryEventStoreOptions } from './http/in-memory-event-store.js';
export type {
  ConnectHonoSSEOptions,
  ConnectSSEOptions,
  HonoContextLike,
  SSEOptions,
  StartHonoSSEOptions,
  StartHonoSSEWithContext,
  StartSSEOptions,
} from './http/sse.js';
