import { QuiverError } from '@quiver/core';
import { monotonicNow } from '../../monotonic-now.js';
import { EMPTY_EVENTS_VERSION, errorCodes } from '../../protocol/constants.js';
import type { RequestId } from '../../protocol/json-rpc.js';
import { ProtocolError, refused } from '../../protocol/protocol-error.js';
import { Caller } from '../caller.js';
import { LegacySession } from '../client/legacy-session.js';
import {
  DEFAULT_IDLE_TIMEOUT,
  DEFAULT_MAX_REQUESTS_PER_SESSION,
  DEFAULT_MAX_SESSIONS,
  DEFAULT_MAX_SESSIONS_PER_CALLER,
} from '../limits.js';
import type { EventStore, EventWriter } from './event-store.js';
import type { EventStream } from './event-stream.js';
import type { HttpReply, HttpRequest } from './message.js';
import { responseStreamIdOf } from './stream-id.js';

export interface SessionLimits {
  /** A session without requests and without a GET stream ends after this many milliseconds. Default 30 minutes. */
  readonly idleTimeout: number;
  /** Sessions beyond this number are refused. Default 10 000. */
  readonly maxSessions: number;
  /**
   * Open sessions per caller; more are refused with status 429. The caller is the principal, or the network address of a client
   * without authentication: of an IPv6 address, its /64 prefix. Loopback addresses, and `fetch()` without `authInfo`, have no limit of their own: they may stand for
   * many callers. Default: a quarter of `maxSessions`, and at most 1000.
   */
  readonly maxSessionsPerCaller: number;
  /** Unfinished requests per session; more are refused with status 429. Default 1000. */
  readonly maxRequestsPerSession: number;
}

/** Caller that a session belongs to and counts for. */
export interface SessionCaller {
  /** Empty without authentication. Other principals receive 404. */
  readonly principal: string;
  /** Key that {@link SessionLimits.maxSessionsPerCaller} counts by; `undefined` when there is no such limit. */
  readonly callerKey: string | undefined;
}

export function sessionCallerOf(request: HttpRequest): SessionCaller {
  const { principal = '', key } = callerOf(request);
  return { principal, callerKey: key };
}

/** @param sessionId - of the session that the request belongs to */
export function callerOf(request: HttpRequest, sessionId?: string): Caller {
  return new Caller({ authInfo: request.authInfo, sessionId, transport: 'http', http: request });
}

/**
 * Refuses a session that would exceed a limit.
 *
 * @throws ProtocolError with HTTP status 503 when the server is full, 429 when the caller has too many sessions
 */
export function requireRoom(
  open: ReadonlyMap<string, Pick<SessionCaller, 'callerKey'>>,
  { callerKey }: SessionCaller,
  {
    maxSessions = DEFAULT_MAX_SESSIONS,
    // One caller must not be able to take all sessions.
    maxSessionsPerCaller = Math.min(DEFAULT_MAX_SESSIONS_PER_CALLER, Math.ceil(maxSessions / 4)),
  }: Partial<SessionLimits>,
): void {
  if (open.size >= maxSessions) throw refused(503, 'Too many sessions are open; try again later');
  if (callerKey === undefined || open.size < maxSessionsPerCaller) return;
  let count = 0;
  for (const session of open.values()) if (session.callerKey === callerKey) count += 1;
  if (count < maxSessionsPerCaller) return;
  throw refused(
    429,
    `This caller has ${maxSessionsPerCaller} open sessions, which is the limit; end one or try again later`,
  );
}

/** Options of a GET request. */
export interface StreamOptions {
  readonly eventStore?: EventStore | undefined;
  readonly retryInterval?: number | undefined;
}

/** Session of one legacy client over HTTP, between `initialize` and `DELETE`. Small: thousands of them are normal. */
export class HttpSession extends LegacySession {
  override readonly id: string;
  /** Principal of the caller; in a shared one `undefined` before this instance has served a request of it. */
  principal: string | undefined;
  readonly callerKey: string | undefined;
  protected readonly idleTimeout: number;
  /** Time of the end of the last request, on the monotonic clock. */
  lastActive: number = monotonicNow();
  /** Standalone event stream for messages that belong to no request; created by the first GET. */
  standaloneStream: EventStream | undefined;
  /** Event streams that a client can resume, by stream id. */
  streams: Map<string, EventStream> | undefined;
  #streamCount = 0;

  constructor(id: string, { principal, callerKey }: Partial<SessionCaller>, limits: Partial<SessionLimits>) {
    const { maxRequestsPerSession = DEFAULT_MAX_REQUESTS_PER_SESSION, idleTimeout = DEFAULT_IDLE_TIMEOUT } = limits;
    super({ maxRequests: maxRequestsPerSession });
    this.id = id;
    this.principal = principal;
    this.callerKey = callerKey;
    this.idleTimeout = idleTimeout;
  }

  get events(): EventWriter | undefined {
    return undefined;
  }

  /** Whether the client reads an event stream that belongs to no request. */
  get hasReader(): boolean {
    return this.standaloneStream?.hasReader === true;
  }

  /** Whether an event may have an id and no message, after which a client resumes a stream that breaks before the next event. */
  get acceptsEmptyEvents(): boolean {
    return this.client.protocolVersion >= EMPTY_EVENTS_VERSION;
  }

  override send(messageText: string): boolean {
    return this.standaloneStream?.send(messageText) ?? false;
  }

  get standaloneStreamId(): string {
    return `${this.id}/own`;
  }

  /**
   * Returns the id of the event stream of a response.
   *
   * @param requestId - `null` for a batch
   */
  nextStreamId(requestId: RequestId | null): string {
    this.#streamCount += 1;
    const writer = this.instanceId;
    return responseStreamIdOf(this.id, this.#streamCount, writer === undefined ? undefined : { writer, requestId });
  }

  /** Whether the session may end. A request in flight or an open standalone stream keeps it. */
  isExpired(now: number): boolean {
    return this.lastActive + this.idleTimeout <= now && this.inFlight.isEmpty && !this.hasReader;
  }

  keepAlive(): void {
    this.standaloneStream?.keepAlive();
  }

  /**
   * Serves GET from the session's own events: the standalone stream, or after an event id the rest of any stream.
   *
   * @returns `undefined` where the session has no events of its own
   * @throws ProtocolError with HTTP status 400 or 409
   */
  follow(_reply: HttpReply, _lastEventId: string | undefined, _options: StreamOptions): Promise<void> | undefined {
    return undefined;
  }

  /** Ends event streams of GET requests that clients continue at another instance. */
  endReaders(): void {}

  override end(): void {
    super.end();
    void this.standaloneStream?.end();
    for (const stream of this.streams?.values() ?? []) void stream.end();
  }
}

/** Sessions in memory: those of one endpoint, or copies of sessions that instances share. */
export class SessionStore {
  protected readonly open: Map<string, HttpSession> = new Map();
  readonly endpoints: Set<object> = new Set();
  readonly #connected: Set<LegacySession>;

  /** @param connected - set of connected clients that the store keeps up to date */
  constructor(connected: Set<LegacySession> = new Set()) {
    this.#connected = connected;
  }

  get size(): number {
    return this.open.size;
  }

  [Symbol.iterator](): IterableIterator<HttpSession> {
    return this.open.values();
  }

  /**
   * @throws ProtocolError with HTTP status 503 or 429 when no session can be opened for this caller
   * @throws `SESSION_ID_INVALID` when the id is in use or is not a valid header value
   */
  async create(caller: SessionCaller, limits: Partial<SessionLimits>, createId: () => string): Promise<HttpSession> {
    return this.add(new HttpSession(this.requireNewId(caller, limits, createId), caller, limits));
  }

  /** @throws errors of {@link SessionStore.create} */
  protected requireNewId(caller: SessionCaller, limits: Partial<SessionLimits>, createId: () => string): string {
    requireRoom(this.open, caller, limits);
    const id = createId();
    if (this.isId(id) && !this.open.has(id)) return id;
    throw sessionIdInvalid();
  }

  protected isId(id: string): boolean {
    return visiblePattern.test(id);
  }

  /**
   * Returns the session that a request names, if it belongs to the caller. For other callers it does not exist.
   *
   * @throws ProtocolError with HTTP status 400 or 404
   */
  require(request: HttpRequest, _limits: Partial<SessionLimits>): HttpSession | Promise<HttpSession> {
    const session = this.open.get(requireSessionId(request));
    if (session?.isExpired(monotonicNow())) this.drop(session);
    else if (session?.principal === (callerOf(request).principal ?? '')) return session;
    throw sessionNotFound('it ended, or another process has it');
  }

  /** Ends a session: cancels its requests and closes its streams. */
  async end(session: HttpSession): Promise<void> {
    this.drop(session);
  }

  endAll(): void {
    for (const session of this.open.values()) this.drop(session);
  }

  sweep(now: number = monotonicNow()): void {
    for (const session of this.open.values()) if (session.isExpired(now)) this.drop(session);
  }

  protected add<Session extends HttpSession>(session: Session): Session {
    this.open.set(session.id, session);
    this.#connected.add(session);
    return session;
  }

  /** Ends a session here. */
  drop(session: HttpSession): void {
    if (!this.open.delete(session.id)) return;
    this.#connected.delete(session);
    session.end();
  }
}

/** Sessions of a server, for all its endpoints, which other instances may serve too. */
export interface CommonSessions extends SessionStore {
  /** Returns a session of any instance; `undefined` when it has ended. */
  find(id: string): Promise<HttpSession | undefined>;
}

/** Visible ASCII, as in a header. */
const visiblePattern: RegExp = /^[\x21-\x7E]+$/;

/** @throws ProtocolError with HTTP status 400 for a request without a session id */
export function requireSessionId(request: HttpRequest): string {
  const id = request.header('mcp-session-id');
  if (id !== undefined) return id;
  throw refused(
    400,
    request.method === 'POST'
      ? 'Bad Request: No valid session ID provided for non-initialize request'
      : `Bad Request: ${request.method} request requires a valid session ID`,
  );
}

export function sessionNotFound(reason: string): ProtocolError {
  const message = `Session not found: ${reason}; send initialize to start a new one`;
  return new ProtocolError(errorCodes.sessionNotFound, message, { httpStatus: 404 });
}

export function sessionIdInvalid(): QuiverError {
  return new QuiverError(
    'SESSION_ID_INVALID',
    'sessionIdGenerator returned an id that is in use or not visible ASCII; make it random.',
  );
}
