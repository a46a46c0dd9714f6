import type { ResponseChannel } from '../response-channel.js';
import { emptyEvent, isEmptyEvent, type EventStore, type EventWriter } from './event-store.js';
import { keepAliveComment, type EventSink } from './message.js';

export interface EventStreamOptions {
  /** `<session>/<stream>` */
  readonly id: string;
  readonly store?: EventWriter | undefined;
  /** Called when the store fails; the event then goes out without an id. */
  readonly onStoreError: (error: unknown) => void;
}

/**
 * Event stream to one client, in order. Without a store, messages without a reader are dropped. With a store every event has an id, the
 * client may resume the stream, and no event is lost or repeated between replay and live events.
 */
export class EventStream implements ResponseChannel {
  readonly #options: EventStreamOptions;
  #reader: EventSink | undefined;
  /** Reader that received all missed events. */
  #sink: EventSink | undefined;
  #isComplete = false;
  /** Writes wait for the store, and for each other. */
  #order: Promise<void> = Promise.resolve();

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  get hasReader(): boolean {
    return this.#reader !== undefined;
  }

  attach(sink: EventSink): void {
    this.#reader = sink;
    this.#sink = sink;
  }

  /** Sends an event id at the start, so that a client can resume before the first message. */
  prime(retryInterval: number | undefined): void {
    const { store, id } = this.#options;
    if (!store) return;
    this.#enqueue(async () => {
      const eventId = await store.storeEvent(id, emptyEvent);
      this.#sink?.write(primingEvent(eventId, retryInterval));
    });
  }

  /** @returns whether the message has a reader now, or can have one later */
  send(messageText: string): boolean {
    const { store, id, onStoreError } = this.#options;
    if (!store) {
      this.#sink?.write(toEvent(messageText));
      return this.hasReader;
    }
    this.#enqueue(async () => {
      let eventId: string | undefined;
      try {
        eventId = await store.storeEvent(id, JSON.parse(messageText));
      } catch (error) {
        onStoreError(error);
      }
      this.#sink?.write(toEvent(messageText, eventId));
    });
    return true;
  }

  /** Gives the stream a new reader, after a replay of the missed events. */
  resume(sink: EventSink, store: EventStore, lastEventId: string): void {
    this.#reader = sink;
    this.#enqueue(async () => {
      try {
        await replay(store, lastEventId, sink);
      } catch (error) {
        // A reader whose replay failed must resume again, and must not block other readers.
        this.detach(sink);
        sink.end();
        throw error;
      }
      if (this.#reader !== sink) return;
      this.#sink = sink;
      if (this.#isComplete) sink.end();
    });
  }

  keepAlive(): void {
    this.#sink?.write(keepAliveComment);
  }

  /** Removes a reader that disconnected. The notice may come late, when there is another reader. */
  detach(sink: EventSink): void {
    if (this.#reader !== sink) return;
    this.#reader = undefined;
    this.#sink = undefined;
  }

  pause(): void {
    this.#enqueue(async () => {
      const sink = this.#sink;
      if (!sink) return;
      this.detach(sink);
      sink.end();
    });
  }

  /** Ends the stream. Settles when all events are stored and written. */
  async end(): Promise<void> {
    const end = (): void => {
      this.#isComplete = true;
      this.#sink?.end();
    };
    const { store, id } = this.#options;
    if (!store) return end();
    this.#enqueue(async () => {
      end();
      await store.endStream?.(id);
    });
    await this.#order;
  }

  #enqueue(write: () => Promise<void>): void {
    this.#order = this.#order.then(write).catch(this.#options.onStoreError);
  }
}

/** Writes the stored events after an event. Start marks are left out. */
export async function replay(store: EventStore, lastEventId: string, sink: EventSink): Promise<void> {
  await store.replayEventsAfter(lastEventId, {
    send: async (eventId, message: object) => {
      if (!isEmptyEvent(message)) sink.write(toEvent(JSON.stringify(message), eventId));
    },
  });
}

export async function findStreamId(store: EventStore, eventId: string): Promise<string | undefined> {
  if (store.getStreamIdForEventId) return store.getStreamIdForEventId(eventId);
  try {
    return await store.replayEventsAfter(eventId, { send: async () => {} });
  } catch {
    return undefined;
  }
}

/** Returns an event without a message, after whose id a client resumes a stream that breaks before the next event. */
export function primingEvent(eventId: string, retryInterval: number | undefined): string {
  return `id: ${eventId}\n${retryInterval === undefined ? '' : `retry: ${retryInterval}\n`}data: \n\n`;
}

export function toEvent(messageText: string, eventId?: string): string {
  return `${eventId === undefined ? '' : `id: ${eventId}\n`}event: message\ndata: ${messageText}\n\n`;
}
