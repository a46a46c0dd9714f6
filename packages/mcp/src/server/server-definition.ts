import type { Logger } from '@quiver/core';
import type { Implementation, ServerCapabilities } from '../protocol/types.js';
import type { Audience } from './audience.js';
import type { CacheableMethod } from './cache-hints.js';
import type { FailureReport } from './failure-report.js';
import type { LegacyPeer } from './legacy/legacy-peer.js';
import type { RequestStateCodec } from './modern/request-state.js';
import type { MCPServerPrompts } from './server-prompts.js';
import type { MCPServerResources } from './server-resources.js';
import type { ToolRegistry } from './tool-registry.js';

/** What both eras and all transports need to know of a server; made once from its configuration. */
export interface ServerDefinition {
  /** What the server says of itself on the wire. */
  readonly serverInfo: Implementation;
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly tools: ToolRegistry;
  readonly resources: MCPServerResources | undefined;
  readonly prompts: MCPServerPrompts | undefined;
  /** Items per page of a list. */
  readonly pageSize: number;
  /** How long results may be kept, as members of JSON text. */
  readonly cacheHints: Readonly<Record<CacheableMethod, string>>;
  readonly failures: FailureReport;
  readonly requestState: RequestStateCodec;
  /** The legacy clients that are connected now; transports add and remove them, and whoever has news sends it to them. */
  readonly peers: Set<LegacyPeer>;
  /** Everybody who may want to hear that something changed. */
  readonly audience: Audience;
  readonly logger: Logger;
}
