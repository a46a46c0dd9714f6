import { toErrorMessage } from '@quiver/core';
import { LAST_LEGACY_VERSION } from '../../protocol/constants.js';
import { errorText, resultParts, resultText, type RequestId, type ResultJson } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { InFlight } from '../legacy-session.js';
import { toAuthInfo } from '../auth-info.js';
import type { Caller, Channel, ServerRequest } from '../request.js';
import type { ServerDefinition } from '../server-definition.js';
import { EventStream } from './event-stream.js';
import type { Heartbeat, PendingResponse } from './heartbeat.js';
import { eventStreamHeaders, jsonHeaders, type EventSink, type HttpReply, type HttpRequest } from './message.js';
import type { StreamableHTTPServerTransportOptions } from './options.js';
import type { HttpSession, SessionStore } from './sessions.js';

/** State of one endpoint between requests. */
export interface HttpEndpointState {
  readonly server: ServerDefinition;
  readonly sessions: SessionStore;
  readonly heartbeat: Heartbeat;
  readonly onStoreError: (error: unknown) => void;
}

/**
 * The response to one HTTP request. Nothing is written until the result is there, and then everything at once; only a message before
 * the result turns the response into an event stream.
 */
export class HttpResponse implements Channel, PendingResponse {
  readonly endpoint: HttpEndpointState;
  readonly request: HttpRequest;
  readonly options: StreamableHTTPServerTransportOptions;
  /** Session of the request; set before the request runs. */
  session: HttpSession | undefined;
  /** Whether to send the session id; only the response to `initialize` does. */
  announcesSession = false;
  /** In-flight request, or all those of a batch. */
  running: Pick<InFlight, 'release' | 'cancel'> | undefined;
  readonly #reply: HttpReply;
  #stream: EventStream | undefined;
  #streamId = '';

  constructor(
    endpoint: HttpEndpointState,
    request: HttpRequest,
    reply: HttpReply,
    options: StreamableHTTPServerTransportOptions,
  ) {
    this.endpoint = endpoint;
    this.request = request;
    this.#reply = reply;
    this.options = options;
  }

  get caller(): Caller {
    return { authInfo: toAuthInfo(this.request.auth), sessionId: this.session?.id, http: this.request };
  }

  send(messageText: string): boolean {
    // Where responses are JSON only, the standalone event stream of the session remains.
    if (this.options.enableJsonResponse) return this.session?.send(messageText) ?? false;
    return this.#open().send(messageText);
  }

  /** Keeps a quiet connection alive: sends the headers if nothing was sent yet, and a comment that clients skip. */
  keepAlive(): void {
    if (!this.options.enableJsonResponse) this.#open().keepAlive();
  }

  /** Ends the event stream; the client resumes it for the result. Only where the result is stored. */
  closeStream(): void {
    const { eventStore, enableJsonResponse } = this.options;
    if (this.session && eventStore && !enableJsonResponse) this.#open().pause();
  }

  /** Sends one message as the whole response, or as the last event. */
  end(messageText: string, status = 200): void {
    if (!this.#stream) return this.#reply.send(status, this.#headers(jsonHeaders), messageText);
    this.#stream.send(messageText);
    this.#endStream(this.#stream);
  }

  /** Sends a status without a body. */
  endEmpty(status: 200 | 202): void {
    if (!this.#stream) return this.#reply.send(status, {});
    this.#endStream(this.#stream);
  }

  /** Starts an event stream that belongs to no request. */
  openSink(): EventSink {
    return this.#reply.stream(eventStreamHeaders);
  }

  onClose(callback: () => void): void {
    this.#reply.onClose(callback);
  }

  release(): void {
    this.running?.release();
  }

  cancel(): void {
    this.running?.cancel();
  }

  /** Runs a request and sends its result. A canceled request gets none. */
  async run(request: ServerRequest, answer: () => ResultJson | Promise<ResultJson>): Promise<void> {
    const { heartbeat, server } = this.endpoint;
    this.running = request;
    heartbeat.add(this);
    let result: ResultJson | undefined;
    let refusal: unknown;
    try {
      result = await answer();
    } catch (error) {
      if (!(error instanceof ProtocolError))
        server.logger.error(`An MCP request failed: ${toErrorMessage(error)}`, error);
      refusal = error;
    }
    request.settle();
    heartbeat.remove(this);
    if (request.isCanceled) this.endEmpty(202);
    else if (result === undefined) this.#endWithError(request.requestId, refusal);
    else if (typeof result === 'string' || this.#stream) this.end(resultText(request.requestId, result));
    else this.#reply.send(200, this.#headers(jsonHeaders), resultParts(request.requestId, result));
  }

  #endWithError(id: RequestId, error: unknown): void {
    const { response, httpStatus = 200 } = error instanceof ProtocolError ? error : {};
    if (!response || this.#stream) return this.end(errorText(id, error), httpStatus);
    this.#reply.send(httpStatus, response.headers, JSON.stringify(response.body));
  }

  #endStream(stream: EventStream): void {
    void stream.end().then(() => this.session?.streams?.delete(this.#streamId));
  }

  #open(): EventStream {
    if (this.#stream) return this.#stream;
    const { options, session, endpoint } = this;
    const store = session && options.eventStore;
    if (session && store) this.#streamId = session.nextStreamId();
    const stream = new EventStream({ id: this.#streamId, store, onStoreError: endpoint.onStoreError });
    this.#stream = stream;
    const sink = this.#reply.stream(this.#headers(eventStreamHeaders));
    stream.attach(sink);
    this.#reply.onClose(() => stream.detach(sink));
    if (session && store) {
      (session.streams ??= new Map()).set(this.#streamId, stream);
      if (session.protocolVersion >= LAST_LEGACY_VERSION) stream.prime(options.retryInterval);
    }
    return stream;
  }

  #headers<Headers extends object>(headers: Headers): Headers & { 'mcp-session-id'?: string } {
    const { session } = this;
    return this.announcesSession && session?.initialized ? { ...headers, 'mcp-session-id': session.id } : headers;
  }
}
