import type { Logger } from '@quiver/core';
import type { ServerCapabilities } from '../protocol/types.js';
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
  readonly logger: Logger;
}
