/**
 * The shapes of messages, from the official schemas. Types only: nothing is loaded.
 *
 * @module
 */
import type {
  CallToolResultSchema,
  ClientCapabilitiesSchema,
  CompleteResultSchema,
  ContentBlockSchema,
  CreateMessageRequestParamsSchema,
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
  ImplementationSchema,
  RootSchema,
  ServerCapabilitiesSchema,
  SubscriptionFilterSchema,
  ToolSchema,
} from '@modelcontextprotocol/core';

/** The type that a schema parses. */
export type Output<Schema extends { readonly _zod: { readonly output: unknown } }> = Schema['_zod']['output'];

/** A result without the member that the client consumes. */
type ResultOf<Schema extends { readonly _zod: { readonly output: unknown } }> = {
  [Key in keyof Output<Schema> as Key extends 'resultType' ? never : Key]: Output<Schema>[Key];
};

/** Result of a `tools/call` request. */
export type CallToolResult = ResultOf<typeof CallToolResultSchema>;
/** Capabilities that a client declares to a server. */
export type ClientCapabilities = Output<typeof ClientCapabilitiesSchema>;
export type CompleteResult = ResultOf<typeof CompleteResultSchema>;
export type ContentBlock = Output<typeof ContentBlockSchema>;
export type CreateMessageRequestParams = Output<typeof CreateMessageRequestParamsSchema>;
export type CreateMessageResult = ResultOf<typeof CreateMessageResultSchema>;
export type CreateMessageResultWithTools = ResultOf<typeof CreateMessageResultWithToolsSchema>;
export type Implementation = Output<typeof ImplementationSchema>;
/** Tool as the protocol describes it. */
export type ProtocolTool = Output<typeof ToolSchema>;
/** File system root that a client offers to a server. */
export type Root = Output<typeof RootSchema>;
export type ServerCapabilities = Output<typeof ServerCapabilitiesSchema>;
export type SubscriptionFilter = Output<typeof SubscriptionFilterSchema>;
