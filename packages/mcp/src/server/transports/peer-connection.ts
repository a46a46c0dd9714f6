import { toErrorMessage } from '@quiver/core';
import { DEFAULT_LEGACY_VERSION, errorCodes } from '../../protocol/constants.js';
import { claimsModern, isPerfectModernRequest, judgeEra, type Era } from '../../protocol/era-verdict.js';
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
import { acceptLegacyResponse } from '../legacy/ask-legacy-client.js';
import { acceptLegacyNotification, answerLegacyRequest } from '../legacy/legacy-dispatch.js';
import { createLegacyPeer, type LegacyPeer } from '../legacy/legacy-peer.js';
import { answerModernRequest } from '../modern/modern-dispatch.js';
import type { ServerDefinition } from '../server-definition.js';

export interface PeerConnectionOptions {
  readonly server: ServerDefinition;
  /** Writes one message. */
  readonly write: (messageText: string) => void;
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
  #onIdle: (() => void) | undefined;

  constructor({ server, write }: PeerConnectionOptions) {
    this.#server = server;
    this.#write = write;
    this.#peer = { ...createLegacyPeer(DEFAULT_LEGACY_VERSION), send: (messageText) => this.send(messageText) };
    server.peers.add(this.#peer);
  }

  send(messageText: string): boolean {
    if (this.#isOpen) this.#write(messageText);
    return this.#isOpen;
  }

  /** Takes one message as parsed JSON. Never rejects: what is wrong with it is told to the client, or to the logger. */
  async receive(body: unknown, caller: Caller = {}): Promise<void> {
    const incoming = parseMessage(body);
    try {
      if (!incoming) {
        await judgeEra(body);
        throw new ProtocolError(errorCodes.invalidRequest, 'Invalid Request: send one JSON-RPC message at a time');
      }
      if (incoming.kind === 'notification') acceptLegacyNotification(this.#peer, incoming.message);
      if (incoming.kind === 'response') acceptLegacyResponse(this.#peer, incoming.message);
      if (incoming.kind === 'request') await this.#answer(incoming.message, caller);
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
    if (this.#peer.inFlight.size === 0) return;
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
  }

  async #answer(request: JsonRpcRequest, caller: Caller): Promise<void> {
    const { inFlight } = this.#peer;
    if (inFlight.has(request.id)) {
      throw new ProtocolError(
        errorCodes.invalidRequest,
        `Request id ${JSON.stringify(request.id)} is already being answered`,
      );
    }
    const exchange = new Exchange(request.id, caller, this);
    inFlight.set(request.id, exchange);
    try {
      const era = claimsModern(request.params) ? await eraOf(request) : 'legacy';
      const result =
        era === 'modern'
          ? await answerModernRequest(this.#server, request, exchange)
          : await answerLegacyRequest(this.#server, this.#peer, request, exchange);
      // The official clients lose progress that arrives in one chunk with the answer.
      if (exchange.notified) await new Promise((resolve) => setTimeout(resolve, 0));
      if (!exchange.cancelled) this.send(resultText(request.id, result));
    } finally {
      exchange.settle();
      inFlight.delete(request.id);
      if (inFlight.size === 0) this.#onIdle?.();
    }
  }
}

function eraOf(request: JsonRpcRequest): Era | Promise<Era> {
  return isPerfectModernRequest(request) ? 'modern' : judgeEra(request);
}
