import type { Logger } from '@quiver/core';
import type { Implementation, ServerCapabilities } from '../../protocol/types.js';
import type { Catalog } from '../tools/catalog.js';
import type { LegacySession } from '../client/legacy-session.js';
import type { CallExtension } from '../call-extension.js';
import type { Feature } from '../feature.js';
import type { Lifecycle } from '../lifecycle.js';
import type { Instance } from '../../shared-store/instance.js';
import type { MiddlewareTable } from '../middleware/middleware.js';
import type { ToolRegistry } from '../tools/tool-registry.js';
import type { AnsweredRounds } from '../client/answered-rounds.js';
import type { RequestStateCodec } from '../client/request-state.js';
import type { ModernMembers } from '../eras/modern.js';
import type { Subscribers } from '../client/subscribers.js';
import type { Provider } from '../provider.js';

/** State of a server that eras and transports share; made once from its configuration. */
export interface ServerState {
  /** Identity of the server on the wire. */
  readonly serverInfo: Implementation;
  readonly tools: ToolRegistry;
  readonly maskErrors: boolean;
  readonly middleware: MiddlewareTable;
  /** Work of hooks that is not done. */
  readonly work: Set<unknown>;
  /** This process among the instances of the server. */
  readonly instance: Instance;
  readonly logger: Logger;
  readonly instructions: string | undefined;
  /** A provider adds its own. */
  capabilities: ServerCapabilities;
  readonly catalog: Catalog;
  readonly pageSize: number;
  readonly modernMembers: ModernMembers;
  readonly requestState: RequestStateCodec;
  /** Rounds that began with the response of a user. */
  readonly answeredRounds: AnsweredRounds;
  /** Connected legacy clients; transports add and remove them. */
  readonly sessions: Set<LegacySession>;
  readonly subscribers: Subscribers;
  /** Providers of items: the callbacks of the application, and others in the order in which they were added. */
  providers: readonly Provider[];
  readonly lifecycle: Lifecycle;
  /** Set once, when the server is created. */
  features: readonly Feature[];
  calls: readonly CallExtension[];
}
