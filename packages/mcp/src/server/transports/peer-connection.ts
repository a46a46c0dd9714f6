import { toErrorMessage } from '@quiver/core';
import { DEFAULT_LEGACY_VERSION, errorCodes } from '../../protocol/constants.js';
import {
  claimsModern,
  isPerfectModernRequest,
  judgeEra,
  requireLegacyBatch,
  type Era,
} from '../../protocol/era-verdict.js';
import {
  errorText,
  isObject,
  isRequestId,
  parseMessage,
  resultText,
  type JsonRpcRequest,
} from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { Exchange, type Caller, type Channel } from '../exchange.js';
import { abandonLegacyQuestions, acceptLegacyResponse } from '../legacy/ask-legacy-client.js';
import { acceptLegacyNotification, answerLegacyRequest } from '../legacy/legacy-dispatch.js';
import { answerBatch } from '../legacy/answer-batch.js';
import { beginFlight, createLegacyPeer, type LegacyPeer } from '../legacy/legacy-peer.js';
import { answerModernRequest } from '../modern/modern-dispatch.js';
import type { ServerDefinition } from '../server-definition.js';

export interface PeerConnectionOptions {
  readonly server: ServerDefinition;
  /** Writes one message. */
  readonly write: (messageText: string) => void;
  /** Requests that may be in flight at once. Default: no limit. */
  readonly maxRequests?: number;
}

/**
 * One client at the other end of a two-way connection: a pipe, or an event stream with posts in return. The era is read from
 * each message: a client may discover the modern one and still speak the older.
 */
export class PeerConnection implements Channel {
  readonly #server: ServerDefinition;
  readonly #write: (messageText: string) => void;
  readonly #peer: LegacyPeer;
  #isOpen = true;
  /** Batches whose answer is not made yet. */
  #batches = 0;
  #onIdle: (() => void) | undefined;

  constructor({ server, write, maxRequests = Infinity }: PeerConnectionOptions) {
    this.#server = server;
    this.#write = write;
    this.#peer = {
      ...createLegacyPeer(DEFAULT_LEGACY_VERSION),
      maxRequests,
      send: (messageText) => this.send(messageText),
    };
    server.peers.add(this.#peer);
  }

  send(messageText: string): boolean {
    if (this.#isOpen) this.#write(messageText);
    return this.#isOpen;
  }

  /**
   * Takes one message as parsed JSON, or a batch of 2025-03-26. Never rejects: what is wrong with it is told to the client, or to
   * the logger.
   */
  async receive(body: unknown, caller: Caller = {}): Promise<void> {
    // What arrives after the end has nobody to answer to.
    if (!this.#isOpen) return;
    const incoming = parseMessage(body);
    try {
      if (!incoming) await (Array.isArray(body) ? this.#answerBatch(body, caller) : refuseBody(body));
      else if (incoming.kind === 'notification') acceptLegacyNotification(this.#peer, incoming.message);
      else if (incoming.kind === 'response') acceptLegacyResponse(this.#peer, incoming.message);
      else await this.#answer(incoming.message, caller, (text) => this.send(text));
    } catch (error) {
      this.refuse(isObject(body) && isRequestId(body['id']) ? body['id'] : null, error);
    }
  }

  refuse(id: string | number | null, error: unknown): void {
    if (!(error instanceof ProtocolError)) {
      this.#server.logger.error(`An MCP request failed: ${toErrorMessage(error)}`, error);
    }
    this.send(errorText(id, error));
  }

  /** Ends requests that have no end of their own. Settles when nothing is being answered, or when the time is over. */
  async drained(milliseconds: number): Promise<void> {
    for (const exchange of this.#peer.inFlight.values()) exchange.release();
    if (this.#isIdle) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Cancels what is being answered. */
  close(): void {
    this.#isOpen = false;
    this.#server.peers.delete(this.#peer);
    for (const exchange of this.#peer.inFlight.values()) exchange.cancel();
    abandonLegacyQuestions(this.#peer);
  }

  async #answer(request: JsonRpcRequest, caller: Caller, deliver: (text: string) => void): Promise<void> {
    const exchange = new Exchange(request.id, caller, this);
    beginFlight(this.#peer, exchange);
    try {
      const era = claimsModern(request.params) ? await eraOf(request) : 'legacy';
      const result =
        era === 'modern'
          ? await answerModernRequest(this.#server, request, exchange)
          : await answerLegacyRequest(this.#server, this.#peer, request, exchange);
      // The official clients lose progress that arrives in one chunk with the answer.
      if (exchange.notified) await new Promise((resolve) => setTimeout(resolve, 0));
      if (!exchange.cancelled) deliver(resultText(request.id, result));
    } catch (error) {
      // Nobody waits for what a cancelled request came to.
      if (!exchange.cancelled) throw error;
    } finally {
      exchange.settle();
      this.#peer.inFlight.delete(request.id);
      this.#checkIdle();
    }
  }

  async #answerBatch(messages: readonly unknown[], caller: Caller): Promise<void> {
    await requireLegacyBatch(messages);
    this.#batches += 1;
    try {
      const text = await answerBatch({
        messages,
        peer: this.#peer,
        version: this.#peer.initialized ? this.#peer.protocolVersion : undefined,
        answer: async (request) => {
          let answered: string | undefined;
          await this.#answer(request, caller, (answer) => void (answered = answer));
          return answered;
        },
        logger: this.#server.logger,
      });
      if (text !== undefined) this.send(text);
    } finally {
      this.#batches -= 1;
      this.#checkIdle();
    }
  }

  get #isIdle(): boolean {
    return this.#peer.inFlight.size === 0 && this.#batches === 0;
  }

  #checkIdle(): void {
    if (this.#isIdle) this.#onIdle?.();
  }
}

async function refuseBody(body: unknown): Promise<never> {
  await judgeEra(body);
  throw new ProtocolError(errorCodes.invalidRequest, 'Invalid Request: not a JSON-RPC message');
}

function eraOf(request: JsonRpcRequest): Era | Promise<Era> {
  return isPerfectModernRequest(request) ? 'modern' : judgeEra(request);
}
