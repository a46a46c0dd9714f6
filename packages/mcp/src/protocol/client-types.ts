/**
 * The SDK client's shapes. Types only: nothing is loaded.
 *
 * @module
 */
export type {
  CallToolResult,
  Client as ProtocolClient,
  JSONRPCMessage,
  jsonSchemaValidator as JsonSchemaValidator,
  StreamableHTTPClientTransport as HttpTransport,
  Tool as ProtocolTool,
  Transport,
} from '@modelcontextprotocol/client';
