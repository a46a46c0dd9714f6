import { readEvents } from '../../http/read-events.js';
import { redirectTarget } from '../../http/redirects.js';
import { HttpCall, mediaTypeOf, type HttpResponse, type Send } from '../../http/send.js';
import { metaKeys } from '../../protocol/constants.js';
import { isObject, type Params, type RequestId } from '../../protocol/json-rpc.js';
import { encodeHeaderValue } from '../../protocol/param-headers.js';
import { expectedName } from '../../protocol/standard-headers.js';
import type { DefinitionHeaders, ReconnectionOptions } from '../config/server-definition.js';
import {
  ConnectionLostError,
  HttpError,
  toHttpError,
  type Channel,
  type OutgoingMessage,
  type Receiver,
  type Sending,
} from './channel.js';

/** About five minutes of attempts. */
const defaultReconnection: ReconnectionOptions = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 15,
};

export interface HttpChannelOptions {
  /** Default `http`. */
  readonly kind?: 'http' | 'in-process';
  readonly url: URL;
  readonly send: Send;
  readonly headers?: DefinitionHeaders | undefined;
  /** Headers of `requestInit`, by lower-case name. */
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  readonly reconnection?: ReconnectionOptions | undefined;
  /** Session of an earlier connection. */
  readonly sessionId?: string | undefined;
}

type Headers = Record<string, string>;

/** A request whose response has begun. */
interface Exchange {
  readonly call: HttpCall;
  readonly response: HttpResponse;
}

/** The stream that carries the response of one request, or the standalone stream of a session. */
interface EventStream {
  readonly requestId: RequestId | undefined;
  readonly sending: Sending;
  lastEventId: string | undefined;
  /** Milliseconds, from the server. */
  retry: number | undefined;
  /** Failed attempts to resume it since its last event. */
  attempts: number;
  isAnswered: boolean;
  isCanceled: boolean;
}

/**
 * Streamable HTTP: each message is a POST, whose response is JSON or an event stream. Resumes broken streams.
 *
 * @see [MCP 2025-11-25, Streamable HTTP](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http)
 */
export class HttpChannel implements Channel {
  readonly kind: 'http' | 'in-process';
  sessionId: string | undefined;
  readonly #options: HttpChannelOptions;
  readonly #accept: string;
  readonly #acceptEvents: string;
  readonly #calls = new Set<HttpCall>();
  readonly #pauses = new Set<() => void>();
  #receiver: Receiver | undefined;
  #protocolVersion: string | undefined;
  #isClosed = false;

  constructor(options: HttpChannelOptions) {
    this.#options = options;
    this.kind = options.kind ?? 'http';
    this.sessionId = options.sessionId;
    const own = options.requestHeaders?.['accept'];
    this.#accept = acceptOf(own, 'application/json', 'text/event-stream');
    this.#acceptEvents = acceptOf(own, 'text/event-stream');
  }

  async start(receiver: Receiver): Promise<void> {
    this.#receiver = receiver;
  }

  negotiated(protocolVersion: string): void {
    this.#protocolVersion = protocolVersion;
  }

  async send(message: OutgoingMessage, sending: Sending): Promise<void> {
    const method = 'method' in message ? message.method : undefined;
    const requestId = method !== undefined && 'id' in message ? message.id : undefined;
    const headers = this.#commonHeaders();
    headers['content-type'] = 'application/json';
    headers['accept'] = this.#accept;
    if (method === 'initialize') delete headers['mcp-session-id'];
    if (requestId !== undefined) addModernHeaders(headers, message as { method: string; params?: Params });
    for (const name in sending.headers) headers[name] = sending.headers[name] as string;
    const exchange = await this.#request('POST', headers, sending, JSON.stringify(message));
    const { response } = exchange;
    const { status } = response;
    if (status < 200 || status > 299) return this.#receiveError(exchange, requestId, 'mcp-session-id' in headers);
    if (method === 'initialize') this.sessionId = response.header('mcp-session-id') || undefined;
    if (requestId === undefined || status === 202) {
      this.#discard(exchange);
      if (method === 'notifications/initialized' && status === 202) void this.#listen();
      return;
    }
    const type = mediaTypeOf(response);
    if (type === 'application/json') return this.#receiveJson(await this.#textOf(exchange), requestId);
    if (type === 'text/event-stream') return this.#follow(newStream(requestId, sending), exchange);
    this.#discard(exchange);
    throw new HttpError(status, `the content type of the response is '${type}' instead of JSON or an event stream`);
  }

  async endSession(): Promise<void> {
    if (this.sessionId === undefined) return;
    // The server ends its streams with the session.
    for (const wake of this.#pauses) wake();
    const headers = this.#commonHeaders();
    headers['accept'] ??= '*/*';
    const exchange = await this.#request('DELETE', headers, {});
    const { status } = exchange.response;
    this.#discard(exchange);
    this.sessionId = undefined;
    if ((status < 200 || status > 299) && status !== 405)
      throw new HttpError(status, `the response to the end of the session has status ${status}`);
  }

  /** Ends all exchanges, also streams that the server leaves open. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const wake of this.#pauses) wake();
    for (const call of this.#calls) call.cancel();
  }

  #commonHeaders(): Headers {
    const headers: Headers = { ...this.#options.requestHeaders };
    if (this.sessionId !== undefined) headers['mcp-session-id'] = this.sessionId;
    if (this.#protocolVersion !== undefined) headers['mcp-protocol-version'] = this.#protocolVersion;
    return headers;
  }

  async #request(method: HttpCall['method'], headers: Headers, sending: Sending, body?: string): Promise<Exchange> {
    const { url, send, headers: own } = this.#options;
    if (this.#isClosed) throw new ConnectionLostError('Connection closed');
    const call = new HttpCall(method, headers, body, sending.requestContext);
    sending.cancel = () => call.cancel();
    this.#calls.add(call);
    try {
      if (own) {
        const added = typeof own === 'function' ? await own({ requestContext: sending.requestContext }) : own;
        for (const name in added) headers[name.toLowerCase()] = added[name] as string;
      }
      if (call.isCanceled) throw new ConnectionLostError('Connection closed');
      return { call, response: await send(url, call) };
    } catch (error) {
      this.#calls.delete(call);
      throw error;
    }
  }

  async #textOf({ call, response }: Exchange): Promise<string> {
    try {
      return await response.text();
    } finally {
      this.#calls.delete(call);
    }
  }

  #discard({ call, response }: Exchange): void {
    this.#calls.delete(call);
    response.discard();
  }

  /** @throws `HttpError` unless the body is the JSON-RPC error of the request */
  async #receiveError(exchange: Exchange, requestId: RequestId | undefined, hasSession: boolean): Promise<void> {
    const { response } = exchange;
    const { status } = response;
    const target = redirectTarget(this.#options.url, response);
    const text = await this.#textOf(exchange).catch(() => '');
    // The server rejects all requests of a session that it does not know in this way.
    const isSessionLost = status === 404 && hasSession;
    const message = requestId === undefined || isSessionLost ? undefined : parseErrorMessage(text);
    if (message) return this.#receiver?.onMessage({ ...message, id: requestId, httpStatus: status });
    if (target)
      throw new HttpError(
        status,
        `HTTP ${status}: the redirect to ${target.origin}${target.pathname} was not followed`,
      );
    throw toHttpError(status, text);
  }

  #receiveJson(text: string, requestId: RequestId): void {
    const value: unknown = JSON.parse(text);
    let isAnswered = false;
    for (const message of Array.isArray(value) ? (value as unknown[]) : [value]) {
      // An error that the server could not assign to a request belongs to this one.
      const isOurs = isObject(message) && isObject(message['error']) && (message['id'] ?? null) === null;
      isAnswered ||= isOurs || isResponseTo(requestId, message);
      this.#receiver?.onMessage(isOurs ? { ...message, id: requestId } : message);
    }
    if (!isAnswered) throw new TypeError('the server did not respond to the request, but sent other messages');
  }

  /** Opens the standalone stream of the session. A server without it responds with 405. */
  async #listen(): Promise<void> {
    const stream = newStream(undefined, {});
    try {
      const exchange = await this.#openStream(stream);
      if (exchange) await this.#follow(stream, exchange);
    } catch (error) {
      this.#report(error);
    }
  }

  /** Reads a stream, resumes it when it breaks, and returns when it is no longer needed. */
  async #follow(stream: EventStream, first: Exchange): Promise<void> {
    let exchange: Exchange | undefined = first;
    for (let isResumed = false; ; isResumed = true) {
      if (exchange) await this.#readStream(stream, exchange, isResumed);
      if (stream.isAnswered || stream.isCanceled || this.#isClosed) return;
      const { requestId, lastEventId } = stream;
      if (requestId !== undefined && lastEventId === undefined)
        throw new ConnectionLostError('the stream ended without an answer');
      if (stream.attempts >= this.#reconnection.maxRetries)
        throw new ConnectionLostError(`the stream could not be resumed in ${stream.attempts} attempts`);
      await this.#pause(stream);
      if (stream.isCanceled || this.#isClosed || (requestId === undefined && this.sessionId === undefined)) return;
      stream.attempts += 1;
      try {
        exchange = await this.#openStream(stream);
        if (exchange) continue;
      } catch (error) {
        this.#report(error);
        exchange = undefined;
        continue;
      }
      if (requestId === undefined) return;
      throw new ConnectionLostError('the server does not resume the stream of the response');
    }
  }

  get #reconnection(): ReconnectionOptions {
    return this.#options.reconnection ?? defaultReconnection;
  }

  /** @returns `undefined` when the server has no such stream */
  async #openStream(stream: EventStream): Promise<Exchange | undefined> {
    const headers = this.#commonHeaders();
    headers['accept'] = this.#acceptEvents;
    if (stream.lastEventId !== undefined) headers['last-event-id'] = stream.lastEventId;
    const exchange = await this.#request('GET', headers, stream.sending);
    const { response } = exchange;
    if (response.status === 200 && mediaTypeOf(response) === 'text/event-stream') return exchange;
    this.#discard(exchange);
    if (response.status === 405) return undefined;
    if (response.status === 404 && 'mcp-session-id' in headers) this.#receiver?.onSessionLost();
    throw new HttpError(response.status, `the event stream could not be opened: HTTP ${response.status}`);
  }

  async #readStream(stream: EventStream, { call, response }: Exchange, isResumed: boolean): Promise<void> {
    stream.sending.cancel = () => {
      stream.isCanceled = true;
      call.cancel();
    };
    try {
      await readEvents(response, {
        onRetry: (milliseconds) => {
          stream.retry = milliseconds;
        },
        onEvent: ({ id, event = 'message', data }) => {
          if (id !== undefined) stream.lastEventId = id;
          stream.attempts = 0;
          if (data === '' || event !== 'message') return;
          this.#receiveEvent(stream, data);
          // The server may keep the stream open, which would keep the process alive.
          if (isResumed && stream.isAnswered) call.cancel();
        },
      });
    } catch (error) {
      if (!stream.isCanceled && !(stream.isAnswered && isResumed)) this.#report(error);
    } finally {
      this.#calls.delete(call);
    }
  }

  #receiveEvent(stream: EventStream, data: string): void {
    let message: unknown;
    try {
      message = JSON.parse(data);
    } catch (error) {
      return this.#report(error);
    }
    if (stream.requestId !== undefined) stream.isAnswered ||= isResponseTo(stream.requestId, message);
    this.#receiver?.onMessage(message);
  }

  /** Waits before a stream is resumed; {@link close} and the cancellation of its request end the wait. */
  #pause(stream: EventStream): Promise<void> {
    const { initialReconnectionDelay, maxReconnectionDelay, reconnectionDelayGrowFactor } = this.#reconnection;
    const delay = Math.min(
      initialReconnectionDelay * reconnectionDelayGrowFactor ** stream.attempts,
      maxReconnectionDelay,
    );
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#pauses.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, stream.retry ?? delay);
      this.#pauses.add(wake);
      stream.sending.cancel = () => {
        stream.isCanceled = true;
        wake();
      };
    });
  }

  #report(error: unknown): void {
    if (!this.#isClosed) this.#receiver?.onError(error);
  }
}

function newStream(requestId: RequestId | undefined, sending: Sending): EventStream {
  return {
    requestId,
    sending,
    lastEventId: undefined,
    retry: undefined,
    attempts: 0,
    isAnswered: false,
    isCanceled: false,
  };
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
  const name = expectedName(method, params);
  if (name !== undefined) headers['mcp-name'] = encodeHeaderValue(name);
}

function isResponseTo(id: RequestId, message: unknown): boolean {
  return isObject(message) && !('method' in message) && String(message['id']) === String(id);
}

function parseErrorMessage(text: string): Params | undefined {
  try {
    const message: unknown = JSON.parse(text);
    const isError = isObject(message) && message['jsonrpc'] === '2.0' && isObject(message['error']);
    return isError ? message : undefined;
  } catch {
    return undefined;
  }
}
