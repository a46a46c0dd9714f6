import { QuiverError } from '@quiver/core';
import { errorCodes, LEGACY_VERSIONS, type LoggingLevel } from '../../protocol/constants.js';
import { ProtocolError } from '../../protocol/protocol-error.js';

import type { RequestId } from '../../protocol/json-rpc.js';
import type { ClientCapabilities } from '../../protocol/types.js';
import { principalOf, toAuthInfo } from '../auth-info.js';
import { rejectPending } from '../eras/send-client-request.js';
import type { InFlight, LegacySession } from '../legacy-session.js';
import {
  DEFAULT_IDLE_TIMEOUT,
  DEFAULT_MAX_REQUESTS_PER_SESSION,
  DEFAULT_MAX_SESSIONS,
  DEFAULT_MAX_SESSIONS_PER_CALLER,
} from '../limits.js';
import type { EventStream } from './event-stream.js';
import { isLoopback } from './guard.js';
import type { HttpRequest } from './message.js';

/** Returns the limits with the default for each one that is `undefined`. */
export function withDefaults(limits: { readonly [Name in keyof SessionLimits]?: number | undefined }): SessionLimits {
  return {
    idleTimeout: limits.idleTimeout ?? DEFAULT_IDLE_TIMEOUT,
    maxSessions: limits.maxSessions ?? DEFAULT_MAX_SESSIONS,
    maxSessionsPerCaller: limits.maxSessionsPerCaller ?? DEFAULT_MAX_SESSIONS_PER_CALLER,
    maxRequestsPerSession: limits.maxRequestsPerSession ?? DEFAULT_MAX_REQUESTS_PER_SESSION,
  };
}

/** Session of one legacy client over HTTP, between `initialize` and `DELETE`. Small: thousands of them are normal. */
export class HttpSession implements LegacySession {
  readonly id: string;
  /** Principal that owns the session. Other principals receive 404. */
  readonly principal: string;
  /** Caller that the session counts for, see {@link SessionLimits.maxSessionsPerCaller}. */
  caller: string | undefined;
  maxRequests: number = DEFAULT_MAX_REQUESTS_PER_SESSION;
  initialized = false;
  protocolVersion: string;
  clientCapabilities: ClientCapabilities = {};
  logLevel: LoggingLevel = 'debug';
  readonly inFlight: Map<RequestId, InFlight> = new Map();
  /** Clock value at the end of the last request, in milliseconds. */
  lastActive: number;
  /** Standalone event stream for messages that belong to no request; created by the first GET. */
  standaloneStream: EventStream | undefined;
  /** Event streams that a client can resume, by stream id. */
  streams: Map<string, EventStream> | undefined;
  #streamCount = 0;

  constructor(id: string, principal: string, protocolVersion: string, now: number) {
    this.id = id;
    this.principal = principal;
    this.protocolVersion = protocolVersion;
    this.lastActive = now;
  }

  send(messageText: string): boolean {
    return this.standaloneStream?.send(messageText) ?? false;
  }

  get standaloneStreamId(): string {
    return `${this.id}/own`;
  }

  nextStreamId(): string {
    this.#streamCount += 1;
    return `${this.id}/${this.#streamCount}`;
  }
}

export interface SessionLimits {
  /** A session without requests and without a GET stream ends after this many milliseconds. Default 30 minutes. */
  readonly idleTimeout: number;
  /** Sessions beyond this number are refused. Default 10 000. */
  readonly maxSessions: number;
  /**
   * Open sessions per caller; more are refused with status 429. The caller is the principal, or the network address of a client
   * without authentication. Loopback addresses, and `fetch()` without `authInfo`, have no limit of their own: they may stand for
   * many callers. Default 1000.
   */
  readonly maxSessionsPerCaller: number;
  /** Unfinished requests per session; more are refused with status 429. Default 1000. */
  readonly maxRequestsPerSession: number;
}

const sweepsPerTimeout = 4;

/**
 * Refuses a session that would exceed a limit.
 *
 * @throws ProtocolError with HTTP status 503 when the server is full, 429 when the caller has too many sessions
 */
export function requireRoom(open: number, openOfCaller: number, limits: SessionLimits): void {
  const { maxSessions, maxSessionsPerCaller } = limits;
  if (open >= maxSessions)
    throw new ProtocolError(errorCodes.refused, 'Too many sessions are open; try again later', { httpStatus: 503 });
  if (openOfCaller >= maxSessionsPerCaller) {
    throw new ProtocolError(
      errorCodes.refused,
      `This caller has ${maxSessionsPerCaller} open sessions, which is the limit; end one or try again later`,
      { httpStatus: 429 },
    );
  }
}

/** Returns the caller that a session counts for; `undefined` when the request does not tell callers apart. */
export function callerOf(principal: string, { remoteAddress }: HttpRequest): string | undefined {
  if (principal !== '') return principal;
  return remoteAddress === undefined || isLoopback(remoteAddress) ? undefined : `address ${remoteAddress}`;
}

/** Counts open sessions by caller. */
export class CallerCount {
  readonly #counts = new Map<string, number>();

  of(caller: string | undefined): number {
    return caller === undefined ? 0 : (this.#counts.get(caller) ?? 0);
  }

  add(caller: string | undefined, difference: 1 | -1): void {
    if (caller === undefined) return;
    const count = this.of(caller) + difference;
    if (count > 0) this.#counts.set(caller, count);
    else this.#counts.delete(caller);
  }
}

export interface SessionStoreOptions {
  readonly limits?: Parameters<typeof withDefaults>[0];
  readonly now?: () => number;
  /** Set of connected clients that the store keeps up to date. */
  readonly connected?: Set<LegacySession>;
}

/** Sessions of one endpoint. One timer serves all of them, and only while there are any. */
export class SessionStore {
  readonly #sessions = new Map<string, HttpSession>();
  readonly #limits: SessionLimits;
  readonly #now: () => number;
  readonly #connected: Set<LegacySession> | undefined;
  /** Number of open sessions by caller. */
  readonly #open = new CallerCount();
  #sweeper: NodeJS.Timeout | undefined;

  constructor({ limits = {}, now = Date.now, connected }: SessionStoreOptions = {}) {
    this.#limits = withDefaults(limits);
    this.#now = now;
    this.#connected = connected;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** @throws ProtocolError with HTTP status 503 or 429 when no session can be opened for this caller */
  requireRoom(caller: string | undefined): void {
    requireRoom(this.#sessions.size, this.#open.of(caller), this.#limits);
  }

  /**
   * @param caller - caller that the session counts for
   * @throws `SESSION_ID_INVALID` when the id is in use or is not a valid header value
   */
  create(id: string, principal: string, protocolVersion: string, caller?: string): HttpSession {
    if (!/^[\x21-\x7E]+$/.test(id) || this.#sessions.has(id)) {
      throw new QuiverError(
        'SESSION_ID_INVALID',
        'sessionIdGenerator returned an id that is in use or not visible ASCII; make it random.',
      );
    }
    const session = new HttpSession(id, principal, protocolVersion, this.#now());
    session.caller = caller;
    session.maxRequests = this.#limits.maxRequestsPerSession;
    this.#open.add(caller, 1);
    this.#sessions.set(id, session);
    this.#connected?.add(session);
    this.#sweeper ??= this.#startSweeping();
    return session;
  }

  [Symbol.iterator](): IterableIterator<HttpSession> {
    return this.#sessions.values();
  }

  /** Returns the session with this id, if it belongs to this principal. */
  find(id: string, principal: string): HttpSession | undefined {
    const session = this.#sessions.get(id);
    return session?.principal === principal ? session : undefined;
  }

  touch(session: HttpSession): void {
    session.lastActive = this.#now();
  }

  /** Ends a session: cancels its requests and closes its streams. */
  end(session: HttpSession): void {
    if (!this.#sessions.delete(session.id)) return;
    this.#open.add(session.caller, -1);
    this.#connected?.delete(session);
    for (const request of session.inFlight.values()) request.cancel();
    rejectPending(session);
    void session.standaloneStream?.end();
    for (const stream of session.streams?.values() ?? []) void stream.end();
    if (this.#sessions.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }
  }

  endAll(): void {
    for (const session of this.#sessions.values()) this.end(session);
  }

  /** Ends idle sessions. A request in flight or an open standalone stream keeps a session. */
  sweep(): void {
    const oldest = this.#now() - this.#limits.idleTimeout;
    for (const session of this.#sessions.values()) {
      if (session.lastActive <= oldest && session.inFlight.size === 0 && !session.standaloneStream?.hasReader)
        this.end(session);
    }
  }

  #startSweeping(): NodeJS.Timeout {
    const sweeper = setInterval(() => this.sweep(), Math.max(50, this.#limits.idleTimeout / sweepsPerTimeout));
    // Outside of Node timers are numbers and keep nothing alive.
    sweeper.unref?.();
    return sweeper;
  }
}

/** Returns whether an endpoint has no sessions. */
export function isStateless(options: {
  serverless?: boolean | undefined;
  sessionIdGenerator?: (() => string) | undefined;
}): boolean {
  return options.serverless === true || ('sessionIdGenerator' in options && options.sessionIdGenerator === undefined);
}

/**
 * Returns the session that a request names, if it belongs to the caller. For other callers it does not exist.
 *
 * @throws ProtocolError with HTTP status 400 or 404
 */
export function requireSession({
  endpoint: { sessions },
  request,
}: {
  readonly endpoint: { readonly sessions: SessionStore };
  readonly request: HttpRequest;
}): HttpSession {
  const id = request.header('mcp-session-id');
  if (id === undefined) {
    const message =
      request.method === 'POST'
        ? 'Bad Request: No valid session ID provided for non-initialize request'
        : `Bad Request: ${request.method} request requires a valid session ID`;
    throw new ProtocolError(errorCodes.refused, message, { httpStatus: 400 });
  }
  const session = sessions.find(id, principalOf(toAuthInfo(request.auth)));
  if (!session) throw new ProtocolError(errorCodes.sessionNotFound, 'Session not found', { httpStatus: 404 });
  return session;
}

/** @throws ProtocolError with HTTP status 400 for an unknown protocol version; a missing header means the default version */
export function requireLegacyVersion(version: string | undefined): void {
  if (version === undefined || LEGACY_VERSIONS.some((known) => known === version)) return;
  throw new ProtocolError(
    errorCodes.refused,
    `Bad Request: Unsupported protocol version: ${version.slice(0, 50)} (supported versions: ${LEGACY_VERSIONS.join(', ')})`,
    { httpStatus: 400 },
  );
}
