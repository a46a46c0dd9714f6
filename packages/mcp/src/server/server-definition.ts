import type { Logger } from '@quiver/core';
import type { Implementation, ServerCapabilities } from '../protocol/types.js';
import type { CacheableMethod } from './cache-hints.js';
import type { FailureReport } from './failure-report.js';
import type { LegacySession } from './legacy-session.js';
import type { RequestStateCodec } from './request-state.js';
import type { MCPServerPrompts, MCPServerResources } from './server-callbacks.js';
import type { Subscribers } from './subscribers.js';
import type { ToolRegistry } from './tool-registry.js';

/** State of a server that eras and transports share; made once from its configuration. */
export interface ServerDefinition {
  /** Identity of the server on the wire. */
  readonly serverInfo: Implementation;
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly tools: ToolRegistry;
  readonly resources: MCPServerResources | undefined;
  readonly prompts: MCPServerPrompts | undefined;
  /** Items per page of a list. */
  readonly pageSize: number;
  /** Members of results that state how long clients may keep them, as JSON text. */
  readonly cacheHints: Readonly<Record<CacheableMethod, string>>;
  /** End of every modern result as JSON text: kind of the result and identity of the server. */
  readonly modernResultEnd: string;
  readonly failures: FailureReport;
  readonly requestState: RequestStateCodec;
  /** Connected legacy clients; transports add and remove them. */
  readonly sessions: Set<LegacySession>;
  readonly subscribers: Subscribers;
  readonly logger: Logger;
}
