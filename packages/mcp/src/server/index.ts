/**
 * `@quiver/mcp/server`: the server alone, without loading the client.
 *
 * @module
 */
export { MCPServer } from './mcp-server.js';
export type { CloseOptions } from './transports.js';
export type { StdioOptions, StdioServerTransport } from './connection/stdio.js';
export type { StreamableHTTPServerTransport } from './http/endpoint.js';
export type { FetchOptions } from './http/transport-options.js';
export type {
  CacheHints,
  CallbackContext,
  MCPServerPrompts,
  MCPServerResourceContent,
  MCPServerResources,
  PackageInfo,
  RemoteInfo,
  Repository,
} from './definition/server-config.js';
export type { ServerDetail, ServerInfo, ToolInfo, ToolListInfo } from './definition/server-info.js';
export type { CatalogCaller, Visible } from './tools/catalog.js';
export type { RequestStateOptions } from './client/request-state.js';
export type { TasksOptions } from '../features/tasks/tasks.js';
export type { ToolsInput } from './tools/tool-registry.js';
export type { MCPServerConfig } from './features.js';
export type { ServerSearchOptions } from '../features/search/search.js';
export type { ProxyOptions } from '../features/gateway/upstream.js';
export type { ServerEvent, ServerEventBus } from './client/subscribers.js';
export type { ElicitationActions, PromptActions, ResourceActions, ToolActions } from './server-actions.js';
export { urlElicitationRequired } from './methods/url-elicitation.js';
export type { CallToolContext, Middleware, MiddlewareContext, MiddlewareResult } from './middleware/middleware.js';
export { cacheResults, type CacheResultsOptions } from '../features/result-cache/cache-results.js';
export { rateLimit, type RateLimitOptions } from '../features/rate-limit/rate-limit.js';
export { timeLimit } from '../features/time-limit/time-limit.js';
export type { Prompt, PromptArgument, PromptMessage } from '../prompt.js';
export type { Icon, ListResourcesResult, Resource, ResourceTemplate } from '../resource.js';
export type { ServerHealth } from './http/health.js';
export type { ListenOptions, McpHttpServer } from './http/listen.js';
export type { StartHTTPOptions } from './http/node-http.js';
export type { StreamableHTTPServerTransportOptions } from './http/endpoint-options.js';
export {
  InMemoryEventStore,
  type EventMessage,
  type EventStore,
  type InMemoryEventStoreOptions,
} from './http/event-store.js';
export type { SSEServerTransport, SSETransport } from '../features/sse/sse-endpoint.js';
export { InMemoryStore } from '../shared-store/in-memory-store.js';
export type {
  AppendOptions,
  DeleteOptions,
  LogEntry,
  PutOptions,
  SharedStore,
  StoredRecord,
  TokenBucket,
} from '../shared-store/shared-store.js';
