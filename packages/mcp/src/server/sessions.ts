import { QuiverError } from '@quiver/core';
import type { Exchange } from './exchange.js';
import { abandonLegacyQuestions } from './legacy/ask-legacy-client.js';
import type { LegacyPeer } from './legacy/legacy-peer.js';
import type { LoggingLevel } from '../protocol/constants.js';
import type { RequestId } from '../protocol/json-rpc.js';
import type { ClientCapabilities } from '../protocol/types.js';
import type { EventStream } from './transports/event-stream.js';

/** One legacy client over HTTP, between `initialize` and `DELETE`. Small: thousands of them are normal. */
export class Session implements LegacyPeer {
  readonly id: string;
  /** Whom the session belongs to; others are told that it does not exist. */
  readonly principal: string;
  initialized = false;
  protocolVersion: string;
  clientCapabilities: ClientCapabilities = {};
  logLevel: LoggingLevel = 'debug';
  readonly inFlight: Map<RequestId, Exchange> = new Map();
  /** Milliseconds of the clock at the end of the last request. */
  lastActive: number;
  /** Carries messages that belong to no request; made by the first GET. */
  ownStream: EventStream | undefined;
  /** Answers that a client can come back for, by stream id. */
  streams: Map<string, EventStream> | undefined;
  #streamCount = 0;

  constructor(id: string, principal: string, protocolVersion: string, now: number) {
    this.id = id;
    this.principal = principal;
    this.protocolVersion = protocolVersion;
    this.lastActive = now;
  }

  send(messageText: string): boolean {
    return this.ownStream?.send(messageText) ?? false;
  }

  get ownStreamId(): string {
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
}

export const defaultSessionLimits: SessionLimits = { idleTimeout: 30 * 60_000, maxSessions: 10_000 };

const sweepsPerTimeout = 4;

export interface SessionStoreOptions {
  readonly limits?: SessionLimits;
  readonly now?: () => number;
  /** Gains every session that begins and loses it when it ends. */
  readonly peers?: Set<LegacyPeer>;
}

/** The sessions of one endpoint. One timer serves them all, and only while there are any. */
export class SessionStore {
  readonly #sessions = new Map<string, Session>();
  readonly #limits: SessionLimits;
  readonly #now: () => number;
  readonly #peers: Set<LegacyPeer> | undefined;
  #sweeper: NodeJS.Timeout | undefined;

  constructor({ limits = defaultSessionLimits, now = Date.now, peers }: SessionStoreOptions = {}) {
    this.#limits = limits;
    this.#now = now;
    this.#peers = peers;
  }

  get size(): number {
    return this.#sessions.size;
  }

  get full(): boolean {
    return this.#sessions.size >= this.#limits.maxSessions;
  }

  /** @throws `SESSION_ID_INVALID` when the id is taken, or cannot stand in a header */
  create(id: string, principal: string, protocolVersion: string): Session {
    if (!/^[\x21-\x7E]+$/.test(id) || this.#sessions.has(id)) {
      throw new QuiverError(
        'SESSION_ID_INVALID',
        'sessionIdGenerator returned an id that is in use or not visible ASCII; make it random.',
      );
    }
    const session = new Session(id, principal, protocolVersion, this.#now());
    this.#sessions.set(id, session);
    this.#peers?.add(session);
    this.#sweeper ??= this.#startSweeping();
    return session;
  }

  [Symbol.iterator](): IterableIterator<Session> {
    return this.#sessions.values();
  }

  /** The session with this id, if it belongs to this principal. */
  find(id: string, principal: string): Session | undefined {
    const session = this.#sessions.get(id);
    return session?.principal === principal ? session : undefined;
  }

  touch(session: Session): void {
    session.lastActive = this.#now();
  }

  /** Cancels what the session is waiting for and closes its streams. */
  end(session: Session): void {
    if (!this.#sessions.delete(session.id)) return;
    this.#peers?.delete(session);
    for (const exchange of session.inFlight.values()) exchange.cancel();
    abandonLegacyQuestions(session);
    void session.ownStream?.end();
    for (const stream of session.streams?.values() ?? []) void stream.end();
    if (this.#sessions.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }
  }

  endAll(): void {
    for (const session of this.#sessions.values()) this.end(session);
  }

  /** Ends sessions that were idle for too long. A request in flight or an open stream keeps a session. */
  sweep(): void {
    const oldest = this.#now() - this.#limits.idleTimeout;
    for (const session of this.#sessions.values()) {
      if (session.lastActive <= oldest && session.inFlight.size === 0 && !session.ownStream?.hasReader)
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
