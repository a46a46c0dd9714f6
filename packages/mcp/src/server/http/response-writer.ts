import { monotonicNow } from '../../monotonic-now.js';
import { errorText, resultParts, resultText, type RequestId } from '../../protocol/json-rpc.js';
import type { Caller } from '../caller.js';
import { toProtocolError } from '../failures.js';
import { callInterrupted, type InFlight } from '../lifecycle.js';
import type { Work } from '../client/legacy-session.js';
import type { ResponseChannel } from '../response-channel.js';
import type { HttpEndpoint } from './endpoint.js';
import type { StreamableHTTPServerTransportOptions } from './endpoint-options.js';
import type { EventWriter } from './event-store.js';
import { EventStream } from './event-stream.js';
import { eventStreamHeaders, jsonHeaders, sendError, type HttpReply, type HttpRequest } from './message.js';
import { callerOf, type HttpSession } from './sessions.js';

/**
 * The response to one HTTP request. Nothing is written until the result is there, and then everything at once; only a message before
 * the result turns the response into an event stream.
 */
export class ResponseWriter implements ResponseChannel, InFlight {
  readonly endpoint: HttpEndpoint;
  readonly request: HttpRequest;
  readonly options: StreamableHTTPServerTransportOptions;
  /** Session of the request; set before the request runs. */
  session: HttpSession | undefined;
  /** Whether to send the session id; only the response to `initialize` does. */
  announcesSession = false;
  readonly #reply: HttpReply;
  #work: Work | undefined;
  #requestId: RequestId | null = null;
  #stream: EventStream | undefined;
  #streamEnd: Promise<unknown> | undefined;
  #streamId = '';
  #beats = 0;
  #isInterrupted = false;

  constructor(
    endpoint: HttpEndpoint,
    request: HttpRequest,
    reply: HttpReply,
    options: StreamableHTTPServerTransportOptions,
  ) {
    this.endpoint = endpoint;
    this.request = request;
    this.#reply = reply;
    this.options = options;
  }

  // Not stored: an initialize request gets its session only when it is answered.
  get caller(): Caller {
    return callerOf(this.request, this.session?.id);
  }

  send(messageText: string): boolean {
    // Where responses are JSON only, the standalone event stream of the session remains.
    if (this.options.enableJsonResponse) return this.session?.send(messageText) ?? false;
    return this.#open().send(messageText);
  }

  header(name: string): string | undefined {
    return this.request.header(name);
  }

  /** Keeps a slow response alive: sends the headers if nothing was sent yet, and a comment that clients skip. */
  beat(): void {
    this.#beats += 1;
    if (this.#beats > 1 && !this.options.enableJsonResponse) this.#open().keepAlive();
  }

  /** Ends the event stream; the client resumes it for the result. Only where the result is stored. */
  closeStream(): void {
    if (this.session && this.#eventStore && !this.options.enableJsonResponse) this.#open().pause();
  }

  get #eventStore(): EventWriter | undefined {
    return this.options.eventStore ?? this.session?.events;
  }

  release(): void {
    this.#work?.release();
  }

  get isHeld(): boolean {
    return this.#work?.isHeld === true;
  }

  cancel(reason?: Error): void {
    this.#work?.cancel(reason);
  }

  /** Answers a request that did not end in time with an error, also on a stream that was resumed elsewhere, and cancels it. One that is held ends with its result. */
  interrupt(): void {
    const work = this.#work;
    if (!work || this.isHeld || this.#streamEnd) return;
    this.#isInterrupted = true;
    const error = callInterrupted();
    this.#end(work.failureText(error));
    work.cancel(error);
    void Promise.resolve(this.#streamEnd).then(() => this.#finish());
  }

  endConnection(): void {
    this.#reply.endConnection();
  }

  /** Cancels the requests when the client disconnects: without a session it cannot cancel by message. */
  cancelOnClose(): void {
    this.#reply.onClose(() => this.cancel());
  }

  /**
   * Sends the result of a request, or its error. A canceled request gets none.
   *
   * @param id - `null` for a batch, whose result is the whole response
   */
  async run(id: RequestId | null, work: Work): Promise<void> {
    const { pending, server } = this.endpoint;
    this.#work = work;
    this.#requestId = id;
    pending.add(this);
    try {
      const result = await work.run(this.session);
      if (this.#isInterrupted) return;
      if (result === undefined) this.endEmpty(202);
      else if (typeof result === 'string' || id === null || this.#stream) this.#end(resultText(id, result));
      else this.#reply.send(200, jsonHeaders, resultParts(id, result));
    } catch (error) {
      const problem = toProtocolError(server.logger, error);
      if (this.#stream) this.#end(errorText(id, problem));
      else sendError(this.#reply, id, problem);
    } finally {
      // The last events may wait for their store.
      if (this.#streamEnd) await this.#streamEnd;
      this.#finish();
    }
  }

  #finish(): void {
    this.endpoint.pending.delete(this);
    if (this.session) this.session.lastActive = monotonicNow();
  }

  endEmpty(status: 200 | 202): void {
    if (this.#stream) this.#endStream(this.#stream);
    else this.#reply.send(status, {});
  }

  /** Sends one message as the whole response, or as the last event. */
  #end(messageText: string): void {
    const stream = this.#stream;
    if (!stream) return this.#reply.send(200, this.#headers(jsonHeaders), messageText);
    stream.send(messageText);
    this.#endStream(stream);
  }

  #endStream(stream: EventStream): void {
    this.#streamEnd = stream.end().then(() => this.session?.streams?.delete(this.#streamId));
  }

  #open(): EventStream {
    if (this.#stream) return this.#stream;
    const { options, session } = this;
    const store = session && this.#eventStore;
    if (session && store) this.#streamId = session.nextStreamId(this.#requestId);
    const stream = new EventStream({ id: this.#streamId, store, onStoreError: this.endpoint.onStoreError });
    this.#stream = stream;
    const sink = this.#reply.stream(this.#headers(eventStreamHeaders));
    stream.attach(sink);
    this.#reply.onClose(() => stream.detach(sink));
    if (session && store) {
      (session.streams ??= new Map()).set(this.#streamId, stream);
      if (session.acceptsEmptyEvents) stream.prime(options.retryInterval);
    }
    return stream;
  }

  #headers<Headers extends object>(headers: Headers): Headers & { 'mcp-session-id'?: string } {
    const { session } = this;
    return this.announcesSession && session?.client.initialized
      ? { ...headers, 'mcp-session-id': session.id }
      : headers;
  }
}
