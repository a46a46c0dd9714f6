import type { ProtocolClient, StreamableHTTPClientTransport } from '../../../protocol/client-types.js';
import { isObject, type JsonRpcNotification, type RequestId } from '../../../protocol/json-rpc.js';
import { runWithContext } from '../request-scope.js';
import { createSdkClient, type NegotiationMode, type SdkClientOptions } from '../sdk-client.js';
import { factsOf, type ServerFacts } from '../server-facts.js';
import type { ServerLink } from '../server-link.js';
import { RawSchemas, watchTransport } from '../transport-watch.js';
import type { Fetch } from '../../../fetch.js';
import { createEnvelope, DirectChannel } from './direct-channel.js';
import { Handovers } from './handovers.js';
import { HttpExchanger, type HttpSession } from './http-exchange.js';
import { HttpHandshake } from './http-handshake.js';
import { HttpSender, type SenderEvents } from './http-sender.js';
import { linkError } from './link-error.js';
import { isPlainNotification, isPlainPing } from './plain-message.js';
import type { PlainRoute } from './plain-route.js';
import { SessionStream } from './session-stream.js';

export interface DirectLinkOptions extends SdkClientOptions {
  readonly route: PlainRoute;
  readonly mode: NegotiationMode;
  /** Milliseconds until it must be connected. */
  readonly limit: number;
  /** Hears of what the server tells by itself. */
  readonly onNotification: (notification: JsonRpcNotification) => void;
  /** Makes the SDK's transport. */
  readonly createTransport: (wrap: (fetch: Fetch) => Fetch) => Promise<StreamableHTTPClientTransport>;
}

/**
 * A link over HTTP that is opened and used without the SDK, as long as all there is to say and to hear is plain. Whatever else
 * comes, at the handshake or at any time later, the SDK is loaded and takes over from there.
 */
export class DirectLink implements ServerLink {
  readonly kind = 'http' as const;
  readonly process: undefined = undefined;
  readonly #options: DirectLinkOptions;
  readonly #session: HttpSession = { sessionId: undefined, protocolVersion: undefined, isModern: false };
  readonly #exchanger: HttpExchanger;
  readonly #sender: HttpSender;
  readonly #handshake: HttpHandshake;
  readonly #held: unknown[] = [];
  #server: ServerFacts | undefined;
  #channel: DirectChannel | undefined;
  #handovers: Handovers | undefined;
  #schemas: RawSchemas | undefined;
  #stream: SessionStream | undefined;
  #client: Promise<ProtocolClient> | undefined;
  #sdk: ProtocolClient | undefined;
  #transport: StreamableHTTPClientTransport | undefined;
  #isClosed = false;

  constructor(options: DirectLinkOptions) {
    this.#options = options;
    this.#exchanger = new HttpExchanger(options.route, this.#session);
    this.#sender = new HttpSender(this.#exchanger, this.#senderEvents());
    this.#handshake = new HttpHandshake(this.#sender, this.#session, options.mode);
  }

  get server(): ServerFacts {
    return this.#server ?? nothing;
  }

  get sessionId(): string | undefined {
    return this.#session.sessionId;
  }

  get direct(): DirectChannel | undefined {
    return this.#channel;
  }

  get handovers(): Handovers {
    return (this.#handovers ??= new Handovers());
  }

  get schemas(): RawSchemas | undefined {
    return this.#schemas;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Opens the link.
   *
   * @param isNew - whether it begins with a handshake
   * @param signal - gives it up
   */
  async connect(isNew: boolean, signal: AbortSignal): Promise<void> {
    const facts = isNew && this.#sender.isOpen ? await this.#handshake.shake(this.#options.capabilities) : undefined;
    if (this.#isClosed) throw linkError('CONNECTION_CLOSED', 'Connection closed');
    if (facts) {
      this.#adopt(facts);
      if (this.#handshake.hasStream) this.#listen();
    } else await this.#takeOver(signal);
    for (const message of this.#held.splice(0)) this.#receive(message);
  }

  client(): Promise<ProtocolClient> {
    return this.#client ?? this.#takeOver();
  }

  async endSession(): Promise<void> {
    if (this.#session.sessionId === undefined) return;
    if (this.#client || !this.#sender.isOpen) {
      await this.client();
      return this.#transport?.terminateSession();
    }
    // The server ends it with the session, which is no trouble.
    this.#stream?.close();
    const { status, statusText } = await this.#exchanger.fetch({ method: 'DELETE' });
    this.#session.sessionId = undefined;
    if ((status < 200 || status > 299) && status !== 405)
      throw new Error(`the server answered ${status} ${statusText} to the end of the session`);
  }

  async close(): Promise<void> {
    this.#finish();
    await this.#sdk?.close();
  }

  /** Opens the stream on which the server speaks up by itself. */
  #listen(): void {
    this.#stream = new SessionStream(this.#exchanger, {
      ...this.#senderEvents(),
      onRefused: () => {
        this.#stream = undefined;
      },
      onTrouble: () => this.#wakeUp(),
    });
    const { replay } = this.#handshake;
    replay.record('GET', (_, signal) => this.#stream?.handOver(signal) ?? new Response(null, { status: 405 }));
  }

  #adopt(facts: ServerFacts): void {
    this.#server = facts;
    const envelope = createEnvelope(facts, this.#options.capabilities);
    this.#channel = new DirectChannel(this.#sender, envelope, () => this.#backlog());
  }

  /** Lets the SDK take over. */
  #takeOver(signal?: AbortSignal): Promise<ProtocolClient> {
    // Whatever request made it necessary: the connection belongs to nobody's.
    const client = runWithContext(undefined, () => this.#connectSdk(signal));
    this.#client = client;
    client.catch(() => {
      this.#client = undefined;
    });
    return client;
  }

  /** What this link said and heard at its handshake is played to the SDK. */
  async #connectSdk(signal: AbortSignal | undefined): Promise<ProtocolClient> {
    const { createTransport, limit } = this.#options;
    const { replay, mode } = this.#handshake;
    const client = await createSdkClient({ ...this.#options, onClosed: () => this.#finish() }, mode);
    this.#sdk = client;
    const transport = await createTransport((fetch) => replay.wrapFetch(this.handovers.wrapFetch(fetch)));
    if (this.#isClosed) throw linkError('CONNECTION_CLOSED', 'Connection closed');
    await client.connect(transport, { timeout: limit, ...(signal && { signal }) });
    if (!this.#server) {
      const { sessionId, protocolVersion } = transport;
      const facts = factsOf(client);
      Object.assign(this.#session, { sessionId, protocolVersion, isModern: facts.era === 'modern' });
      this.#adopt(facts);
    }
    this.#schemas = new RawSchemas();
    const { server, handovers } = this;
    watchTransport(transport, { server, schemas: this.#schemas, direct: this.#channel, handovers });
    this.#transport = transport;
    for (const message of this.#held.splice(0)) this.#receive(message);
    return client;
  }

  /** Ends when what is held back was delivered. */
  #backlog(): Promise<unknown> | undefined {
    return this.#held.length === 0 ? undefined : this.#client?.catch(() => {});
  }

  #wakeUp(): void {
    if (this.#isClosed) return;
    this.client().catch((error: Error) => this.#options.onError(error));
  }

  #senderEvents(): SenderEvents {
    return {
      onMessage: (message) => this.#receive(message),
      // Streams that this side ends break, which is no news.
      onError: (error) => {
        if (!this.#isClosed) this.#options.onError(error);
      },
    };
  }

  /** Takes what the server says beside its answers. Whatever that is, it does no harm to who reads the stream. */
  #receive(message: unknown): void {
    try {
      this.#deliver(message);
    } catch (error) {
      this.#options.onError(error as Error);
    }
  }

  #deliver(message: unknown): void {
    // The SDK checks its shape.
    if (this.#transport) return this.#transport.onmessage?.(message as never);
    if (this.#server && !this.#client) {
      if (isPlainNotification(message)) return this.#options.onNotification(message);
      if (isPlainPing(message)) return this.#answerPing(message.id);
      if (isObject(message) && this.#channel?.accept(message)) return;
      this.#wakeUp();
    }
    this.#held.push(message);
  }

  /** Some servers ask again and again whether somebody is there. */
  #answerPing(id: RequestId): void {
    this.#sender.notify(JSON.stringify({ jsonrpc: '2.0', id, result: {} })).catch(this.#options.onError);
  }

  #finish(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stream?.close();
    this.#channel?.close();
    this.#exchanger.close();
    this.#options.onClosed();
  }
}

const nothing: ServerFacts = {
  era: undefined,
  protocolVersion: undefined,
  capabilities: undefined,
  info: undefined,
  instructions: undefined,
};
