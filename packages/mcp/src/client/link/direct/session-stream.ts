import type { IncomingMessage } from 'node:http';
import { isIdentity, limitEvents, toResponse } from '../transports/http-answer.js';
import { createEventReader, type StreamEvent } from './event-reader.js';
import type { HttpExchanger } from './http-exchange.js';
import type { SenderEvents } from './http-sender.js';
import { createStreamRelay, type StreamRelay } from './stream-relay.js';

export interface SessionStreamEvents extends SenderEvents {
  /** The server has no such stream. */
  readonly onRefused: () => void;
  /** Something has to be done that the SDK knows how to do: the stream ended, or could not be opened. */
  readonly onTrouble: () => void;
}

/**
 * The stream on which a server with a session speaks up by itself.
 *
 * @see [MCP 2025-11-25, Transports – Listening for Messages from the Server](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server)
 */
export class SessionStream {
  readonly #events: SessionStreamEvents;
  readonly #end: () => void;
  /** What came instead of a stream, if something did. */
  readonly #opened: Promise<Response | undefined>;
  readonly #position: StreamEvent = { data: '' };
  #relay: StreamRelay | undefined;
  #isOver = false;

  constructor(exchanger: HttpExchanger, events: SessionStreamEvents) {
    this.#events = events;
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
    this.#opened.catch((error: Error) => {
      if (!this.#isOver) events.onError(error);
    });
  }

  /** The answer to the request that opened the stream, for somebody who reads on from here. */
  async handOver(signal?: AbortSignal | null): Promise<Response> {
    const refusal = await this.#opened;
    if (refusal) return refusal;
    signal?.addEventListener('abort', () => this.close(), { once: true });
    return new Response(this.#relayed().open(noRequest), { headers: { 'content-type': 'text/event-stream' } });
  }

  close(): void {
    this.#isOver = true;
    this.#end();
  }

  async #receive(message: IncomingMessage): Promise<Response | undefined> {
    const { statusCode, headers } = message;
    const isStream = headers['content-type']?.startsWith('text/event-stream') ?? false;
    if (statusCode !== 200 || !isStream || !isIdentity(message)) {
      const refusal = await toResponse(message);
      if (statusCode === 405) this.#events.onRefused();
      else queueMicrotask(() => this.#report());
      return refusal;
    }
    const read = createEventReader((event) => this.#take(event));
    limitEvents(message);
    message.setEncoding('utf8');
    message.on('data', read);
    const stop = (error?: Error): void => {
      if (error && !this.#isOver) this.#events.onError(error);
      this.#relayed().end();
      this.#report();
    };
    message.once('end', () => stop());
    message.once('error', stop);
    return undefined;
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
    if (!this.#isOver) this.#events.onTrouble();
  }
}

/** Nothing on this stream answers a request of the SDK. */
const noRequest = '\0';
