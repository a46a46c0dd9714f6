import type { ClientCapabilities } from '../../../protocol/client-types.js';
import { LEGACY_VERSIONS, MODERN_VERSION } from '../../../protocol/constants.js';
import type { Params, RequestId } from '../../../protocol/json-rpc.js';
import { clientInfo } from '../../client-info.js';
import type { NegotiationMode } from '../sdk-client.js';
import type { ServerFacts } from '../server-facts.js';
import type { Answer } from './answer.js';
import { createEnvelope, firstDirectId } from './direct-channel.js';
import type { HttpSession } from './http-exchange.js';
import type { HttpSender } from './http-sender.js';
import { meansLegacy, toLegacyFacts, toModernFacts } from './plain-facts.js';
import { Replay, type Recorded } from './replay.js';

/**
 * The handshake of either generation, without the SDK. What the server said is recorded, so that the SDK can take over then or
 * later.
 */
export class HttpHandshake {
  readonly #sender: HttpSender;
  readonly #session: HttpSession;
  #replay = new Replay();
  #mode: NegotiationMode;
  #hasStream = false;

  /** @param session - is filled with what the server says of it */
  constructor(sender: HttpSender, session: HttpSession, mode: NegotiationMode) {
    this.#sender = sender;
    this.#session = session;
    this.#mode = mode;
  }

  /** What the server said. */
  get replay(): Replay {
    return this.#replay;
  }

  /** How the SDK has to negotiate, to hear what was said. */
  get mode(): NegotiationMode {
    return this.#mode;
  }

  /** Whether the server may have a stream on which it speaks up by itself. */
  get hasStream(): boolean {
    return this.#hasStream;
  }

  /**
   * @returns `undefined` when the SDK has to say what becomes of it
   * @throws what the network says to the last word of the handshake
   */
  async shake(capabilities: ClientCapabilities): Promise<ServerFacts | undefined> {
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
    this.#hasStream = response.status === 202;
    return facts;
  }

  /** Sends a request, and keeps what came back for the SDK. @returns `undefined` when nothing did */
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
      this.#replay.record(method, () => Promise.reject(error as Error));
      return undefined;
    }
  }

  // What is recorded stays as long as the connection: nothing but what it needs may be in its scope.

  #record(method: 'initialize' | 'server/discover', answer: Answer): void {
    this.#replay.record(method, (id, signal) => this.#toResponse(answer, id, signal));
  }

  #recordInitialized(response: Response): void {
    const { ok, status } = response;
    this.#replay.record('notifications/initialized', ok ? acceptance(status) : () => response);
  }

  #toResponse(answer: Answer, id: RequestId, signal: AbortSignal | null | undefined): Response {
    const response = answer.kind === 'response' ? answer.open(id, signal) : Response.json({ ...answer.message, id });
    const { sessionId } = this.#session;
    if (sessionId !== undefined) response.headers.set('mcp-session-id', sessionId);
    return response;
  }
}

function acceptance(status: number): Recorded {
  return () => new Response(null, { status });
}
