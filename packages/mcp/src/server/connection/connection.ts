import { ActiveSet } from '../../active-set.js';
import { classifyEra, requireLegacyBatch } from '../../protocol/classify-era.js';
import {
  errorText,
  isObject,
  isRequestId,
  parseMessage,
  resultText,
  type JsonRpcRequest,
  type RequestId,
} from '../../protocol/json-rpc.js';
import { invalidRequest } from '../../protocol/protocol-error.js';
import { LegacyBatch, LegacyRequest } from '../eras/legacy.js';
import { ModernRequest } from '../eras/modern.js';
import { toProtocolError } from '../failures.js';
import { callInterrupted, countHeld, until } from '../lifecycle.js';
import { LegacySession, type SessionOptions, type Work } from '../client/legacy-session.js';
import { Caller } from '../caller.js';
import type { ResponseChannel } from '../response-channel.js';
import type { ServerState } from '../definition/server-state.js';

export interface ConnectionOptions extends Omit<SessionOptions, 'isStateless'> {
  readonly server: ServerState;
  readonly write: (messageText: string) => void;
}

/**
 * Connection to one client in both directions: a pipe, or an event stream with posts in return. Each message is classified: a client may
 * discover the modern era and still use the legacy one.
 */
export class Connection extends LegacySession implements ResponseChannel {
  readonly #server: ServerState;
  readonly #write: (messageText: string) => void;
  readonly #messages = new ActiveSet<Work>();
  #isOpen = true;

  constructor({ server, write, maxRequests, transport }: ConnectionOptions) {
    super({ maxRequests, transport });
    this.#server = server;
    this.#write = write;
    server.sessions.add(this);
    this.traceSession();
  }

  override send(messageText: string): boolean {
    if (this.#isOpen) this.#write(messageText);
    return this.#isOpen;
  }

  /** Handles one message as parsed JSON, or a batch of 2025-03-26. Never rejects: errors go to the client or to the logger. */
  async receive(body: unknown, caller: Caller = new Caller()): Promise<void> {
    // Messages after the end are dropped.
    if (!this.#isOpen) return;
    const incoming = parseMessage(body);
    if (incoming && incoming.kind !== 'request') return this.accept(incoming);
    let work: Work | undefined;
    try {
      work = incoming ? this.#createRequest(incoming.message, caller) : this.#createBatch(body, caller);
      this.#messages.add(work);
      const result = await work.run(this);
      // The official clients lose progress that arrives in one chunk with the response.
      if (work.sentMessage) await new Promise((resolve) => setTimeout(resolve, 0));
      if (result !== undefined) this.send(resultText(incoming ? incoming.message.id : null, result));
    } catch (error) {
      this.refuse(isObject(body) && isRequestId(body['id']) ? body['id'] : null, error);
    } finally {
      if (work) this.#messages.delete(work);
    }
  }

  #createRequest(message: JsonRpcRequest, caller: Caller): Work {
    return classifyEra(message) === 'modern'
      ? new ModernRequest(this.#server, message, caller, this)
      : new LegacyRequest(this.#server, message, caller, this, this);
  }

  #createBatch(body: unknown, caller: Caller): Work {
    if (!Array.isArray(body)) throw invalidRequest('not a JSON-RPC message');
    requireLegacyBatch(body);
    return new LegacyBatch(this.#server, body, caller, this, this);
  }

  refuse(id: RequestId | null, error: unknown): void {
    this.send(errorText(id, toProtocolError(this.#server.logger, error)));
  }

  get inFlightCount(): number {
    return this.#messages.size - countHeld(this.#messages);
  }

  /** Ends requests that have no end of their own, waits for the others, answers those that remain with an error, and closes. */
  async shutDown(graceMilliseconds: number): Promise<void> {
    for (const work of this.#messages) work.release();
    await until(() => this.inFlightCount === 0, graceMilliseconds);
    for (const work of this.#messages) if (!work.isHeld) this.#interrupt(work);
    this.close();
  }

  #interrupt(work: Work): void {
    const error = callInterrupted();
    this.send(work.failureText(error));
    work.cancel(error);
  }

  close(): void {
    this.#isOpen = false;
    this.#server.sessions.delete(this);
    this.end();
  }
}
