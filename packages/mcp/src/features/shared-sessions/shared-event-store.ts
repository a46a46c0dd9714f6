import { isQuiverError, QuiverError } from '@quiver/core';
import { parseJsonObject } from '../../protocol/json-rpc.js';
import type { Instance } from '../../shared-store/instance.js';
import type { LogEntry } from '../../shared-store/shared-store.js';
import type { EventMessage, EventWriter } from '../../server/http/event-store.js';

/** Milliseconds that a client has to resume a complete stream. */
const COMPLETE_STREAM_LIFETIME: number = 5 * 60_000;
/** Events of one stream. */
const MAX_EVENTS = 10_000;
/** Milliseconds before a quiet stream is read in case a message was lost. Doubled up to the longest, until there is a message again. */
const POLL_INTERVAL = 5_000;
const LONGEST_POLL_INTERVAL = 60_000;
const END = 'end';

interface FollowOptions {
  readonly send: (eventId: string, message: EventMessage) => void;
  readonly signal: AbortSignal;
  /** Instance that writes the stream; `undefined` when all do. */
  readonly writer: string | undefined;
}

/**
 * Stores the events of streams in a shared store: a log per stream, and a channel that announces new events. Any instance resumes a
 * stream, also while another one still writes it. Event ids are `<stream>_<entry>`.
 */
export class SharedEventStore implements EventWriter {
  readonly #instance: Instance;
  readonly #lifetime: number;

  /** @param lifetime - milliseconds that the events of an open stream are kept after the newest one */
  constructor(instance: Instance, lifetime: number) {
    this.#instance = instance;
    this.#lifetime = lifetime;
  }

  async storeEvent(streamId: string, message: EventMessage): Promise<string> {
    return toEventId(streamId, await this.#append(streamId, JSON.stringify(message), this.#lifetime));
  }

  async endStream(streamId: string): Promise<void> {
    await this.#append(streamId, END, COMPLETE_STREAM_LIFETIME);
  }

  /**
   * Returns `undefined` also when nothing is left to resume. Clients of the official SDK 1.x resume a stream that ended with an error; after
   * an empty one they would open the standalone stream a second time.
   */
  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    const { streamId, entry } = parseEventId(eventId);
    if (streamId === '') return undefined;
    try {
      const [next] = await this.#instance.store.read(this.#logOf(streamId), entry);
      return next?.value === END ? undefined : streamId;
    } catch (error) {
      if (isUnknownEntry(error)) return undefined;
      throw error;
    }
  }

  /**
   * Sends the events after one, and then those that any instance stores.
   *
   * @returns `complete` at the end of the stream, `lost` when the instance that writes it is dead, `aborted` by the signal
   */
  async follow(lastEventId: string, { send, signal, writer }: FollowOptions): Promise<'complete' | 'lost' | 'aborted'> {
    const instance = this.#instance;
    const { streamId, entry } = parseEventId(lastEventId);
    const log = this.#logOf(streamId);
    const bell = new Bell(signal);
    const ring = (): void => bell.ring();
    const unsubscribe = await instance.store.subscribe(log, ring, ring);
    try {
      let last = entry;
      let isWritten = true;
      let interval = writer === undefined ? POLL_INTERVAL : 0;
      while (!signal.aborted) {
        for (const { id, value } of await this.#readAfter(log, last)) {
          if (signal.aborted) return 'aborted';
          if (value === END) return 'complete';
          send(toEventId(streamId, id), parseEvent(value));
          last = id;
        }
        if (!isWritten) return 'lost';
        const isQuiet = !(await bell.rung(interval));
        // A dead instance may have stored more, so the entries are read once again.
        isWritten = writer === undefined || !isQuiet || (await instance.responds(writer));
        // The instance that writes may be dead, and then there is no message.
        interval = isQuiet && writer === undefined ? Math.min(2 * interval, LONGEST_POLL_INTERVAL) : POLL_INTERVAL;
      }
      return 'aborted';
    } finally {
      await unsubscribe().catch(this.#instance.warn);
    }
  }

  /** A log that is gone, or was cut in the meantime, has only later entries. */
  async #readAfter(log: string, last: string): Promise<LogEntry[]> {
    try {
      return await this.#instance.store.read(log, last);
    } catch (error) {
      if (!isUnknownEntry(error)) throw error;
      return this.#instance.store.read(log);
    }
  }

  async #append(streamId: string, value: string, ttlMs: number): Promise<string> {
    const { store } = this.#instance;
    const log = this.#logOf(streamId);
    const id = await store.append(log, value, { ttlMs, maxEntries: MAX_EVENTS });
    // The writer does not wait for this: a reader that misses it reads again soon.
    void store.publish(log, id).catch(this.#instance.warn);
    return id;
  }

  #logOf(streamId: string): string {
    return this.#instance.nameOf('events', streamId);
  }
}

/** Wakes one waiter; a ring without a waiter is kept. */
class Bell {
  #hasRung = false;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.ring(), { once: true });
  }

  ring(): void {
    this.#hasRung = true;
    this.#wake?.();
  }

  /** @returns whether it rang, now or since the last call; `false` after the timeout */
  async rung(milliseconds: number): Promise<boolean> {
    if (!this.#hasRung) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, milliseconds);
      });
      clearTimeout(timer);
    }
    const hasRung = this.#hasRung;
    this.#hasRung = false;
    return hasRung;
  }
}

/** Other programs may have written the event too. @throws `EVENT_RECORD_INVALID` */
function parseEvent(text: string): EventMessage {
  const message = parseJsonObject(text);
  if (message) return message;
  throw new QuiverError(
    'EVENT_RECORD_INVALID',
    'The shared store has an event that MCPServer did not write. The stream cannot be resumed.',
  );
}

function toEventId(streamId: string, entry: string): string {
  return `${streamId}_${entry}`;
}

export function streamIdOf(eventId: string): string {
  return parseEventId(eventId).streamId;
}

function parseEventId(eventId: string): { streamId: string; entry: string } {
  const end = eventId.lastIndexOf('_');
  return { streamId: eventId.slice(0, Math.max(end, 0)), entry: eventId.slice(end + 1) };
}

function isUnknownEntry(error: unknown): boolean {
  return isQuiverError(error, 'SHARED_STORE_ENTRY_NOT_FOUND');
}
