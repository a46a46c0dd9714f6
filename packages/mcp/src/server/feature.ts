import type { Result } from '../content.js';
import type { Params } from '../protocol/json-rpc.js';
import type { RequestMethod } from '../protocol/methods.js';
import type { CallExtension } from './call-extension.js';
import type { CommonSessions } from './http/sessions.js';
import type { Transport } from './lifecycle.js';
import type { ServerRequest } from './request.js';

/** Part of the filter of `subscriptions/listen`. */
export interface AcceptedFilter {
  readonly filter: object;
  /** Begins to send notifications, with the identity of the subscription in `_meta`. @returns a function that ends it */
  start(identity: object): Promise<() => unknown>;
}

/**
 * Additions of a feature to one server. `features.ts` is the table of all features, and each member has one user in `server/`: a member that is left out
 * there does not happen.
 */
export interface Feature {
  readonly transport?: Transport;
  /** Sessions over HTTP, in place of those in the memory of each endpoint. */
  readonly sessions?: CommonSessions;
  readonly call?: CallExtension;
  readonly methods?: { readonly [Method in RequestMethod]?: (request: ServerRequest) => Promise<Result> };
  /** Returns the extension of the protocol that the server declares to the caller of a request. */
  extensionFor?(request: ServerRequest): string | undefined;
  /** Returns the part of the filter of a `subscriptions/listen` request that the feature accepts. @throws ProtocolError for an invalid one */
  acceptFilter?(request: ServerRequest, filter: Params): Promise<AcceptedFilter | undefined> | undefined;
  /** Runs of this process that continue after their responses. */
  readonly runs?: number;
  /** Whether clients wait for something that only this process can tell them. The server then closes later. */
  readonly isAwaited?: boolean;
  /** Called once, when the tools of the configuration are registered. */
  ready?(): void;
  onListen?(): void;
  /** Called when the client over stdio has disconnected, and the server itself does not end. */
  onDisconnect?(): void;
  /** Ends the feature, after the transports. @param grace - milliseconds for what still runs */
  close?(grace: number): Promise<void>;
}
