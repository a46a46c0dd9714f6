import { readEvents } from '../../http/read-events.js';
import { HttpCall, mediaTypeOf, type HttpResponse, type Send } from '../../http/send.js';
import {
  ConnectionLostError,
  HttpError,
  toHttpError,
  type Channel,
  type OutgoingMessage,
  type Receiver,
  type Sending,
} from './channel.js';
import type { DefinitionHeaders } from '../config/server-definition.js';

export interface SseChannelOptions {
  readonly url: URL;
  readonly send: Send;
  /** Opens the event stream. Default: `send`. */
  readonly openStream?: Send | undefined;
  readonly headers?: DefinitionHeaders | undefined;
  /** Headers of `requestInit`, by lower-case name. */
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
}

/**
 * HTTP+SSE: all messages of the server arrive on one event stream, whose first event names the address for the messages of the
 * client. A stream that breaks ends the connection: the session ends with it.
 *
 * @see [MCP 2024-11-05, HTTP with SSE](https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse)
 */
export class SseChannel implements Channel {
  readonly kind = 'sse' as const;
  readonly #options: SseChannelOptions;
  readonly #calls = new Set<HttpCall>();
  #receiver: Receiver | undefined;
  #endpoint: URL | undefined;
  #protocolVersion: string | undefined;
  #isClosed = false;

  constructor(options: SseChannelOptions) {
    this.#options = options;
  }

  /** @throws `HttpError` when the server has no such stream, `TypeError` when its endpoint has another origin */
  async start(receiver: Receiver): Promise<void> {
    this.#receiver = receiver;
    const { url, send, openStream = send } = this.#options;
    const call = await this.#call('GET', { accept: 'text/event-stream' }, {});
    const response = await openStream(url, call);
    if (response.status !== 200 || mediaTypeOf(response) !== 'text/event-stream') {
      response.discard();
      throw new HttpError(response.status, `the event stream could not be opened: HTTP ${response.status}`);
    }
    await new Promise<void>((resolve, reject) => {
      this.#readStream(response, resolve).then(
        () => this.#lose(new ConnectionLostError('the server ended the event stream'), reject),
        (error: unknown) => this.#lose(error, reject),
      );
    });
  }

  negotiated(protocolVersion: string): void {
    this.#protocolVersion = protocolVersion;
  }

  async send(message: OutgoingMessage, sending: Sending): Promise<void> {
    const { send } = this.#options;
    const version = this.#protocolVersion;
    const headers = {
      'content-type': 'application/json',
      ...(version !== undefined && { 'mcp-protocol-version': version }),
    };
    const call = await this.#call('POST', headers, sending, JSON.stringify(message));
    try {
      // The channel is open only with an endpoint.
      const response = await send(this.#endpoint as URL, call);
      const { status } = response;
      if (status >= 200 && status < 300) return response.discard();
      const text = await response.text().catch(() => '');
      throw toHttpError(status, text);
    } finally {
      this.#calls.delete(call);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const call of this.#calls) call.cancel();
  }

  #readStream(response: HttpResponse, onEndpoint: () => void): Promise<void> {
    const { url } = this.#options;
    return readEvents(response, {
      onEvent: ({ event = 'message', data }) => {
        if (event === 'endpoint') {
          const endpoint = new URL(data, url);
          if (endpoint.origin !== url.origin)
            throw new TypeError(`the endpoint ${endpoint.origin} has another origin than the server`);
          this.#endpoint = endpoint;
          return onEndpoint();
        }
        if (event !== 'message') return;
        let message: unknown;
        try {
          message = JSON.parse(data);
        } catch (error) {
          return this.#receiver?.onError(error);
        }
        this.#receiver?.onMessage(message);
      },
    });
  }

  #lose(error: unknown, reject: (error: unknown) => void): void {
    reject(error);
    if (this.#isClosed) return;
    void this.close();
    this.#receiver?.onClosed(error);
  }

  async #call(
    method: HttpCall['method'],
    given: Record<string, string>,
    { requestContext }: Sending,
    body?: string,
  ): Promise<HttpCall> {
    const { headers: own, requestHeaders } = this.#options;
    const headers: Record<string, string> = { ...requestHeaders, ...given };
    const added = typeof own === 'function' ? await own({ requestContext }) : own;
    for (const name in added) headers[name.toLowerCase()] = added[name] as string;
    if (this.#isClosed) throw new ConnectionLostError('Connection closed');
    const call = new HttpCall(method, headers, body, requestContext);
    this.#calls.add(call);
    return call;
  }
}
