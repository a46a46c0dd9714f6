import { monotonicNow } from '../../monotonic-now.js';
import { listChanges, listKinds } from '../../protocol/methods.js';
import { refused } from '../../protocol/protocol-error.js';
import { MAX_LIFETIME } from '../../shared-store/check-arguments.js';
import type { StoredRecord } from '../../shared-store/shared-store.js';
import type { ClientFacts, ClientMessage } from '../../server/client/legacy-session.js';
import { senderOf } from '../../server/client/pending-requests.js';
import { DEFAULT_IDLE_TIMEOUT } from '../../server/limits.js';
import { notificationText, type ServerEvent } from '../../server/client/subscribers.js';
import { emptyEvent } from '../../server/http/event-store.js';
import { EventStream, primingEvent } from '../../server/http/event-stream.js';
import type { HttpReply } from '../../server/http/message.js';
import {
  parseSessionState,
  recordInvalid,
  sessionMessages,
  toSessionText,
  type ForwardedMessage,
  type SessionState,
} from './session-record.js';
import {
  HttpSession,
  sessionIdInvalid,
  sessionNotFound,
  type SessionLimits,
  type SessionCaller,
  type StreamOptions,
} from '../../server/http/sessions.js';
import { SharedEventStore, streamIdOf } from './shared-event-store.js';
import { SharedReaders } from './shared-readers.js';
import type { SharedSessions } from './shared-sessions.js';
import { openReader, requireStreamOf } from '../../server/http/stream-reader.js';

/** A session of all instances, as one of them knows it: its record is in the shared store, its requests and streams are here. */
export class SharedSession extends HttpSession {
  readonly #server: SharedSessions;
  /** Milliseconds that the record lives after a request. Longer than the session: one instance does not know when another one served it last. */
  readonly #lifetime: number;
  readonly #events: SharedEventStore;
  readonly owner: string;
  #reader: string | undefined;
  #stored: StoredRecord | undefined;
  #renewed = -Infinity;
  readonly #readers: SharedReaders;

  constructor(
    server: SharedSessions,
    id: string,
    owner: string,
    caller: Partial<SessionCaller>,
    limits: Partial<SessionLimits>,
  ) {
    super(id, caller, limits);
    this.owner = owner;
    this.#server = server;
    this.#lifetime = Math.min(Math.max(this.idleTimeout * 1.25, 1), MAX_LIFETIME);
    // A call in flight may be quiet for longer than a session may be idle.
    this.#events = new SharedEventStore(server.instance, Math.max(this.#lifetime, DEFAULT_IDLE_TIMEOUT));
    this.#readers = new SharedReaders(this.#events, server.onStoreError);
  }

  /** Takes over the state of a record, unless this instance has the same or a later one. */
  load(record: StoredRecord): void {
    if (this.#stored && record.version <= this.#stored.version) return;
    this.#replace(record);
  }

  /**
   * Takes over the state of the record that a write was refused for. A store that lost the newest writes has an older one.
   *
   * @throws `SESSION_RECORD_INVALID`, also for a record of another principal
   */
  #replace(record: StoredRecord): void {
    // Renewed records have the same value.
    if (record.value !== this.#stored?.value) {
      const { owner, client, reader } = parseSessionState(record);
      if (owner !== this.owner) throw recordInvalid();
      this.client = client;
      this.#reader = reader;
      if (reader !== this.instanceId) this.#readers.close(this.standaloneStreamId);
    }
    this.#stored = record;
  }

  /**
   * Changes the state and stores it. When another instance changed it at the same time, the change is made again on the newer state.
   *
   * @throws `SESSION_ID_INVALID` for a new session whose id is in use
   * @throws ProtocolError with HTTP status 404 when another instance ended the session
   */
  override update(change: (client: ClientFacts) => Partial<ClientFacts>): Promise<void> {
    return this.#store(() => ({ client: { ...this.client, ...change(this.client) } }));
  }

  async #store(change: () => Partial<SessionState>): Promise<void> {
    for (;;) {
      const { owner, client } = this;
      const value = toSessionText({ owner, client, reader: this.#reader, ...change() });
      const isNew = !this.#stored;
      const version = await this.#put(value);
      if (version !== undefined) {
        const record = { value, version };
        this.load(record);
        // Others have no copy of a new session.
        if (!isNew) await this.#server.announce({ id: this.id, record });
        return;
      }
      if (isNew) throw sessionIdInvalid();
      const record = await this.#server.read(this.id);
      if (!record) throw sessionNotFound('it ended');
      this.#replace(record);
    }
  }

  async renew(): Promise<void> {
    if (!this.#stored || monotonicNow() - this.#renewed < this.idleTimeout / 4) return;
    const stored = this.#stored;
    const version = await this.#put(stored.value);
    if (this.#stored === stored) {
      if (version !== undefined) this.#stored = { ...stored, version };
      else await this.#reload();
    }
    // The events of a quiet stream live as long as its session.
    if (this.#readers.has(this.standaloneStreamId)) await this.#events.storeEvent(this.standaloneStreamId, emptyEvent);
  }

  /** Another instance changed the session or ended it, and its message was lost or is late. */
  async #reload(): Promise<void> {
    const record = await this.#server.read(this.id);
    if (record) this.#replace(record);
    else this.#server.drop(this);
  }

  get isStored(): boolean {
    return this.#stored !== undefined;
  }

  override get receivesChanges(): boolean {
    return this.client.initialized && this.#reader === this.instanceId;
  }

  override get events(): SharedEventStore {
    return this.#events;
  }

  override get hasReader(): boolean {
    return !this.#readers.isEmpty;
  }

  protected override get instanceId(): string {
    return this.#server.instance.id;
  }

  /** Stores a message for the standalone event stream, which the instance that has it sends. */
  override send(messageText: string): boolean {
    if (this.#reader === undefined) return false;
    const { onStoreError } = this.#server;
    this.standaloneStream ??= new EventStream({ id: this.standaloneStreamId, store: this.#events, onStoreError });
    return this.standaloneStream.send(messageText);
  }

  /**
   * Forwards a response to the instance that sent the request, and a cancellation to all. The receiver looks only in this session.
   *
   * @throws ProtocolError with HTTP status 400 for a response whose receiver is dead
   */
  protected override async forward({ kind, message }: ClientMessage): Promise<void> {
    const { instance } = this.#server;
    const forwarded: ForwardedMessage = { id: this.id, message };
    if (kind === 'notification') return instance.broadcast(sessionMessages.forwarded, forwarded);
    const receiver = senderOf(message.id);
    // Too late, or never sent.
    if (receiver === undefined || receiver === this.instanceId) return;
    if (!(await instance.isAlive(receiver)))
      throw refused(400, 'The response was not delivered: the server instance that sent the request has ended');
    await instance.send(receiver, sessionMessages.forwarded, forwarded);
  }

  override keepAlive(): void {
    this.#readers.keepAlive();
  }

  /**
   * Serves GET: the standalone event stream, or after an event id the rest of any stream of the session, which another instance may
   * still write. The standalone stream moves here from another instance.
   *
   * @throws ProtocolError with HTTP status 400 or 409
   */
  override follow(
    reply: HttpReply,
    lastEventId: string | undefined,
    { eventStore, retryInterval }: StreamOptions,
  ): Promise<void> | undefined {
    // The standalone stream is never in the store of the options.
    const isInOtherStore = eventStore && lastEventId && streamIdOf(lastEventId) !== this.standaloneStreamId;
    return isInOtherStore ? undefined : this.#follow(reply, lastEventId, retryInterval);
  }

  async #follow(reply: HttpReply, lastEventId: string | undefined, retryInterval: number | undefined): Promise<void> {
    const streamId = lastEventId ? await this.#events.getStreamIdForEventId(lastEventId) : this.standaloneStreamId;
    requireStreamOf(this, streamId);
    const isStandalone = streamId === this.standaloneStreamId;
    const hasMoved = isStandalone && (await this.#takeStandaloneStream());
    const start = lastEventId || (await this.#events.storeEvent(streamId, emptyEvent));
    const hasLeft = isStandalone && this.#reader !== this.instanceId;
    const hasReader = hasLeft || this.#readers.has(streamId) || this.streams?.get(streamId)?.hasReader === true;
    const sink = openReader(this, reply, hasReader, (closed) => this.#readers.close(streamId, closed));
    if (this.acceptsEmptyEvents) sink.write(primingEvent(start, retryInterval));
    this.#readers.open(streamId, sink, start);
    // Changes of the meantime may be lost.
    if (hasMoved) for (const event of this.#possibleChanges()) this.send(notificationText(event));
  }

  override end(): void {
    // The stream may continue at another instance.
    this.standaloneStream = undefined;
    super.end();
    this.endReaders();
  }

  override endReaders(): void {
    this.#readers.closeAll();
  }

  /** Makes this instance the one that sends notifications about changes. @returns whether another one did before */
  async #takeStandaloneStream(): Promise<boolean> {
    const reader = this.instanceId;
    const previous = this.#reader;
    if (previous === reader) return false;
    await this.#store(() => ({ reader }));
    return previous !== undefined;
  }

  #possibleChanges(): ServerEvent[] {
    const { capabilities } = this.#server;
    return [
      ...listKinds.filter((list) => capabilities[list]?.listChanged).map((list) => ({ kind: listChanges[list].event })),
      ...Array.from(this.client.subscriptions, (uri) => ({ kind: 'resource_updated', uri }) as const),
    ];
  }

  async #put(value: string): Promise<number | undefined> {
    const version = await this.#server.write(this.id, value, {
      version: this.#stored?.version ?? 0,
      ttlMs: this.#lifetime,
    });
    // Without a version, another instance wrote it.
    this.#renewed = monotonicNow();
    return version;
  }
}
