import { QuiverError } from '@quiver/core';
import type { EventMessage, EventStore } from './event-store.js';

export interface InMemoryEventStoreOptions {
  /** Events that are kept, over all streams; the oldest go first. Default 10 000. */
  maxEvents?: number;
  /** Characters of JSON that are kept, over all streams. Default 16 Mi. */
  maxCharacters?: number;
}

interface StoredEvent {
  readonly streamId: string;
  readonly text: string;
}

/**
 * An event store for one process, bounded: the oldest events are evicted. Event ids are
 * `<stream>_<n>`.
 *
 * @example
 * await server.listen({ port: 3000, eventStore: new InMemoryEventStore() });
 */
export class InMemoryEventStore implements EventStore {
  /** Oldest first; the event with number `n` is at `n - #first`. Those before `#start` are forgotten already. */
  #events: (StoredEvent | undefined)[] = [];
  #first = 0;
  #start = 0;
  #characters = 0;
  readonly #maxEvents: number;
  readonly #maxCharacters: number;

  constructor({ maxEvents = 10_000, maxCharacters = 16 * 1024 * 1024 }: InMemoryEventStoreOptions = {}) {
    this.#maxEvents = maxEvents;
    this.#maxCharacters = maxCharacters;
  }

  /** Events that are kept now. */
  get size(): number {
    return this.#events.length - this.#start;
  }

  async storeEvent(streamId: string, message: EventMessage): Promise<string> {
    const text = JSON.stringify(message);
    const number = this.#first + this.#events.push({ streamId, text }) - 1;
    this.#characters += text.length;
    while (this.size > 1 && (this.size > this.#maxEvents || this.#characters > this.#maxCharacters))
      this.#forgetOldest();
    return `${streamId}_${number}`;
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return this.#find(eventId)?.streamId;
  }

  /** @throws `EVENT_NOT_FOUND` when the event is not stored */
  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: EventMessage) => Promise<void> },
  ): Promise<string> {
    const found = this.#find(lastEventId);
    if (!found) {
      throw new QuiverError(
        'EVENT_NOT_FOUND',
        'Cannot resume the stream: the event is no longer stored. Send the request again.',
      );
    }
    const { streamId, number } = found;
    const first = this.#first;
    for (const [index, event] of this.#events.slice(number + 1 - first).entries()) {
      if (event?.streamId === streamId) await send(`${streamId}_${number + 1 + index}`, JSON.parse(event.text));
    }
    return streamId;
  }

  #find(eventId: string): { streamId: string; number: number } | undefined {
    const [, streamId, digits] = /^(.+)_(\d{1,15})$/s.exec(eventId) ?? [];
    const number = Number(digits);
    const event = this.#events[number - this.#first];
    return event && event.streamId === streamId ? { streamId, number } : undefined;
  }

  #forgetOldest(): void {
    this.#characters -= this.#events[this.#start]?.text.length ?? 0;
    this.#events[this.#start] = undefined;
    this.#start += 1;
    if (this.#start < this.#events.length / 2) return;
    this.#events = this.#events.slice(this.#start);
    this.#first += this.#start;
    this.#start = 0;
  }
}
