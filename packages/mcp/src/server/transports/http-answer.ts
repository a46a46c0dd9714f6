import { resultParts, resultText, type PreparedResult } from '../../protocol/json-rpc.js';
import type { Channel, Exchange } from '../exchange.js';
import type { Session } from '../sessions.js';
import { EventStream } from './event-stream.js';
import type { HttpCall } from './http-call.js';
import type { PendingAnswer } from './heartbeat.js';
import { eventStreamHeaders, jsonHeaders } from './http-message.js';

/** Clients of earlier revisions stumble over events without data. */
const firstVersionWithPriming = '2025-11-25';

/**
 * The HTTP answer to one posted request. Nothing is written until the answer is there, and then everything at once; only a
 * message before the answer turns the response into an event stream.
 */
export class HttpAnswer implements Channel, PendingAnswer {
  /** What is answered, once it runs: a request, or all those of a batch. */
  running: Pick<Exchange, 'release' | 'cancel'> | undefined;
  readonly call: HttpCall;
  readonly #session: Session | undefined;
  readonly #announcesSession: boolean;
  #stream: EventStream | undefined;
  #streamId = '';

  /** @param announcesSession - send the session id along; only the answer to `initialize` does */
  constructor(call: HttpCall, session?: Session, announcesSession = false) {
    this.call = call;
    this.#session = session;
    this.#announcesSession = announcesSession;
  }

  send(messageText: string): boolean {
    // Where answers are JSON, the session's own stream is the only way left.
    if (this.call.options.enableJsonResponse) return this.#session?.send(messageText) ?? false;
    return this.#open().send(messageText);
  }

  /** Keeps a quiet connection alive: sends the headers if nothing was sent yet, and a comment that clients skip. */
  keepAlive(): void {
    if (!this.call.options.enableJsonResponse) this.#open().keepAlive();
  }

  /** Lets the client wait without a connection; it comes back for the answer. Only where the answer is stored for it. */
  closeStream(): void {
    const { eventStore, enableJsonResponse } = this.call.options;
    if (this.#session && eventStore && !enableJsonResponse) this.#open().pause();
  }

  end(messageText: string, status = 200): void {
    const stream = this.#stream;
    if (!stream) return this.call.reply.send(status, this.#headers(jsonHeaders), messageText);
    stream.send(messageText);
    void stream.end().then(() => this.#session?.streams?.delete(this.#streamId));
  }

  /** Ends with a result that many answers repeat; `end()` is for every other message. */
  endPrepared(exchange: Exchange, result: PreparedResult): void {
    if (this.#stream) this.end(resultText(exchange.requestId, result));
    else this.call.reply.send(200, this.#headers(jsonHeaders), resultParts(exchange.requestId, result));
  }

  release(): void {
    this.running?.release();
  }

  cancel(): void {
    this.running?.cancel();
  }

  /** Ends the response without an answer, as for a cancelled request. */
  abandon(): void {
    if (!this.#stream) return this.call.reply.send(202, {});
    void this.#stream.end().then(() => this.#session?.streams?.delete(this.#streamId));
  }

  #open(): EventStream {
    if (this.#stream) return this.#stream;
    const { reply, options, state } = this.call;
    const session = this.#session;
    const store = session && options.eventStore;
    if (session && store) this.#streamId = session.nextStreamId();
    const stream = new EventStream({ id: this.#streamId, store, onStoreError: state.onStoreError });
    this.#stream = stream;
    const sink = reply.stream(this.#headers(eventStreamHeaders));
    stream.attach(sink);
    reply.onClose(() => stream.detach(sink));
    if (session && store) {
      (session.streams ??= new Map()).set(this.#streamId, stream);
      if (session.protocolVersion >= firstVersionWithPriming) stream.prime(options.retryInterval);
    }
    return stream;
  }

  #headers<Headers extends object>(headers: Headers): Headers & { 'mcp-session-id'?: string } {
    return this.#announcesSession && this.#session?.initialized
      ? { ...headers, 'mcp-session-id': this.#session.id }
      : headers;
  }
}
