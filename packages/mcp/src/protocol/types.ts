/**
 * The protocol's own shapes, as the official SDK describes them. Types only: nothing is loaded.
 *
 * @module
 */
export type {
  ClientCapabilities,
  ContentBlock,
  Implementation,
  ServerCapabilities,
} from '@modelcontextprotocol/server';
