/**
 * The protocol's own shapes, as the official SDK describes them. Types only: nothing is loaded.
 *
 * @module
 */
export type {
  CallToolResult,
  ClientCapabilities,
  ContentBlock,
  Implementation,
  ServerCapabilities,
  Tool as ProtocolTool,
} from '@modelcontextprotocol/server';
