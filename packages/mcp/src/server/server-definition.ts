import type { Logger } from '@quiver/core';
import type { Implementation, ServerCapabilities } from '../protocol/types.js';
import type { SizeLimit } from '../result-limit/size-limit.js';
import type { Instance } from '../shared-store/instance.js';
import type { Catalog } from './catalog.js';
import type { LegacySession } from './legacy-session.js';
import type { Lifecycle } from './lifecycle.js';
import type { MiddlewareTable } from './middleware/middleware.js';
import type { RequestStateCodec } from './request-state.js';
import type { ResultStore } from './result-store.js';
import type { CacheableMethod } from '../protocol/methods.js';
import type { MCPServerPrompts, MCPServerResources } from './server-config.js';
import type { Subscribers } from './subscribers.js';
import type { Tasks } from './tasks/tasks.js';
import type { ToolRegistry } from './tool-registry.js';

/** State of a server that eras and transports share; made once from its configuration. */
export interface ServerDefinition {
  /** Identity of the server on the wire. */
  readonly serverInfo: Implementation;
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  /** Rule that decides which items a caller can see. */
  readonly catalog: Catalog;
  readonly tools: ToolRegistry;
  readonly resources: MCPServerResources | undefined;
  readonly prompts: MCPServerPrompts | undefined;
  /** Limit of tool results. */
  readonly resultLimit: SizeLimit | undefined;
  /** Results that were cut; `undefined` where no tool had a limit when the server was created. */
  readonly results: ResultStore | undefined;
  /** Items per page of a list. */
  readonly pageSize: number;
  /** Members of results that state how long clients may keep them, as JSON text. */
  readonly cacheHints: Readonly<Record<CacheableMethod, string>>;
  /** End of every modern result as JSON text: kind of the result and identity of the server. */
  readonly modernResultEnd: string;
  readonly maskErrors: boolean;
  readonly requestState: RequestStateCodec;
  /** Connected legacy clients; transports add and remove them. */
  readonly sessions: Set<LegacySession>;
  readonly subscribers: Subscribers;
  readonly middleware: MiddlewareTable;
  /** Requests whose audit entry is not written. */
  readonly auditing: Set<unknown>;
  /** This process among the instances of the server. */
  readonly instance: Instance;
  readonly tasks: Tasks;
  readonly lifecycle: Lifecycle;
  readonly logger: Logger;
}
