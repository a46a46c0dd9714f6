import type { Logger } from '@quiver/core';
import type { ElicitOptions } from '@quiver/core/tools';
import type { Result } from '../../content.js';
import { BATCH_VERSION } from '../../protocol/constants.js';
import { errorText, parseMessage, resultText, type JsonRpcRequest } from '../../protocol/json-rpc.js';
import { invalidRequest, type ProtocolError } from '../../protocol/protocol-error.js';
import type { ClientRequest } from '../client/client-requests.js';
import { toProtocolError } from '../failures.js';
import type { ClientDeclarations, LegacySession, Work } from '../client/legacy-session.js';
import { MAX_BATCH_MESSAGES } from '../limits.js';
import type { Caller } from '../caller.js';
import { requireMethod } from '../methods/methods.js';
import { ServerRequest } from '../request.js';
import type { ResponseChannel } from '../response-channel.js';
import type { ServerState } from '../definition/server-state.js';

/** A request of a legacy client (up to 2025-11-25). The declarations of the handshake are in the session. */
export class LegacyRequest extends ServerRequest {
  readonly era = 'legacy';
  declare readonly session: LegacySession;

  get client(): ClientDeclarations {
    return this.session.client;
  }

  protected sendToClient<Value>(request: ClientRequest<Value>, options: ElicitOptions): Promise<Value> {
    return this.session.request(request, options, this);
  }

  protected membersFor({ meta }: Result): object {
    return { _meta: meta };
  }

  protected answer(): Promise<Result> {
    // Nothing is announced to a client without a session.
    if ((this.caller.authInfo || this.server.tools.isFiltered) && !this.session.isStateless)
      this.session.lastCaller = this.caller.withoutRequest();
    return this.runMethod(requireMethod(this));
  }
}

/** Returns a request that stands for a caller where the client has sent none: it applies the rule of the catalog to the caller. */
export function createCallerRequest(server: ServerState, caller: Caller, session: LegacySession): LegacyRequest {
  return new LegacyRequest(server, { jsonrpc: '2.0', id: '', method: '' }, caller, noChannel, session);
}

const noChannel: ResponseChannel = { send: () => false };

/**
 * JSON-RPC batch of a session that negotiated 2025-03-26, the only version that has batches. Its requests run concurrently, and an
 * invalid message does not affect the others.
 *
 * @see [JSON-RPC 2.0, batch](https://www.jsonrpc.org/specification#batch)
 * @see [MCP 2025-03-26, batching](https://modelcontextprotocol.io/specification/2025-03-26/basic#batching)
 */
export class LegacyBatch implements Work {
  readonly #messages: readonly unknown[];
  readonly #session: LegacySession;
  readonly #logger: Logger;
  readonly #createRequest: (message: JsonRpcRequest) => LegacyRequest;
  readonly #requests: LegacyRequest[] = [];
  /** Requests of this era end on their own. */
  readonly isHeld = false;
  /** Responses in the order of the messages: `undefined` for none, a request until it has ended. */
  readonly #answers: (string | undefined | LegacyRequest)[] = [];

  constructor(
    server: ServerState,
    messages: readonly unknown[],
    caller: Caller,
    channel: ResponseChannel,
    session: LegacySession,
  ) {
    this.#messages = messages;
    this.#session = session;
    this.#logger = server.logger;
    this.#createRequest = (message) => new LegacyRequest(server, message, caller, channel, session);
  }

  /**
   * @returns an array as JSON text; `undefined` when no message of the batch expects a response
   * @throws ProtocolError -32600 with HTTP status 400 for an empty batch, more than 100 messages, or another protocol version
   */
  async run(): Promise<string | undefined> {
    const { initialized, protocolVersion } = this.#session.client;
    if (!initialized || protocolVersion !== BATCH_VERSION)
      throw invalidRequest(`send one JSON-RPC message at a time; only protocol version ${BATCH_VERSION} has batches`);
    if (this.#messages.length === 0) throw invalidRequest('the batch is empty');
    if (this.#messages.length > MAX_BATCH_MESSAGES)
      throw invalidRequest(`a batch holds at most ${MAX_BATCH_MESSAGES} messages`);
    const answer = async (message: unknown, index: number): Promise<void> => {
      this.#answers[index] = await this.#answer(message, index);
    };
    await Promise.all(this.#messages.map(answer));
    const texts = this.#answers.filter((text) => text !== undefined);
    return texts.length === 0 ? undefined : `[${texts.join(',')}]`;
  }

  async #answer(value: unknown, index: number): Promise<string | undefined> {
    const incoming = parseMessage(value);
    try {
      if (incoming && incoming.kind !== 'request') return void (await this.#session.accept(incoming));
      if (!incoming) throw invalidRequest('not a JSON-RPC message');
      if (incoming.message.method === 'initialize') throw invalidRequest('initialize must not be part of a batch');
      const request = this.#createRequest(incoming.message);
      this.#requests.push(request);
      this.#answers[index] = request;
      const result = await request.run(this.#session);
      return result && resultText(incoming.message.id, result);
    } catch (error) {
      const id = incoming?.kind === 'request' ? incoming.message.id : null;
      return errorText(id, toProtocolError(this.#logger, error));
    }
  }

  failureText(error: ProtocolError): string {
    const texts = this.#answers.map((answer) => (typeof answer === 'object' ? answer.failureText(error) : answer));
    return `[${texts.filter((text) => text !== undefined).join(',')}]`;
  }

  get sentMessage(): boolean {
    return this.#requests.some(({ sentMessage }) => sentMessage);
  }

  cancel(reason?: Error): void {
    for (const request of this.#requests) request.cancel(reason);
  }

  release(): void {}
}
