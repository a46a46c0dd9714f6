import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EventStore } from './event-store.js';
import type { OriginPolicy } from './guard.js';
import type { SessionLimits } from './sessions.js';

/** Options of `startHTTP()`, `listen()` and `fetch()`. */
export interface StreamableHTTPServerTransportOptions extends OriginPolicy, Partial<SessionLimits> {
  /**
   * Makes the ids of sessions; they must be unguessable. Default: `crypto.randomUUID`. Given as `undefined`, there are no
   * sessions, as with `serverless`.
   */
  sessionIdGenerator?: (() => string) | undefined;
  /** Called with the id of every new session, before its client learns it. */
  onsessioninitialized?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** Whether there are no sessions, for example where each request runs in a separate process. Default `false`. */
  serverless?: boolean | undefined;
  /**
   * Whether responses are always JSON and never event streams. Messages that a tool sends before its result then go to the standalone event
   * stream of the session; without it they are dropped. Default `false`: responses are JSON unless a message precedes the result.
   */
  enableJsonResponse?: boolean | undefined;
  /** Lets clients resume broken event streams. Sessions only. Default: none. */
  eventStore?: EventStore | undefined;
  /** Milliseconds before a client resumes a stream. Default: the client decides. */
  retryInterval?: number | undefined;
  /** Largest body that is read, in bytes. Default 4 MiB. */
  maxBodyBytes?: number | undefined;
}

/** A request as middleware may hand it on: parsed, and with the caller's identity. */
export interface AuthenticatedRequest extends IncomingMessage {
  /** Set by authentication middleware; reaches tools as `context.mcp.extra.authInfo`. */
  auth?: unknown;
  /** Set by body-parsing middleware. */
  body?: unknown;
}

export interface StartHTTPOptions {
  /** The URL of the request; only its path is used. */
  url: URL;
  /** The path that MCP is served on, for example `/mcp`. */
  httpPath: string;
  req: IncomingMessage;
  res: ServerResponse;
  options?: StreamableHTTPServerTransportOptions;
}
