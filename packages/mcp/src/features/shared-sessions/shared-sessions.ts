import { toErrorMessage } from '@quiver/core';
import { monotonicNow } from '../../monotonic-now.js';
import { parseMessage } from '../../protocol/json-rpc.js';
import { refused } from '../../protocol/protocol-error.js';
import type { ServerCapabilities } from '../../protocol/types.js';
import type { Instance } from '../../shared-store/instance.js';
import type { PutOptions, StoredRecord } from '../../shared-store/shared-store.js';
import { digestOf } from '../../server/digest.js';
import type { ServerState } from '../../server/definition/server-state.js';
import type { Feature } from '../../server/feature.js';
import type { HttpRequest } from '../../server/http/message.js';
import { parseSessionState, sessionMessages, type ForwardedMessage, type SessionNews } from './session-record.js';
import {
  sessionCallerOf,
  requireSessionId,
  sessionNotFound,
  SessionStore,
  type CommonSessions,
  type HttpSession,
  type SessionLimits,
  type SessionCaller,
} from '../../server/http/sessions.js';
import { SharedSession } from './shared-session.js';

/** Characters of a session id that is looked up. */
const MAX_SESSION_ID_LENGTH = 256;

/**
 * Sessions that the instances of a server share, for all its endpoints: a record per session in the shared store, and a copy in each
 * instance that served it. Each request reads the record, so that no instance serves a session that has ended.
 */
export class SharedSessions extends SessionStore implements Feature {
  readonly sessions: CommonSessions = this;
  // Only this class adds sessions.
  declare protected readonly open: Map<string, SharedSession>;
  readonly instance: Instance;
  readonly #server: ServerState;

  constructor(server: ServerState) {
    const { instance, sessions } = server;
    super(sessions);
    this.#server = server;
    this.instance = instance;
    instance.on<SessionNews>(sessionMessages.changed, ({ id, record }, from) => {
      const copy = from === instance.id ? undefined : this.open.get(id);
      if (!copy) return;
      if (record) copy.load(record);
      else this.drop(copy);
    });
    instance.on<ForwardedMessage>(sessionMessages.forwarded, ({ id, message }) => {
      const incoming = parseMessage(message);
      if (incoming && incoming.kind !== 'request') this.open.get(id)?.settle(incoming);
    });
  }

  get capabilities(): ServerCapabilities {
    return this.#server.capabilities;
  }

  readonly onStoreError = (error: unknown): void =>
    this.instance.logger.error(`The shared store failed: ${toErrorMessage(error)}`, error);

  /** As for sessions in memory. The limits count the sessions that this instance opened or served. */
  override async create(
    caller: SessionCaller,
    limits: Partial<SessionLimits>,
    createId: () => string,
  ): Promise<HttpSession> {
    // The client may receive what other instances send.
    await this.#guard(this.instance.start());
    const owner = await digestOf(caller.principal);
    const id = this.requireNewId(caller, limits, createId);
    return this.add(new SharedSession(this, id, owner, caller, limits));
  }

  override async require(request: HttpRequest, limits: Partial<SessionLimits>): Promise<HttpSession> {
    const id = requireSessionId(request);
    const { principal, callerKey } = sessionCallerOf(request);
    const session = await this.find(id, limits, callerKey);
    if (!session) throw sessionNotFound('it ended');
    if (session.principal !== principal) {
      if (session.owner !== (await digestOf(principal))) throw sessionNotFound('it ended');
      session.principal = principal;
    }
    await session.renew();
    return session;
  }

  /**
   * Returns a session of any instance; `undefined` when it has ended.
   *
   * @throws ProtocolError with HTTP status 503 when the store is unavailable
   */
  async find(id: string, limits: Partial<SessionLimits> = {}, callerKey?: string): Promise<SharedSession | undefined> {
    if (!this.isId(id)) return undefined;
    const record = await this.read(id);
    let session = this.open.get(id);
    if (!record) {
      // The session that a request is about to open has no record yet.
      if (!session?.isStored) return session;
      this.drop(session);
      return undefined;
    }
    try {
      session ??= this.add(new SharedSession(this, id, parseSessionState(record).owner, { callerKey }, limits));
      session.load(record);
    } catch (error) {
      this.onStoreError(error);
      return undefined;
    }
    // Before the request is served, whose effects on other instances come back as messages.
    await this.#guard(this.instance.start());
    return session;
  }

  override async end(session: HttpSession): Promise<void> {
    const { id } = session;
    const isStored = session instanceof SharedSession && session.isStored;
    if (isStored) await this.#guard(this.instance.store.delete(this.#keyOf(id)));
    this.drop(session);
    if (isStored) await this.#guard(this.announce({ id }));
  }

  /** Removes copies that are not used here, and extends the lifetime of the sessions that are. */
  override sweep(now: number = monotonicNow()): void {
    super.sweep(now);
    for (const session of this.open.values())
      if (!session.inFlight.isEmpty || session.hasReader) void session.renew().catch(() => {});
  }

  read(id: string): Promise<StoredRecord | undefined> {
    return this.#guard(this.instance.store.get(this.#keyOf(id)));
  }

  write(id: string, value: string, options: PutOptions): Promise<number | undefined> {
    return this.#guard(this.instance.store.put(this.#keyOf(id), value, options));
  }

  announce(news: SessionNews): Promise<void> {
    return this.instance.broadcast(sessionMessages.changed, news);
  }

  protected override isId(id: string): boolean {
    return id.length <= MAX_SESSION_ID_LENGTH && super.isId(id);
  }

  /** @throws ProtocolError with HTTP status 503 instead of the error of the store, which goes to the log */
  async #guard<Value>(answer: Promise<Value>): Promise<Value> {
    try {
      return await answer;
    } catch (error) {
      this.onStoreError(error);
      throw refused(503, 'The store that the instances of this server share is unavailable; try again later');
    }
  }

  #keyOf(id: string): string {
    return this.instance.nameOf('session', id);
  }
}
