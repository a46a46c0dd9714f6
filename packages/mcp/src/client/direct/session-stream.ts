import type { IncomingMessage } from 'node:http';
import { isIdentity, limitEvents, toResponse } from '../transports/http-answer.js';
import { createEventReader, type StreamEvent } from './event-reader.js';
import type { HttpExchanger } from './http-exchange.js';
import type { SenderEvents } from './http-sender.js';
import { createStreamRelay, type StreamRelay } from './stream-relay.js';

/**
 * The stream on which a server with a session speaks up by itself. A server that has none answers 405, and that is all.
 *
 * @see [MCP 2025-11-25, Transports – Listening for Messages from the Server](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server)
 */
export class SessionStream {
  readonly #events: SenderEvents;
  readonly #onTrouble: () => void;
  readonly #end: () => void;
  readonly #opened: Promise<IncomingMessage | Response>;
  readonly #position: StreamEvent = { data: '' };
  #relay: StreamRelay | undefined;
  #isOver = false;

  /** @param onTrouble - something has to be done that the SDK knows how to do: the stream ended, or could not be opened */
  constructor(exchanger: HttpExchanger, events: SenderEvents, onTrouble: () => void) {
    this.#events = events;
    this.#onTrouble = onTrouble;
    let end = (): void => {};
    this.#opened = new Promise((resolve, reject) => {
      end = exchanger.start({
        method: 'GET',
        accept: 'text/event-stream',
        onResponse: (message) => void this.#receive(message).then(resolve, reject),
        onError: reject,
      });
    });
    this.#end = end;
    this.#opened.catch((error: unknown) => {
      if (!this.#isOver) events.onError(error as Error);
    });
  }

  /** The answer to the request that opened the stream, for somebody who reads on from here. */
  async handOver(signal?: AbortSignal | null): Promise<Response> {
    const opened = await this.#opened;
    if (opened instanceof Response) return opened;
    signal?.addEventListener('abort', () => this.close(), { once: true });
    const relay = this.#relayed();
    return new Response(relay.open(noRequest), { headers: { 'content-type': 'text/event-stream' } });
  }

  close(): void {
    this.#isOver = true;
    this.#end();
  }

  async #receive(message: IncomingMessage): Promise<IncomingMessage | Response> {
    const { statusCode, headers } = message;
    const isStream = headers['content-type']?.startsWith('text/event-stream') ?? false;
    if (statusCode !== 200 || !isStream || !isIdentity(message)) {
      const response = await toResponse(message);
      if (statusCode !== 405) queueMicrotask(() => this.#report());
      return response;
    }
    const read = createEventReader((event) => this.#take(event));
    limitEvents(message);
    message.setEncoding('utf8');
    message.on('data', read);
    message.once('end', () => {
      this.#relayed().end();
      this.#report();
    });
    message.once('error', (error) => {
      this.#relayed().fail(error);
      this.#report();
    });
    return message;
  }

  #take(event: StreamEvent): void {
    if (this.#relay) return this.#relay.take(event);
    const { id, retry, data } = event;
    if (id !== undefined) this.#position.id = id;
    if (retry !== undefined) this.#position.retry = retry;
    if (data === undefined || data === '' || (event.event ?? 'message') !== 'message') return;
    let message: unknown;
    try {
      message = JSON.parse(data);
    } catch (error) {
      return this.#events.onError(error as Error);
    }
    this.#events.onMessage(message);
  }

  /** From here on the events are kept for whoever takes the stream over, who first hears how far it was read. */
  #relayed(): StreamRelay {
    if (this.#relay) return this.#relay;
    const relay = createStreamRelay(noRequest);
    relay.take(this.#position);
    this.#relay = relay;
    return relay;
  }

  #report(): void {
    if (!this.#isOver) this.#onTrouble();
  }
}

/** Nothing on this stream answers a request of the SDK. */
const noRequest = '\0';
