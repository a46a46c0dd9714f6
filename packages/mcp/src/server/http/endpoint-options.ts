import type { Authenticate } from '../../auth/server/authentication.js';
import type { OAuthServerOptions } from '../../auth/server/oauth-options.js';
import type { EventStore } from './event-store.js';
import type { OriginPolicy } from './guard.js';
import type { SessionLimits } from './sessions.js';

/** Options of `startHTTP()`, `listen()` and `fetch()`. */
export interface StreamableHTTPServerTransportOptions extends OriginPolicy, Partial<SessionLimits> {
  /**
   * Authenticates every request: a function that returns the caller, such as `{ userId, tenant }`, or a validator of this package; OAuth
   * options, as of `createOAuthMiddleware()`, serve the resource metadata too. Others receive 401. Tools find the caller as
   * `context.mcp.extra.authInfo`, and its members in their request context. Default: no authentication, or your own middleware.
   */
  authenticate?: Authenticate | OAuthServerOptions | undefined;
  /**
   * Makes the ids of sessions; they must be unguessable. Default: `crypto.randomUUID`. Given as `undefined`, there are no
   * sessions, as with `serverless`.
   */
  sessionIdGenerator?: (() => string) | undefined;
  /** Called with the id of every new session, before its client learns it. */
  onsessioninitialized?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** Whether there are no sessions, for example where each request runs in a separate process. Default `false`. */
  serverless?: boolean | undefined;
  /** The same as `serverless`. */
  stateless?: boolean | undefined;
  /**
   * Whether responses are always JSON and never event streams. Messages that a tool sends before its result then go to the standalone event
   * stream of the session; without it they are dropped. Default `false`: responses are JSON unless a message precedes the result.
   */
  enableJsonResponse?: boolean | undefined;
  /** Lets clients resume broken event streams. Sessions only. Default: none. */
  eventStore?: EventStore | undefined;
  /** Milliseconds before a client resumes a stream. Default: the client decides. */
  retryInterval?: number | undefined;
  /**
   * Whether `initialize` is refused with status 503 while the server drains, if another instance shares its store. For balancers that send
   * a request with this status to another instance, as `MCPClient` does. Default `false`: the session is opened, and with a shared store
   * every instance serves it.
   */
  refuseSessionsWhileDraining?: boolean | undefined;
  /** Largest body that is read, in bytes. Default 4 MiB. */
  maxBodyBytes?: number | undefined;
  /** @deprecated Has no effect: sessions end without a callback. */
  onsessionclosed?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** @deprecated Has no effect: a response becomes an event stream when a message precedes the result. */
  serverlessStreaming?: boolean | undefined;
}
