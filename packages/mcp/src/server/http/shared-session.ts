import { QuiverError } from '@quiver/core';
import { monotonicNow } from '../../monotonic-now.js';
import { errorCodes, isLoggingLevel } from '../../protocol/constants.js';
import { errorText, isObject, isRequestId, type RequestId } from '../../protocol/json-rpc.js';
import { listChanges, listKinds } from '../../protocol/methods.js';
import { ProtocolError, refused } from '../../protocol/protocol-error.js';
import type { ServerCapabilities } from '../../protocol/types.js';
import type { Instance } from '../../shared-store/instance.js';
import type { PutOptions, StoredRecord } from '../../shared-store/shared-store.js';
import type { ClientFacts, ClientMessage } from '../client/legacy-session.js';
import { DEFAULT_IDLE_TIMEOUT, MAX_LIFETIME } from '../limits.js';
import { notificationText, type ServerEvent } from '../client/subscribers.js';
import { EventStream, primingEvent, toEvent } from './event-stream.js';
import { eventStreamHeaders, type EventSink, type HttpReply } from './message.js';
import { HttpSession, sessionIdInvalid, sessionNotFound, type SessionLimits, type SessionOwner } from './sessions.js';
import { SharedEventStore } from './shared-event-store.js';

/** Characters of a request id that becomes part of a stream id. */
const MAX_NAMED_REQUEST_ID = 64;

/** The server, as its shared sessions see it. */
export interface SharedServer {
  readonly instance: Instance;
  readonly capabilities: ServerCapabilities;
  readonly onStoreError: (error: unknown) => void;
  /** Reads the record of a session. */
  read(id: string): Promise<StoredRecord | undefined>;
  /** Writes the record of a session, as `SharedStore.put()`. */
  write(id: string, value: string, options: PutOptions): Promise<number | undefined>;
  /** Ends the copy of a session. */
  drop(session: HttpSession): void;
}

/** State of a session that all instances know, as JSON: that of a client after its handshake. */
export interface SessionState extends Omit<ClientFacts, 'initialized' | 'subscriptions'> {
  /** Digest of the principal. */
  readonly principal: string;
  readonly subscriptions?: readonly string[] | undefined;
  /** Instance that has the standalone event stream, or had it last. */
  readonly reader?: string | undefined;
}

/** A session of all instances, as one of them knows it: its record is in the shared store, its requests and streams are here. */
export class SharedSession extends HttpSession {
  readonly #server: SharedServer;
  /** Milliseconds that the record lives after a request. Longer than the session: one instance does not know when another one served it last. */
  readonly #lifetime: number;
  readonly #events: SharedEventStore;
  /** Principal that was compared with the record, so that it need not be digested again. */
  verifiedPrincipal: string | undefined;
  #reader: string | undefined;
  #stored: StoredRecord | undefined;
  #renewed = -Infinity;
  /** Event streams of GET requests, by stream id. */
  readonly #readers = new Map<string, { readonly sink: EventSink; readonly close: () => void }>();

  /** @param owner - the principal as a digest */
  constructor(server: SharedServer, id: string, owner: SessionOwner, limits: Partial<SessionLimits>) {
    super(id, owner, limits);
    this.#server = server;
    this.#lifetime = Math.min(Math.max(this.idleTimeout * 1.25, 1), MAX_LIFETIME);
    // A call in flight may be quiet for longer than a session may be idle.
    this.#events = new SharedEventStore(server.instance, Math.max(this.#lifetime, DEFAULT_IDLE_TIMEOUT));
  }

  /** Takes over the state of a record, unless this instance has the same or a later one. */
  load(record: StoredRecord): void {
    if (this.#stored && record.version <= this.#stored.version) return;
    this.#replace(record);
  }

  /** Takes over the state of the record that a write was refused for. A store that lost the newest writes has an older one. */
  #replace(record: StoredRecord): void {
    // Renewed records have the same value.
    if (record.value !== this.#stored?.value) this.#apply(this.#parse(record));
    this.#stored = record;
  }

  /**
   * Changes the state and stores it. When another instance changed it at the same time, the change is made again on the newer state.
   *
   * @throws `SESSION_ID_INVALID` for a new session whose id is in use
   * @throws ProtocolError with HTTP status 404 when another instance ended the session
   */
  override update(change: (client: ClientFacts) => Partial<ClientFacts>): Promise<void> {
    return this.#store(() => ({ ...this.client, ...change(this.client), reader: this.#reader }));
  }

  async #store(change: () => ClientFacts & Pick<SessionState, 'reader'>): Promise<void> {
    for (;;) {
      const value = this.#toText(change());
      const isNew = !this.#stored;
      const version = await this.#put(value);
      if (version !== undefined) {
        const record = { value, version };
        this.load(record);
        // Others have no copy of a new session.
        if (!isNew) await this.#server.instance.broadcast('session', { id: this.id, record });
        return;
      }
      if (isNew) throw sessionIdInvalid();
      const record = await this.#server.read(this.id);
      if (!record) throw sessionNotFound('it ended');
      this.#replace(record);
    }
  }

  /** Extends the lifetime of the record, when a good part of it is over. */
  async renew(): Promise<void> {
    if (!this.#stored || monotonicNow() - this.#renewed < this.idleTimeout / 4) return;
    const stored = this.#stored;
    const version = await this.#put(stored.value);
    if (this.#stored === stored) {
      if (version !== undefined) this.#stored = { ...stored, version };
      else await this.#reload();
    }
    // The events of a quiet stream live as long as its session.
    if (this.#readers.has(this.standaloneStreamId)) await this.#events.storeEvent(this.standaloneStreamId, {});
  }

  /** Another instance changed the session or ended it, and its message was lost or is late. */
  async #reload(): Promise<void> {
    const record = await this.#server.read(this.id);
    if (record) this.#replace(record);
    else this.#server.drop(this);
  }

  /** Whether the record is in the store, as far as this instance knows. */
  get isStored(): boolean {
    return this.#stored !== undefined;
  }

  override get receivesChanges(): boolean {
    return this.client.initialized && this.#reader === this.#server.instance.id;
  }

  override get events(): SharedEventStore {
    return this.#events;
  }

  override get hasReader(): boolean {
    return this.#readers.size > 0;
  }

  protected override get requestIdPrefix(): string {
    return `server-${this.#server.instance.id}-`;
  }

  /** Returns `<session>/<instance>.<n>.<request id>`, from which every instance knows what to tell the client when this one dies. */
  override nextStreamId(requestId: RequestId | null): string {
    const plain = super.nextStreamId(requestId);
    const text = JSON.stringify(requestId);
    const named = text.length <= MAX_NAMED_REQUEST_ID ? encodeURIComponent(text) : '';
    return `${this.id}/${this.#server.instance.id}.${plain.slice(this.id.length + 1)}.${named}`;
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
    const forwarded = { id: this.id, message };
    if (kind === 'notification') return instance.broadcast('session.message', forwarded);
    const [, receiver] = /^server-([\da-f]{16})-\d+$/.exec(String(message.id)) ?? [];
    // Too late, or never sent.
    if (receiver === undefined || receiver === instance.id) return;
    if (!(await instance.isAlive(receiver)))
      throw refused(400, 'The response was not delivered: the server instance that sent the request has ended');
    await instance.send(receiver, 'session.message', forwarded);
  }

  override keepAlive(): void {
    for (const { sink } of this.#readers.values()) sink.write(': keep-alive\n\n');
  }

  /**
   * Serves GET: the standalone event stream, or after an event id the rest of any stream of the session, which another instance may
   * still write. The standalone stream moves here from another instance.
   *
   * @throws ProtocolError with HTTP status 400 or 409
   */
  async follow(reply: HttpReply, lastEventId: string | undefined, retryInterval: number | undefined): Promise<void> {
    const { onStoreError } = this.#server;
    const events = this.#events;
    const standaloneId = this.standaloneStreamId;
    const streamId = lastEventId ? await events.getStreamIdForEventId(lastEventId) : standaloneId;
    if (streamId === undefined || !this.ownsStream(streamId))
      throw refused(400, 'Bad Request: unknown Last-Event-ID, or no event follows it');
    const hasMoved = streamId === standaloneId && (await this.#takeStandaloneStream());
    const start = lastEventId || (await events.storeEvent(streamId, {}));
    const hasLeft = streamId === standaloneId && this.#reader !== this.#server.instance.id;
    if (hasLeft || this.#readers.has(streamId) || this.streams?.get(streamId)?.hasReader)
      throw refused(409, 'Conflict: Only one SSE stream is allowed per session');
    const sink = reply.stream(eventStreamHeaders);
    const ended = new AbortController();
    const close = (): void => {
      if (this.#readers.get(streamId)?.sink !== sink) return;
      this.#readers.delete(streamId);
      this.lastActive = monotonicNow();
      ended.abort();
      sink.end();
    };
    this.#readers.set(streamId, { sink, close });
    reply.onClose(close);
    // Sends the headers, which the client waits for.
    sink.write(': keep-alive\n\n');
    if (this.acceptsEmptyEvents) sink.write(primingEvent(start, retryInterval));
    const { writer, requestId } = parseStreamId(streamId.slice(this.id.length + 1));
    const send = (eventId: string, message: object): void => {
      if (Object.keys(message).length > 0) sink.write(toEvent(JSON.stringify(message), eventId));
    };
    void (async () => {
      const outcome = await events.follow(start, { send, signal: ended.signal, writer });
      if (outcome !== 'lost' || requestId === undefined) return;
      // With an id, after which nothing can be resumed.
      const text = errorText(requestId, callLost());
      sink.write(toEvent(text, await events.storeEvent(streamId, JSON.parse(text) as object)));
      await events.endStream(streamId);
    })()
      .catch(onStoreError)
      .finally(close);
    // Changes of the meantime may be lost.
    if (hasMoved) for (const event of this.#possibleChanges()) this.send(notificationText(event));
  }

  override end(): void {
    // The stream may continue at another instance.
    this.standaloneStream = undefined;
    super.end();
    this.endReaders();
  }

  /** Ends the event streams of GET requests, which clients continue at another instance. */
  endReaders(): void {
    for (const { close } of Array.from(this.#readers.values())) close();
  }

  /**
   * Makes this instance the one that sends notifications about changes.
   *
   * @returns whether another instance did before
   */
  async #takeStandaloneStream(): Promise<boolean> {
    const { id } = this.#server.instance;
    const previous = this.#reader;
    if (previous === id) return false;
    await this.#store(() => ({ ...this.client, reader: id }));
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

  /** @throws `SESSION_RECORD_INVALID` also for a record of another principal */
  #parse({ value }: StoredRecord): SessionState {
    const state = parseState(value);
    if (state.principal !== this.principal) throw recordInvalid();
    return state;
  }

  #toText(client: ClientFacts & Pick<SessionState, 'reader'>): string {
    const { initialized: _, subscriptions, ...facts } = client;
    const state: SessionState = { principal: this.principal, ...facts, subscriptions: [...subscriptions] };
    return JSON.stringify(state);
  }

  #apply(state: SessionState): void {
    const { principal: _, reader, subscriptions, ...facts } = state;
    this.client = { ...facts, initialized: true, subscriptions: new Set(subscriptions) };
    this.#reader = reader;
    if (reader !== this.#server.instance.id) this.#readers.get(this.standaloneStreamId)?.close();
  }
}

/** @throws `SESSION_RECORD_INVALID` */
export function parseState(text: string): SessionState {
  try {
    const state = JSON.parse(text) as SessionState;
    const { principal, protocolVersion, clientCapabilities, logLevel, subscriptions = [] } = state;
    const isValid =
      typeof principal === 'string' &&
      typeof protocolVersion === 'string' &&
      isObject(clientCapabilities) &&
      isLoggingLevel(logLevel) &&
      Array.isArray(subscriptions) &&
      subscriptions.every((uri) => typeof uri === 'string');
    if (isValid) return state;
  } catch {
    // Not JSON.
  }
  throw recordInvalid();
}

function recordInvalid(): QuiverError {
  return new QuiverError(
    'SESSION_RECORD_INVALID',
    'The shared store has a session record that MCPServer did not write. The session cannot be used.',
  );
}

/** The end of a stream id, after the session: `own`, or `<instance>.<n>.<request id>`. */
function parseStreamId(name: string): { writer?: string; requestId?: RequestId | null } {
  const [, writer, named] = /^([\da-f]{16})\.\d+\.(.*)$/s.exec(name) ?? [];
  if (writer === undefined || named === undefined) return {};
  try {
    const requestId: unknown = JSON.parse(decodeURIComponent(named));
    return requestId === null || isRequestId(requestId) ? { writer, requestId } : { writer };
  } catch {
    return { writer };
  }
}

function callLost(): ProtocolError {
  return new ProtocolError(
    errorCodes.internal,
    'The server instance that ran this call has ended, and its result is unknown. Check what it did before you call again.',
    { data: { code: 'REQUEST_INTERRUPTED' } },
  );
}
