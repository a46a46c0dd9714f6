import type { ProtocolClient, ServerCapabilities } from '../../protocol/client-types.js';
import type { ServerEra } from './era-memory.js';

/** What a server said of itself when it was connected. A session that was taken up says nothing. */
export interface ServerFacts {
  readonly era: ServerEra | undefined;
  readonly protocolVersion: string | undefined;
  readonly capabilities: ServerCapabilities | undefined;
  readonly info: { readonly name: string; readonly version: string; readonly title?: string | undefined } | undefined;
  readonly instructions: string | undefined;
}

/** What the SDK's client was told. */
export function factsOf(client: ProtocolClient): ServerFacts {
  return {
    era: client.getProtocolEra(),
    protocolVersion: client.getNegotiatedProtocolVersion(),
    capabilities: client.getServerCapabilities(),
    info: client.getServerVersion(),
    instructions: client.getInstructions(),
  };
}
