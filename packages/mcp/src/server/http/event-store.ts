/**
 * Keeps the events of streams, so that a client whose connection broke can go on where it was. The shape is the official SDK's.
 *
 * Ids of streams are `<session>/<stream>`: a store may be shared by sessions, servers and processes.
 */
export interface EventStore {
  /** Stores one message, `{}` for the mark at the beginning of a stream, and returns the id it can be found by. */
  storeEvent(streamId: string, message: EventMessage): Promise<string>;
  /** The stream that an event belongs to, if the store knows it. Without this method it is found by a replay into nothing. */
  getStreamIdForEventId?(eventId: string): Promise<string | undefined>;
  /**
   * Sends everything of the event's stream that came after it, in order, and returns the stream's id.
   *
   * @throws when the event is not known (any more)
   */
  replayEventsAfter(
    lastEventId: string,
    options: { send: (eventId: string, message: EventMessage) => Promise<void> },
  ): Promise<string>;
}

/** A JSON-RPC message, as parsed JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- stores written for the official SDK take its message type here
export type EventMessage = any;
