import type { ServerCapabilities } from '../../protocol/types.js';
import type { Catalog } from '../tools/catalog.js';
import type { LegacySession } from '../client/legacy-session.js';
import type { CallExtension } from '../call-extension.js';
import type { Feature } from '../feature.js';
import type { Lifecycle } from '../lifecycle.js';
import type { HookedServer } from '../middleware/hook-context.js';
import type { AnsweredRounds } from '../client/answered-rounds.js';
import type { RequestStateCodec } from '../client/request-state.js';
import type { ModernResults } from './modern-results.js';
import type { MCPServerPrompts, MCPServerResources } from './server-config.js';
import type { Subscribers } from '../client/subscribers.js';
import type { Provider } from '../provider.js';

/** State of a server that eras and transports share; made once from its configuration. */
export interface ServerState extends HookedServer {
  readonly instructions: string | undefined;
  /** A provider adds its own. */
  capabilities: ServerCapabilities;
  /** Rule that decides which items a caller can see. */
  readonly catalog: Catalog;
  readonly resources: MCPServerResources | undefined;
  readonly prompts: MCPServerPrompts | undefined;
  /** Items per page of a list. */
  readonly pageSize: number;
  readonly modernResults: ModernResults;
  readonly requestState: RequestStateCodec;
  /** Rounds that began with the response of a user. */
  readonly answeredRounds: AnsweredRounds;
  /** Connected legacy clients; transports add and remove them. */
  readonly sessions: Set<LegacySession>;
  readonly subscribers: Subscribers;
  /** Providers of further items, in the order in which they were added. */
  providers: readonly Provider[];
  readonly lifecycle: Lifecycle;
  /** Set once, when the server is created. */
  features: readonly Feature[];
  /** Extensions of the features, in their order. */
  calls: readonly CallExtension[];
}
