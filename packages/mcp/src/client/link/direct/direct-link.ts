import type { ProtocolClient, StreamableHTTPClientTransport } from '../../../protocol/client-types.js';
import { LEGACY_VERSIONS, MODERN_VERSION } from '../../../protocol/constants.js';
import { isObject, type JsonRpcNotification, type Params, type RequestId } from '../../../protocol/json-rpc.js';
import { clientInfo } from '../../client-info.js';
import { runWithContext } from '../../connection/request-scope.js';
import { createSdkClient, type NegotiationMode, type SdkClientOptions } from '../sdk-client.js';
import { factsOf, type ServerFacts } from '../server-facts.js';
import type { ServerLink } from '../server-link.js';
import { watchTransport, type RawSchemas } from '../transport-watch.js';
import type { PlainFetch } from '../transports/plain-fetch.js';
import type { Answer } from './answer.js';
import { createEnvelope, DirectChannel, firstDirectId } from './direct-channel.js';
import { Handovers } from './handovers.js';
import { HttpExchanger, type HttpSession } from './http-exchange.js';
import { HttpSender, type SenderEvents } from './http-sender.js';
import { linkError } from './link-error.js';
import { meansLegacy, toLegacyFacts, toModernFacts } from './plain-handshake.js';
import { isPlainNotification, isPlainPing } from './plain-message.js';
import type { PlainRoute } from './plain-route.js';
import { Replay, type Recorded } from './replay.js';
import { SessionStream } from './session-stream.js';

export interface DirectLinkOptions extends SdkClientOptions {
  readonly route: PlainRoute;
  readonly mode: NegotiationMode;
  /** Milliseconds until it must be connected. */
  readonly limit: number;
  /** Hears of what the server tells by itself. */
  readonly onNotification: (notification: JsonRpcNotification) => void;
  /** Makes the SDK's transport. */
  readonly createTransport: (wrap: (fetch: PlainFetch) => PlainFetch) => Promise<StreamableHTTPClientTransport>;
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
  readonly #held: unknown[] = [];
  #mode: NegotiationMode;
  #server: ServerFacts | undefined;
  #channel: DirectChannel | undefined;
  #replay: Replay | undefined;
  #handovers: Handovers | undefined;
  #schemas: RawSchemas | undefined;
  #stream: SessionStream | undefined;
  #client: Promise<ProtocolClient> | undefined;
  #sdk: ProtocolClient | undefined;
  #transport: StreamableHTTPClientTransport | undefined;
  #isClosed = false;

  constructor(options: DirectLinkOptions) {
    this.#options = options;
    this.#mode = options.mode;
    this.#exchanger = new HttpExchanger(options.route, this.#session);
    this.#sender = new HttpSender(this.#exchanger, this.#senderEvents());
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
    const facts = isNew && this.#sender.isOpen ? await this.#shakeHands() : undefined;
    if (this.#isClosed) throw linkError('CONNECTION_CLOSED', 'Connection closed');
    if (facts) this.#adopt(facts);
    else await this.#takeOver(signal);
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

  /** @returns `undefined` when the SDK has to say what becomes of it */
  async #shakeHands(): Promise<ServerFacts | undefined> {
    const { capabilities } = this.#options;
    this.#replay = new Replay();
    if (this.#mode !== 'legacy') {
      Object.assign(this.#session, { protocolVersion: MODERN_VERSION, isModern: true });
      const envelope = createEnvelope({ era: 'modern', protocolVersion: MODERN_VERSION }, capabilities);
      const answer = await this.#ask('server/discover', { _meta: envelope });
      const facts = answer && toModernFacts(answer);
      if (facts) return facts;
      Object.assign(this.#session, { protocolVersion: undefined, isModern: false });
      if (this.#mode !== 'auto' || !answer || !meansLegacy(answer)) return undefined;
      this.#mode = 'legacy';
      // In this mode the SDK does not ask for it.
      this.#replay = new Replay();
    }
    const params = { protocolVersion: LEGACY_VERSIONS[0], capabilities, clientInfo };
    const answer = await this.#ask('initialize', params);
    const facts = answer && toLegacyFacts(answer);
    if (!facts) return undefined;
    this.#session.protocolVersion = facts.protocolVersion;
    const response = await this.#sender.post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    this.#recordInitialized(response);
    if (!response.ok) return undefined;
    await response.body?.cancel();
    if (response.status === 202) this.#listen();
    return facts;
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
    this.#replay?.record('GET', (_, signal) => this.#stream?.handOver(signal) ?? new Response(null, { status: 405 }));
  }

  /** Sends a request of the handshake, and keeps what came back for the SDK. @returns `undefined` when nothing did */
  async #ask(method: 'initialize' | 'server/discover', params: Params): Promise<Answer | undefined> {
    const id = firstDirectId - (method === 'initialize' ? 0 : 1);
    const body = JSON.stringify({ method, params, jsonrpc: '2.0', id });
    try {
      const answer = await new Promise<Answer>((resolve, reject) => {
        this.#sender.send({ id, method, name: undefined, body }, { onAnswer: resolve, onError: reject }, (headers) => {
          if (method === 'initialize') this.#session.sessionId = (headers['mcp-session-id'] as string) || undefined;
        });
      });
      this.#record(method, answer);
      return answer;
    } catch (error) {
      this.#replay?.record(method, () => Promise.reject(error as Error));
      return undefined;
    }
  }

  // What is recorded stays as long as the link: nothing but what it needs may be in its scope.

  #record(method: 'initialize' | 'server/discover', answer: Answer): void {
    this.#replay?.record(method, (id, signal) => this.#toResponse(answer, id, signal));
  }

  #recordInitialized(response: Response): void {
    const { ok, status } = response;
    this.#replay?.record('notifications/initialized', ok ? acceptance(status) : () => response);
  }

  #toResponse(answer: Answer, id: RequestId, signal: AbortSignal | null | undefined): Response {
    const response = answer.kind === 'response' ? answer.open(id, signal) : Response.json({ ...answer.message, id });
    const { sessionId } = this.#session;
    if (sessionId !== undefined) response.headers.set('mcp-session-id', sessionId);
    return response;
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
    const client = await createSdkClient({ ...this.#options, onClosed: () => this.#finish() }, this.#mode);
    this.#sdk = client;
    const transport = await createTransport((fetch) => {
      const handingOver = this.handovers.wrapFetch(fetch);
      return this.#replay?.wrapFetch(handingOver) ?? handingOver;
    });
    if (this.#isClosed) throw linkError('CONNECTION_CLOSED', 'Connection closed');
    await client.connect(transport, { timeout: limit, ...(signal && { signal }) });
    if (!this.#server) {
      const { sessionId, protocolVersion } = transport;
      const facts = factsOf(client);
      Object.assign(this.#session, { sessionId, protocolVersion, isModern: facts.era === 'modern' });
      this.#adopt(facts);
    }
    this.#schemas = new Map();
    watchTransport(transport, { schemas: this.#schemas, direct: this.#channel, handovers: this.handovers });
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

function acceptance(status: number): Recorded {
  return () => new Response(null, { status });
}

const nothing: ServerFacts = {
  era: undefined,
  protocolVersion: undefined,
  capabilities: undefined,
  info: undefined,
  instructions: undefined,
};
