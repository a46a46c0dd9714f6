import { ActiveSet } from '../../active-set.js';
import { readEvents } from '../../http/read-events.js';
import { followRedirects, redirectTarget } from '../../http/redirects.js';
import { HttpCall, mediaTypeOf, type HttpResponse } from '../../http/send.js';
import { metaKeys } from '../../protocol/constants.js';
import { findMethod } from '../../protocol/methods.js';
import { isObject, parseJsonObject, type Params, type RequestId } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { repeats } from '../../repeats.js';
import { encodeHeaderValue } from '../../protocol/param-headers.js';
import type { ReconnectionOptions } from '../config/server-definition.js';
import {
  ConnectionLostError,
  HttpError,
  toHttpError,
  type Channel,
  type OutgoingMessage,
  type Receiver,
  type Sending,
} from './channel.js';
import type { HttpOptions } from './http-options.js';

/** About five minutes of attempts. */
const defaultReconnection: ReconnectionOptions = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 15,
};

type Headers = Record<string, string>;

/** Connection whose messages travel in HTTP requests. {@link close} ends all of them. */
export abstract class HttpConnection {
  protected readonly options: HttpOptions;
  protected receiver: Receiver | undefined;
  protected protocolVersion: string | undefined;
  /** Whether the server sends messages only while a request is in progress. */
  protected isServerPassive = false;
  protected isClosed = false;
  /** Requests, and pauses between them, in progress. */
  protected readonly running: ActiveSet<{ cancel(): void }> = new ActiveSet();

  constructor(options: HttpOptions) {
    this.options = options;
  }

  get url(): URL {
    return this.options.url;
  }

  negotiated(protocolVersion: string, isServerPassive: boolean): void {
    this.protocolVersion = protocolVersion;
    this.isServerPassive = isServerPassive;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const operation of this.running) operation.cancel();
  }

  protected commonHeaders(): Headers {
    const headers: Headers = { ...this.options.requestHeaders };
    if (this.protocolVersion !== undefined) headers['mcp-protocol-version'] = this.protocolVersion;
    return headers;
  }

  /** Sends a request with the headers of the definition, and resolves with what `read` makes of the response. */
  protected async request<Result>(
    call: HttpCall,
    sending: Sending,
    read: (response: HttpResponse) => Result | Promise<Result>,
    { url, send }: Pick<HttpOptions, 'url' | 'send'> = this.options,
  ): Promise<Result> {
    const { headers, followsRedirects } = this.options;
    const cancel = (): void => {
      sending.isCanceled = true;
      call.cancel();
    };
    // V8 would put a function that is written here into its old generation.
    sending.cancel = cancel;
    this.running.add(call);
    try {
      const added = typeof headers === 'function' ? await headers({ requestContext: call.requestContext }) : headers;
      for (const name in added) call.headers[name.toLowerCase()] = added[name] as string;
      if (this.isClosed || call.isCanceled) throw new ConnectionLostError('Connection closed');
      const response = await send(url, call);
      const isRedirect = followsRedirects && response.status >= 300 && response.status < 400;
      return await read(isRedirect ? await followRedirects(send, url, call, response) : response);
    } finally {
      this.running.delete(call);
    }
  }

  /** Delivers the message of an event, and returns it. */
  protected receiveEvent(data: string, requestId?: RequestId): unknown {
    try {
      const message: unknown = JSON.parse(data);
      this.receiver?.onMessage(message, requestId);
      return message;
    } catch (error) {
      return this.receiver?.onError(error);
    }
  }
}

export interface HttpChannelOptions extends HttpOptions {
  /** Default `http`. */
  readonly kind?: 'http' | 'in-process';
  readonly reconnection?: ReconnectionOptions | undefined;
  /** Session of an earlier connection. */
  readonly sessionId?: string | undefined;
  /** Milliseconds for which a message is sent again that a server refuses which responded before: it restarts. Default 0. */
  readonly restartTimeout?: number | undefined;
}

/** The stream that carries the response of one request, or the standalone stream of a session. */
interface EventStream {
  readonly requestId?: RequestId;
  readonly sending: Sending;
  lastEventId?: string;
  /** Milliseconds, from the server. */
  retry?: number;
  /** Failed attempts to resume it since its last event. */
  attempts: number;
  isAnswered?: boolean;
}

/**
 * Streamable HTTP: each message is a POST, whose response is JSON or an event stream. Resumes broken streams.
 *
 * @see [MCP 2025-11-25, Streamable HTTP](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http)
 */
export class HttpChannel extends HttpConnection implements Channel {
  readonly kind: 'http' | 'in-process';
  sessionId: string | undefined;
  readonly #options: HttpChannelOptions;
  readonly #reconnection: ReconnectionOptions;
  readonly #accept: string;
  readonly #acceptEvents: string;
  /** Whether the first interactive request opens the standalone stream: its tool may report progress there. */
  #listensLater = false;

  constructor(options: HttpChannelOptions) {
    super(options);
    this.#options = options;
    const { kind = 'http', reconnection = defaultReconnection, sessionId, requestHeaders } = options;
    this.kind = kind;
    this.sessionId = sessionId;
    this.#reconnection = reconnection;
    this.#accept = acceptOf(requestHeaders?.['accept'], 'application/json', 'text/event-stream');
    this.#acceptEvents = acceptOf(requestHeaders?.['accept'], 'text/event-stream');
  }

  async start(receiver: Receiver): Promise<void> {
    this.receiver = receiver;
  }

  async send(message: OutgoingMessage, sending: Sending): Promise<void> {
    const started = performance.now();
    let closings = 0;
    for (;;) {
      try {
        return await this.#post(message, sending);
      } catch (error) {
        const pause = this.#pauseBeforeRepeat(error, started, closings);
        if (pause === undefined) throw error;
        if (repeats.closedServer.isCause(error)) closings += 1;
        await this.#wait(pause, sending);
        if (sending.isCanceled || this.isClosed) throw error;
      }
    }
  }

  /** Returns the milliseconds after which a failed message is sent again; `undefined` when it must not be. */
  #pauseBeforeRepeat(error: unknown, started: number, closings: number): number | undefined {
    const { refused, closedServer } = repeats;
    if (closedServer.isCause(error)) return this.kind === 'http' ? closedServer.pauses[closings] : undefined;
    const { restartTimeout = 0 } = this.#options;
    const mayRestart = this.protocolVersion !== undefined && performance.now() < started + restartTimeout;
    return mayRestart && refused.isCause(error) ? refused.pause : undefined;
  }

  #post(message: OutgoingMessage, sending: Sending): Promise<void> {
    const method = 'method' in message ? message.method : undefined;
    const requestId = method !== undefined && 'id' in message ? message.id : undefined;
    const headers = this.commonHeaders();
    headers['content-type'] = 'application/json';
    headers['accept'] = this.#accept;
    if (method === 'initialize') delete headers['mcp-session-id'];
    if (requestId !== undefined) addModernHeaders(headers, message as { method: string; params?: Params });
    for (const name in sending.headers) headers[name] = sending.headers[name] as string;
    if (this.#listensLater && method !== undefined && findMethod(method)?.isInteractive) void this.#listen();
    const call = new HttpCall('POST', headers, JSON.stringify(message), sending.requestContext);
    return this.request(call, sending, async (response) => {
      const { status } = response;
      if (!isSuccessful(status)) return this.#receiveError(response, call, message);
      if (method === 'initialize') this.sessionId = response.header('mcp-session-id') || undefined;
      if (requestId === undefined || status === 202) {
        response.discard();
        if (method === 'notifications/initialized' && status === 202) {
          this.#listensLater = this.isServerPassive;
          if (!this.#listensLater) void this.#listen();
        }
        return;
      }
      const type = mediaTypeOf(response);
      if (type === 'application/json') return this.#receiveJson(await response.text(), requestId);
      if (type === 'text/event-stream') {
        const stream = { requestId, sending, attempts: 0 };
        await this.#readStream(stream, response, call);
        return this.#resume(stream);
      }
      response.discard();
      throw new HttpError(status, `the content type of the response is '${type}' instead of JSON or an event stream`);
    });
  }

  async endSession(): Promise<void> {
    if (this.sessionId === undefined) return;
    const headers = this.commonHeaders();
    headers['accept'] ??= '*/*';
    await this.request(new HttpCall('DELETE', headers), {}, (response) => {
      response.discard();
      this.sessionId = undefined;
      const { status } = response;
      if (!isSuccessful(status) && status !== 405)
        throw new HttpError(status, `the response to the end of the session has status ${status}`);
    });
  }

  protected override commonHeaders(): Headers {
    const headers = super.commonHeaders();
    if (this.sessionId !== undefined) headers['mcp-session-id'] = this.sessionId;
    return headers;
  }

  #receiveJson(text: string, requestId: RequestId): void {
    const value: unknown = JSON.parse(text);
    let isAnswered = false;
    for (const message of Array.isArray(value) ? (value as unknown[]) : [value]) {
      // An error that the server could not assign to a request belongs to this one.
      const isOurs = isObject(message) && isObject(message['error']) && (message['id'] ?? null) === null;
      isAnswered ||= isOurs || isResponseTo(requestId, message);
      this.receiver?.onMessage(isOurs ? { ...message, id: requestId } : message, requestId);
    }
    if (!isAnswered) throw new TypeError('the server did not respond to the request, but sent other messages');
  }

  /** @throws `HttpError` unless the body is the JSON-RPC error of the request */
  async #receiveError(response: HttpResponse, call: HttpCall, sent: OutgoingMessage): Promise<void> {
    const { status } = response;
    const requestId = 'method' in sent && 'id' in sent ? sent.id : undefined;
    const text = await response.text().catch(() => '');
    // The server rejects all requests of a session that it does not know in this way.
    const isSessionLost = repeats.lostSession.isCause(status, call.headers['mcp-session-id']);
    const message = parseErrorMessage(text);
    if (message && status === 503) {
      const { code, message: reason, data } = message.error;
      const error = new ProtocolError(Number(code), String(reason), { data, httpStatus: status });
      if (repeats.closedServer.isCause(error)) throw error;
    }
    if (message && requestId !== undefined && !isSessionLost)
      return this.receiver?.onMessage({ ...message, id: requestId, httpStatus: status });
    const target = redirectTarget(this.options.url, response);
    if (!target) throw toHttpError(status, String(message?.error['message'] ?? text));
    throw new HttpError(status, `HTTP ${status}: the redirect to ${target.origin}${target.pathname} was not followed`);
  }

  async #readStream(stream: EventStream, response: HttpResponse, call: HttpCall): Promise<void> {
    const isResumed = call.method === 'GET';
    try {
      await readEvents(response, {
        onRetry: (milliseconds) => {
          stream.retry = milliseconds;
        },
        onEvent: ({ id, event = 'message', data }) => {
          if (id !== undefined) stream.lastEventId = id;
          stream.attempts = 0;
          if (data === '' || event !== 'message') return;
          const message = this.receiveEvent(data, stream.requestId);
          if (stream.requestId !== undefined) stream.isAnswered ||= isResponseTo(stream.requestId, message);
          // The server may keep the stream open, which would keep the process alive.
          if (isResumed && stream.isAnswered) call.cancel();
        },
      });
    } catch (error) {
      if (!stream.sending.isCanceled && !(stream.isAnswered && isResumed)) this.receiver?.onError(error);
    }
  }

  /** Resumes the stream of a response, or of the session, until it is no longer needed. */
  async #resume(stream: EventStream): Promise<void> {
    const { requestId, sending } = stream;
    while (!stream.isAnswered && !sending.isCanceled && !this.isClosed) {
      if (requestId !== undefined && stream.lastEventId === undefined)
        throw new ConnectionLostError('the stream ended without a response');
      if (stream.attempts >= this.#reconnection.maxRetries)
        throw new ConnectionLostError(`the stream could not be resumed in ${stream.attempts} attempts`);
      const { initialReconnectionDelay, maxReconnectionDelay, reconnectionDelayGrowFactor } = this.#reconnection;
      const delay = initialReconnectionDelay * reconnectionDelayGrowFactor ** stream.attempts;
      await this.#wait(stream.retry ?? Math.min(delay, maxReconnectionDelay), sending);
      if (sending.isCanceled || this.isClosed || (requestId === undefined && this.sessionId === undefined)) return;
      stream.attempts += 1;
      const isSupported = await this.#openStream(stream).catch((error: unknown) => {
        this.receiver?.onError(error);
        return true;
      });
      if (isSupported) continue;
      if (requestId === undefined) return;
      throw new ConnectionLostError('the server does not resume the stream of the response');
    }
  }

  /** Settles after a time, or when the request is canceled, or by {@link close}. */
  #wait(milliseconds: number, sending: Sending): Promise<void> {
    return new Promise((resolve) => {
      const pause = {
        cancel: (): void => {
          clearTimeout(timer);
          this.running.delete(pause);
          resolve();
        },
      };
      const timer = setTimeout(pause.cancel, milliseconds);
      this.running.add(pause);
      sending.cancel = () => {
        sending.isCanceled = true;
        pause.cancel();
      };
    });
  }

  /** Opens the standalone stream of the session. A server without it responds with 405. */
  async #listen(): Promise<void> {
    this.#listensLater = false;
    const stream = { sending: {}, attempts: 0 };
    try {
      if (await this.#openStream(stream)) await this.#resume(stream);
    } catch (error) {
      this.receiver?.onError(error);
    }
  }

  /** Opens a stream by GET and reads it to its end. @returns whether the server has such streams */
  #openStream(stream: EventStream): Promise<boolean> {
    const headers = this.commonHeaders();
    headers['accept'] = this.#acceptEvents;
    if (stream.lastEventId !== undefined) headers['last-event-id'] = stream.lastEventId;
    const call = new HttpCall('GET', headers, undefined, stream.sending.requestContext);
    return this.request(call, stream.sending, async (response) => {
      const { status } = response;
      if (status === 200 && mediaTypeOf(response) === 'text/event-stream') {
        await this.#readStream(stream, response, call);
        return true;
      }
      response.discard();
      if (status === 405) return false;
      if (status === 404 && 'mcp-session-id' in headers) this.receiver?.onSessionLost();
      throw new HttpError(status, `the event stream could not be opened: HTTP ${status}`);
    });
  }
}

function isSuccessful(status: number): boolean {
  return status >= 200 && status < 300;
}

function acceptOf(own: string | undefined, ...types: string[]): string {
  const wanted = own?.split(',').map((type) => type.trim().toLowerCase()) ?? [];
  return [...new Set([...wanted, ...types])].join(', ');
}

/** Repeats the version, the method and the name of a modern request in headers. */
function addModernHeaders(headers: Headers, { method, params }: { method: string; params?: Params }): void {
  const meta = params?.['_meta'] as Params | undefined;
  const version = meta?.[metaKeys.protocolVersion];
  if (typeof version !== 'string') return;
  headers['mcp-protocol-version'] = version;
  headers['mcp-method'] = method;
  const source = findMethod(method)?.nameSource;
  const name = source && params?.[source];
  if (typeof name === 'string') headers['mcp-name'] = encodeHeaderValue(name);
}

function isResponseTo(id: RequestId, message: unknown): boolean {
  return isObject(message) && !('method' in message) && String(message['id']) === String(id);
}

function parseErrorMessage(text: string): (Params & { error: Params }) | undefined {
  const message = parseJsonObject(text);
  const isError = message?.['jsonrpc'] === '2.0' && isObject(message['error']);
  // The condition checks the member.
  return isError ? (message as Params & { error: Params }) : undefined;
}
