import { toErrorMessage } from '@quiver/core';
import { classifyEra, requireLegacyBatch } from '../protocol/classify-era.js';
import { DEFAULT_LEGACY_VERSION, errorCodes } from '../protocol/constants.js';
import {
  errorText,
  isObject,
  isRequestId,
  parseMessage,
  resultText,
  type JsonRpcRequest,
} from '../protocol/json-rpc.js';
import { ProtocolError } from '../protocol/protocol-error.js';
import { answerBatch } from './eras/batch.js';
import { acceptLegacyNotification, answerLegacyRequest, LegacyRequest, trackRequest } from './eras/legacy.js';
import { answerModernRequest, ModernRequest } from './eras/modern.js';
import { acceptLegacyResponse, rejectPending } from './eras/send-client-request.js';
import { createLegacySession, type LegacySession } from './legacy-session.js';
import type { Caller, Channel } from './request.js';
import type { ServerDefinition } from './server-definition.js';

export interface ConnectionOptions {
  readonly server: ServerDefinition;
  /** Writes one message. */
  readonly write: (messageText: string) => void;
  /** Requests that may be in flight at once. Default: no limit. */
  readonly maxRequests?: number;
}

/**
 * Connection to one client in both directions: a pipe, or an event stream with posts in return. Each message is classified: a client may
 * discover the modern era and still use the legacy one.
 */
export class Connection implements Channel {
  readonly #server: ServerDefinition;
  readonly #write: (messageText: string) => void;
  readonly #session: LegacySession;
  #isOpen = true;
  /** Number of batches in flight. */
  #batches = 0;
  #onIdle: (() => void) | undefined;

  constructor({ server, write, maxRequests = Infinity }: ConnectionOptions) {
    this.#server = server;
    this.#write = write;
    this.#session = {
      ...createLegacySession(DEFAULT_LEGACY_VERSION),
      maxRequests,
      send: (messageText) => this.send(messageText),
    };
    server.sessions.add(this.#session);
  }

  send(messageText: string): boolean {
    if (this.#isOpen) this.#write(messageText);
    return this.#isOpen;
  }

  /**
   * Handles one message as parsed JSON, or a batch of 2025-03-26. Never rejects: errors go to the client or to the logger.
   */
  async receive(body: unknown, caller: Caller = {}): Promise<void> {
    // Messages after the end are dropped.
    if (!this.#isOpen) return;
    const incoming = parseMessage(body);
    try {
      if (Array.isArray(body)) await this.#answerBatch(body, caller);
      else if (!incoming) throw notAMessage();
      else if (incoming.kind === 'notification') acceptLegacyNotification(this.#session, incoming.message);
      else if (incoming.kind === 'response') acceptLegacyResponse(this.#session, incoming.message);
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

  /** Ends requests that have no end of their own. Settles when no request is in flight, or after the timeout. */
  async drained(milliseconds: number): Promise<void> {
    for (const request of this.#session.inFlight.values()) request.release();
    if (this.#isIdle) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Cancels all in-flight requests. */
  close(): void {
    this.#isOpen = false;
    this.#server.sessions.delete(this.#session);
    for (const request of this.#session.inFlight.values()) request.cancel();
    rejectPending(this.#session);
  }

  async #answer(message: JsonRpcRequest, caller: Caller, deliver: (text: string) => void): Promise<void> {
    const request =
      classifyEra(message) === 'modern'
        ? new ModernRequest(this.#server, message, caller, this)
        : new LegacyRequest(this.#server, message, caller, this, this.#session);
    trackRequest(this.#session, request);
    try {
      const result = await (request.era === 'modern' ? answerModernRequest(request) : answerLegacyRequest(request));
      // The official clients lose progress that arrives in one chunk with the response.
      if (request.sentMessage) await new Promise((resolve) => setTimeout(resolve, 0));
      if (!request.isCanceled) deliver(resultText(message.id, result));
    } catch (error) {
      // A canceled request gets no response.
      if (!request.isCanceled) throw error;
    } finally {
      request.settle();
      this.#session.inFlight.delete(message.id);
      this.#checkIdle();
    }
  }

  async #answerBatch(messages: readonly unknown[], caller: Caller): Promise<void> {
    requireLegacyBatch(messages);
    this.#batches += 1;
    try {
      const text = await answerBatch({
        messages,
        session: this.#session,
        version: this.#session.initialized ? this.#session.protocolVersion : undefined,
        answer: async (request) => {
          let response: string | undefined;
          await this.#answer(request, caller, (text) => void (response = text));
          return response;
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
    return this.#session.inFlight.size === 0 && this.#batches === 0;
  }

  #checkIdle(): void {
    if (this.#isIdle) this.#onIdle?.();
  }
}

function notAMessage(): ProtocolError {
  return new ProtocolError(errorCodes.invalidRequest, 'Invalid Request: not a JSON-RPC message');
}
