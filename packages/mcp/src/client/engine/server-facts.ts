import type { ServerCapabilities } from '../../protocol/client-types.js';

export type ServerEra = 'legacy' | 'modern';

/** Description of a server from its handshake. */
export interface ServerFacts {
  readonly era: ServerEra | undefined;
  readonly protocolVersion: string | undefined;
  readonly capabilities: ServerCapabilities | undefined;
  readonly info: { readonly name: string; readonly version: string; readonly title?: string | undefined } | undefined;
  readonly instructions: string | undefined;
}

/** A server before its handshake. */
export const unknownServer: ServerFacts = {
  era: undefined,
  protocolVersion: undefined,
  capabilities: undefined,
  info: undefined,
  instructions: undefined,
};

/** A server whose session was resumed: there was no handshake. */
export const resumedServer: ServerFacts = { ...unknownServer, era: 'legacy' };
