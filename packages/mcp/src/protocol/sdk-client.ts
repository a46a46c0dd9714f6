/**
 * What is taken from the SDK's client package at run time. Loading it costs about 140 ms, so it is imported dynamically, when
 * the first server is connected.
 *
 * @module
 */
export {
  Client,
  InMemoryTransport,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
