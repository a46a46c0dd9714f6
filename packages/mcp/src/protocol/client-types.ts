/**
 * The SDK client's shapes. Types only: nothing is loaded.
 *
 * @module
 */
export type {
  CallToolResult,
  Client as ProtocolClient,
  ClientCapabilities,
  CompleteResult,
  ContentBlock,
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  JSONRPCMessage,
  jsonSchemaValidator as JsonSchemaValidator,
  McpSubscription,
  RequestOptions,
  Root,
  ServerCapabilities,
  StreamableHTTPClientTransport,
  StreamableHTTPReconnectionOptions,
  SubscriptionFilter,
  Tool as ProtocolTool,
  Transport,
} from '@modelcontextprotocol/client';
export type { OAuthClientProvider } from './oauth-types.js';
