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
import { HttpConnection } from './http-channel.js';
import type { HttpOptions } from './http-options.js';

/**
 * HTTP+SSE: all messages of the server arrive on one event stream, whose first event names the address for those of the client.
 *
 * @see [MCP 2024-11-05, HTTP with SSE](https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse)
 */
export class SseChannel extends HttpConnection implements Channel {
  readonly kind = 'sse' as const;
  readonly #openStream: Send | undefined;
  #endpoint: URL | undefined;

  /** @param openStream - opens the event stream. Default: `send` */
  constructor(options: HttpOptions, openStream?: Send) {
    super(options);
    this.#openStream = openStream;
  }

  /** @throws `HttpError` when the server has no such stream, `TypeError` when its endpoint has another origin */
  start(receiver: Receiver): Promise<void> {
    this.receiver = receiver;
    const headers = { ...this.commonHeaders(), accept: 'text/event-stream' };
    return new Promise((resolve, reject) => {
      const { url, send } = this.options;
      const reading = this.request(
        new HttpCall('GET', headers),
        {},
        (response) => this.#readStream(response, resolve),
        { url, send: this.#openStream ?? send },
      );
      reading.catch((error: unknown) => {
        reject(error);
        if (this.isClosed) return;
        void this.close();
        receiver.onClosed(error);
      });
    });
  }

  send(message: OutgoingMessage, sending: Sending): Promise<void> {
    const headers = { ...this.commonHeaders(), 'content-type': 'application/json' };
    const call = new HttpCall('POST', headers, JSON.stringify(message), sending.requestContext);
    const { url, send } = this.options;
    const read = async (response: HttpResponse): Promise<void> => {
      const { status } = response;
      if (status >= 200 && status < 300) return response.discard();
      throw toHttpError(status, await response.text().catch(() => ''));
    };
    return this.request(call, sending, read, { url: this.#endpoint ?? url, send });
  }

  /** Reads the stream to its end, which ends the connection. */
  async #readStream(response: HttpResponse, onEndpoint: () => void): Promise<never> {
    const { url } = this.options;
    if (response.status !== 200 || mediaTypeOf(response) !== 'text/event-stream') {
      response.discard();
      throw new HttpError(response.status, `the event stream could not be opened: HTTP ${response.status}`);
    }
    await readEvents(response, {
      onEvent: ({ event = 'message', data }) => {
        if (event === 'message') this.receiveEvent(data);
        if (event !== 'endpoint') return;
        const endpoint = new URL(data, url);
        if (endpoint.origin !== url.origin)
          throw new TypeError(`the endpoint ${endpoint.origin} has another origin than the server`);
        this.#endpoint = endpoint;
        onEndpoint();
      },
    });
    throw new ConnectionLostError('the server ended the event stream');
  }
}
