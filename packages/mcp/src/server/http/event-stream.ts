import type { Channel } from '../request.js';
import type { EventStore } from './event-store.js';
import type { EventSink } from './message.js';

export interface EventStreamOptions {
  /** `<session>/<stream>` */
  readonly id: string;
  /** Makes the stream resumable. */
  readonly store?: EventStore | undefined;
  /** Called when the store fails; the event then goes out without an id. */
  readonly onStoreError: (error: unknown) => void;
}

/**
 * Messages on their way to one client, in order. Without a store what has no reader is dropped. With one every event has an id,
 * the reader may leave and come back, and nothing is lost or repeated between "replayed" and "live".
 */
export class EventStream implements Channel {
  readonly #options: EventStreamOptions;
  /** Who has asked for the stream. */
  #reader: EventSink | undefined;
  /** Where messages go: the reader, once it has all that it missed. */
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

  /** Gives the stream its first reader. */
  attach(sink: EventSink): void {
    this.#reader = sink;
    this.#sink = sink;
  }

  /** Marks the beginning, so that a client that has seen no message yet can come back too. */
  prime(retryInterval: number | undefined): void {
    const { store, id } = this.#options;
    if (!store) return;
    this.#enqueue(async () => {
      const eventId = await store.storeEvent(id, {});
      this.#sink?.write(`id: ${eventId}\n${retryInterval === undefined ? '' : `retry: ${retryInterval}\n`}data: \n\n`);
    });
  }

  /** @returns whether the message has a reader now, or can have one later */
  send(messageText: string): boolean {
    const { store, id } = this.#options;
    if (!store) {
      this.#sink?.write(toEvent(messageText));
      return this.hasReader;
    }
    this.#enqueue(async () => {
      let eventId: string | undefined;
      try {
        eventId = await store.storeEvent(id, JSON.parse(messageText));
      } catch (error) {
        this.#options.onStoreError(error);
      }
      this.#sink?.write(toEvent(messageText, eventId));
    });
    return true;
  }

  /** Gives the stream a new reader, after all that it missed. */
  resume(sink: EventSink, lastEventId: string): void {
    const { store } = this.#options;
    this.#reader = sink;
    this.#enqueue(async () => {
      try {
        if (store) await replay(store, lastEventId, sink);
      } catch (error) {
        // A reader that cannot have what it missed must come again, and must not keep others away meanwhile.
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
    this.#sink?.write(': keep-alive\n\n');
  }

  /** A reader has gone. It may be heard of late, when there is another one already. */
  detach(sink: EventSink): void {
    if (this.#reader !== sink) return;
    this.#reader = undefined;
    this.#sink = undefined;
  }

  /** Sends the reader away, to come back later. */
  pause(): void {
    this.#enqueue(async () => {
      const sink = this.#sink;
      if (!sink) return;
      this.detach(sink);
      sink.end();
    });
  }

  /** Nothing follows: settles when everything is stored and written. */
  async end(): Promise<void> {
    if (!this.#options.store) {
      this.#isComplete = true;
      this.#sink?.end();
      return;
    }
    this.#enqueue(async () => {
      this.#isComplete = true;
      this.#sink?.end();
    });
    await this.#order;
  }

  #enqueue(write: () => Promise<void>): void {
    this.#order = this.#order.then(write).catch(this.#options.onStoreError);
  }
}

/** Writes what a store has after an event. The marks at beginnings of streams are left out. */
export async function replay(store: EventStore, lastEventId: string, sink: EventSink): Promise<void> {
  await store.replayEventsAfter(lastEventId, {
    send: async (eventId, message: object) => {
      if (Object.keys(message).length > 0) sink.write(toEvent(JSON.stringify(message), eventId));
    },
  });
}

/** The stream that an event belongs to, or `undefined` for an event that the store does not know. */
export async function findStreamId(store: EventStore, eventId: string): Promise<string | undefined> {
  if (store.getStreamIdForEventId) return store.getStreamIdForEventId(eventId);
  try {
    return await store.replayEventsAfter(eventId, { send: async () => {} });
  } catch {
    return undefined;
  }
}

function toEvent(messageText: string, eventId?: string): string {
  return eventId === undefined
    ? `event: message\ndata: ${messageText}\n\n`
    : `id: ${eventId}\nevent: message\ndata: ${messageText}\n\n`;
}
