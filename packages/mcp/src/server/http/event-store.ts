import { QuiverError } from '@quiver/core';
import { checkOptions, numberIn, type OptionChecks } from '@quiver/core/internal';

/**
 * Stores the events of streams, so that a client can resume a broken stream. The interface is the official SDK's.
 *
 * Ids of streams are `<session>/<stream>`: a store may be shared by sessions, servers and processes.
 */
export interface EventStore {
  /** Stores one message, `{}` for the start of a stream, and returns its event id. */
  storeEvent(streamId: string, message: EventMessage): Promise<string>;
  /** Called after the last event of a stream. */
  endStream?(streamId: string): Promise<void>;
  /** Returns the stream of an event, if the store has the event. Without this method the server replays the stream to find it. */
  getStreamIdForEventId?(eventId: string): Promise<string | undefined>;
  /**
   * Sends all later events of the event's stream, in order, and returns the id of the stream.
   *
   * @throws when the event is not stored
   */
  replayEventsAfter(
    lastEventId: string,
    options: { send: (eventId: string, message: EventMessage) => Promise<void> },
  ): Promise<string>;
}

/** Part of a store that writes streams. */
export type EventWriter = Pick<EventStore, 'storeEvent' | 'endStream'>;

/** A JSON-RPC message, as parsed JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- stores written for the official SDK take its message type here
export type EventMessage = any;

/** Event without a message: its id marks the start of a stream. It is not sent as a message. */
export const emptyEvent: EventMessage = {};

export function isEmptyEvent(message: object): boolean {
  return Object.keys(message).length === 0;
}

/** Limits of `InMemoryEventStore`. */
export interface InMemoryEventStoreOptions {
  /** Events that are kept, over all streams; the oldest go first. Default 10 000. */
  maxEvents?: number;
  /** Characters of JSON that are kept, over all streams. Default 16 Mi. */
  maxCharacters?: number;
}

const checks: OptionChecks<InMemoryEventStoreOptions> = {
  maxEvents: numberIn({ above: 0 }),
  maxCharacters: numberIn({ above: 0 }),
};

/**
 * An event store for one process, bounded: the oldest events are evicted. Event ids are
 * `<stream>_<n>`.
 *
 * @example
 * await server.listen({ port: 3000, eventStore: new InMemoryEventStore() });
 */
export class InMemoryEventStore implements EventStore {
  /** By number, oldest first. */
  readonly #events = new Map<number, { readonly streamId: string; readonly text: string }>();
  #oldest = 0;
  #next = 0;
  #characters = 0;
  readonly #maxEvents: number;
  readonly #maxCharacters: number;

  /** @throws `OPTIONS_INVALID` */
  constructor(options: InMemoryEventStoreOptions = {}) {
    checkOptions('InMemoryEventStore', options, checks);
    const { maxEvents = 10_000, maxCharacters = 16 * 1024 * 1024 } = options;
    this.#maxEvents = maxEvents;
    this.#maxCharacters = maxCharacters;
  }

  /** Events that are kept now. */
  get size(): number {
    return this.#events.size;
  }

  async storeEvent(streamId: string, message: EventMessage): Promise<string> {
    const text = JSON.stringify(message);
    const number = this.#next++;
    this.#events.set(number, { streamId, text });
    this.#characters += text.length;
    while (this.size > 1 && (this.size > this.#maxEvents || this.#characters > this.#maxCharacters)) {
      this.#characters -= this.#events.get(this.#oldest)?.text.length ?? 0;
      this.#events.delete(this.#oldest++);
    }
    return `${streamId}_${number}`;
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    const [, streamId, number] = /^(.+)_(\d{1,15})$/s.exec(eventId) ?? [];
    return this.#events.get(Number(number))?.streamId === streamId ? streamId : undefined;
  }

  /** @throws `EVENT_NOT_FOUND` when the event is not stored */
  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: EventMessage) => Promise<void> },
  ): Promise<string> {
    const streamId = await this.getStreamIdForEventId(lastEventId);
    if (streamId === undefined) {
      throw new QuiverError(
        'EVENT_NOT_FOUND',
        'Cannot resume the stream: the event is no longer stored. Send the request again.',
      );
    }
    const last = Number(lastEventId.slice(streamId.length + 1));
    // A copy: events may be stored in the meantime.
    for (const [number, event] of Array.from(this.#events)) {
      if (number > last && event.streamId === streamId) await send(`${streamId}_${number}`, JSON.parse(event.text));
    }
    return streamId;
  }
}
