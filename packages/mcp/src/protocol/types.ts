/**
 * Types of the protocol, from the official schemas. Types only: nothing is loaded.
 *
 * @module
 */
import type {
  ClientCapabilitiesSchema,
  ContentBlockSchema,
  ImplementationSchema,
  ServerCapabilitiesSchema,
} from '@modelcontextprotocol/core';

type Output<Schema extends { _zod: { output: unknown } }> = Schema['_zod']['output'];

export type ClientCapabilities = Output<typeof ClientCapabilitiesSchema>;
export type ContentBlock = Output<typeof ContentBlockSchema>;
export type Implementation = Output<typeof ImplementationSchema>;
export type ServerCapabilities = Output<typeof ServerCapabilitiesSchema>;
