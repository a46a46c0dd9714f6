import type { ServerResponse } from 'node:http';
import { QuiverError } from '@quiver/core';
import { createLegacyPeer, type LegacyPeer } from './legacy/legacy-peer.js';

/** One legacy client over HTTP, between `initialize` and `DELETE`. A plain record: thousands of them are normal. */
export interface Session extends LegacyPeer {
  readonly id: string;
  /** Whom the session belongs to; others are told that it does not exist. */
  readonly principal: string;
  /** Milliseconds of the clock at the end of the last request. */
  lastActive: number;
  /** The open GET stream, for messages that belong to no request. */
  stream: ServerResponse | undefined;
}

export interface SessionLimits {
  /** A session without requests and without a GET stream ends after this many milliseconds. Default 30 minutes. */
  readonly idleTimeout: number;
  /** Sessions beyond this number are refused. Default 10 000. */
  readonly maxSessions: number;
}

export const defaultSessionLimits: SessionLimits = { idleTimeout: 30 * 60_000, maxSessions: 10_000 };

const sweepsPerTimeout = 4;

/** The sessions of one endpoint. One timer serves them all, and only while there are any. */
export class SessionStore {
  readonly #sessions = new Map<string, Session>();
  readonly #limits: SessionLimits;
  readonly #now: () => number;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(limits: SessionLimits = defaultSessionLimits, now: () => number = Date.now) {
    this.#limits = limits;
    this.#now = now;
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
    const session: Session = {
      ...createLegacyPeer(protocolVersion),
      id,
      principal,
      lastActive: this.#now(),
      stream: undefined,
    };
    this.#sessions.set(id, session);
    this.#sweeper ??= setInterval(
      () => this.sweep(),
      Math.max(50, this.#limits.idleTimeout / sweepsPerTimeout),
    ).unref();
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

  /** Cancels what the session is waiting for and closes its stream. */
  end(session: Session): void {
    if (!this.#sessions.delete(session.id)) return;
    for (const exchange of session.inFlight.values()) exchange.cancel();
    session.stream?.end();
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
      if (session.lastActive <= oldest && session.inFlight.size === 0 && !session.stream) this.end(session);
    }
  }
}
