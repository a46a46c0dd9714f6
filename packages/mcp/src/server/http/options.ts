import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EventStore } from './event-store.js';
import type { OriginPolicy } from './guard.js';
import type { SessionLimits } from './sessions.js';

/** How `startHTTP()`, `listen()` and `fetch()` treat requests. */
export interface StreamableHTTPServerTransportOptions extends OriginPolicy, Partial<SessionLimits> {
  /**
   * Makes the ids of sessions; they must be unguessable. Default: `crypto.randomUUID`. Given as `undefined`, there are no
   * sessions, as with `serverless`.
   */
  sessionIdGenerator?: (() => string) | undefined;
  /** Called with the id of every new session, before its client learns it. */
  onsessioninitialized?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** No sessions: every request stands alone, as where each runs in a process of its own. Default `false`. */
  serverless?: boolean | undefined;
  /**
   * Answers are always JSON and never event streams. What a tool sends before its answer then goes to the session's GET stream,
   * or nowhere; without that stream it cannot ask. Default `false`: answers are JSON until there is something to send first.
   */
  enableJsonResponse?: boolean | undefined;
  /** Lets clients whose connection broke go on where they were. Sessions only. Default: none. */
  eventStore?: EventStore | undefined;
  /** Milliseconds after which a client with an `eventStore` comes back. Default: the client decides. */
  retryInterval?: number | undefined;
  /** The largest body that is read, in bytes. Default 4 MiB. */
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
