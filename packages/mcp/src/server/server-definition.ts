import type { Logger } from '@quiver/core';
import type { ServerCapabilities } from '../protocol/types.js';
import type { LegacyPeer } from './legacy/legacy-peer.js';
import type { RequestStateCodec } from './modern/request-state.js';
import type { ToolRegistry } from './tool-registry.js';

/** What both eras and all transports need to know of a server; made once from its configuration. */
export interface ServerDefinition {
  /** What the server says of itself on the wire. */
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly tools: ToolRegistry;
  readonly requestState: RequestStateCodec;
  /** The legacy clients that are connected now; transports add and remove them, and whoever has news sends it to them. */
  readonly peers: Set<LegacyPeer>;
  readonly logger: Logger;
}
