import type { Readable } from 'node:stream';
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
import { Exchange, type Channel } from '../exchange.js';
import { acceptLegacyResponse } from '../legacy/ask-legacy-client.js';
import { acceptLegacyNotification, answerLegacyRequest } from '../legacy/legacy-dispatch.js';
import { createLegacyPeer, type LegacyPeer } from '../legacy/legacy-peer.js';
import { answerModernRequest } from '../modern/modern-dispatch.js';
import type { ServerDefinition } from '../server-definition.js';
import { createLineReader } from '../../line-reader.js';

/** The longest message that is read: 10 MiB. */
const maxMessageBytes = 10 * 1024 * 1024;

export interface StdioOptions {
  readonly server: ServerDefinition;
  readonly input: Readable;
  /** Writes one line of protocol. */
  readonly write: (line: string) => void;
  /** Called once, when the client closed its end or {@link StdioConnection.close} was called. */
  readonly onClose: () => void;
}

/**
 * One client at the other end of a pipe. The era is read from each message: a client may discover the modern one and still
 * speak the older.
 */
export class StdioConnection implements Channel {
  readonly #server: ServerDefinition;
  readonly #input: Readable;
  readonly #write: (line: string) => void;
  readonly #peer: LegacyPeer = createLegacyPeer(DEFAULT_LEGACY_VERSION);
  readonly #onData: (chunk: Buffer) => void;
  readonly #onEnd = (): void => this.close();
  readonly #onClose: () => void;
  #open = true;

  constructor({ server, input, write, onClose }: StdioOptions) {
    this.#server = server;
    this.#input = input;
    this.#write = write;
    this.#onClose = onClose;
    this.#onData = createLineReader({
      maxBytes: maxMessageBytes,
      onLine: (line) => this.#receive(line),
      onTooLong: () =>
        this.#refuse(
          null,
          new ProtocolError(errorCodes.parse, `Parse error: a message is longer than ${maxMessageBytes} bytes`),
        ),
    });
    input.on('data', this.#onData);
    input.once('end', this.#onEnd);
    input.once('close', this.#onEnd);
    input.once('error', this.#onEnd);
  }

  send(messageText: string): void {
    if (this.#open) this.#write(messageText);
  }

  /** Stops reading and cancels what is being answered. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#input.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onEnd).off('error', this.#onEnd);
    this.#input.pause();
    for (const exchange of this.#peer.inFlight.values()) exchange.cancel();
    this.#onClose();
  }

  #receive(line: string): void {
    let body: unknown;
    try {
      body = JSON.parse(line);
    } catch {
      return this.#refuse(null, new ProtocolError(errorCodes.parse, 'Parse error: Invalid JSON'));
    }
    void this.#handle(body);
  }

  async #handle(body: unknown): Promise<void> {
    const incoming = parseMessage(body);
    try {
      if (!incoming) {
        await judgeEra(body);
        throw new ProtocolError(errorCodes.invalidRequest, 'Invalid Request: send one JSON-RPC message per line');
      }
      if (incoming.kind === 'notification') acceptLegacyNotification(this.#peer, incoming.message);
      if (incoming.kind === 'response') acceptLegacyResponse(this.#peer, incoming.message);
      if (incoming.kind === 'request') await this.#answer(incoming.message);
    } catch (error) {
      this.#refuse(isObject(body) && isRequestId(body['id']) ? body['id'] : null, error);
    }
  }

  async #answer(request: JsonRpcRequest): Promise<void> {
    const { inFlight } = this.#peer;
    if (inFlight.has(request.id)) {
      throw new ProtocolError(
        errorCodes.invalidRequest,
        `Request id ${JSON.stringify(request.id)} is already being answered`,
      );
    }
    const exchange = new Exchange(request.id, {}, this);
    inFlight.set(request.id, exchange);
    try {
      const era = await eraOf(request);
      const result =
        era === 'modern'
          ? await answerModernRequest(this.#server, request, exchange)
          : await answerLegacyRequest(this.#server, this.#peer, request, exchange);
      // The official clients lose progress that arrives in one chunk with the answer.
      if (exchange.notified) await new Promise((resolve) => setImmediate(resolve));
      if (!exchange.cancelled) this.send(resultText(request.id, result));
    } finally {
      exchange.settle();
      inFlight.delete(request.id);
    }
  }

  #refuse(id: string | number | null, error: unknown): void {
    if (!(error instanceof ProtocolError)) {
      this.#server.logger.error(`An MCP request over stdio failed: ${toErrorMessage(error)}`, error);
    }
    this.send(errorText(id, error));
  }
}

function eraOf(request: JsonRpcRequest): Era | Promise<Era> {
  if (!claimsModern(request.params)) return 'legacy';
  return isPerfectModernRequest(request) ? 'modern' : judgeEra(request);
}
