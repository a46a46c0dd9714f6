import { errorText } from '../../protocol/json-rpc.js';
import { callLost } from '../../server/lifecycle.js';
import { toEvent } from '../../server/http/event-stream.js';
import { isEmptyEvent } from '../../server/http/event-store.js';
import { keepAliveComment, type EventSink } from '../../server/http/message.js';
import type { SharedEventStore } from './shared-event-store.js';
import { parseStreamId } from '../../server/http/stream-id.js';

/** Event streams of GET requests that this instance sends for one shared session, by stream id. Any instance may write them. */
export class SharedReaders {
  readonly #readers = new Map<string, { readonly sink: EventSink; readonly ended: AbortController }>();
  readonly #events: SharedEventStore;
  readonly #onStoreError: (error: unknown) => void;

  constructor(events: SharedEventStore, onStoreError: (error: unknown) => void) {
    this.#events = events;
    this.#onStoreError = onStoreError;
  }

  get isEmpty(): boolean {
    return this.#readers.size === 0;
  }

  has(streamId: string): boolean {
    return this.#readers.has(streamId);
  }

  keepAlive(): void {
    for (const { sink } of this.#readers.values()) sink.write(keepAliveComment);
  }

  /** Sends the events of a stream after one, and then those that are stored, to its end. */
  open(streamId: string, sink: EventSink, lastEventId: string): void {
    const ended = new AbortController();
    this.#readers.set(streamId, { sink, ended });
    void this.#follow(streamId, sink, lastEventId, ended.signal)
      .catch(this.#onStoreError)
      .finally(() => this.close(streamId, sink));
  }

  /** @param sink - of the reader that ends. Default: the current one */
  close(streamId: string, sink?: EventSink): void {
    const reader = this.#readers.get(streamId);
    if (!reader || (sink && reader.sink !== sink)) return;
    this.#readers.delete(streamId);
    reader.ended.abort();
    reader.sink.end();
  }

  /** Ends all streams, which clients continue at another instance. */
  closeAll(): void {
    for (const streamId of Array.from(this.#readers.keys())) this.close(streamId);
  }

  async #follow(streamId: string, sink: EventSink, lastEventId: string, signal: AbortSignal): Promise<void> {
    const { writer, requestId } = parseStreamId(streamId);
    const send = (eventId: string, message: object): void => {
      if (!isEmptyEvent(message)) sink.write(toEvent(JSON.stringify(message), eventId));
    };
    const outcome = await this.#events.follow(lastEventId, { send, signal, writer });
    if (outcome !== 'lost' || requestId === undefined) return;
    // With an id, after which nothing can be resumed.
    const text = errorText(requestId, callLost());
    sink.write(toEvent(text, await this.#events.storeEvent(streamId, JSON.parse(text) as object)));
    await this.#events.endStream(streamId);
  }
}
