/**
 * Stores the events of streams, so that a client can resume a broken stream. The interface is the official SDK's.
 *
 * Ids of streams are `<session>/<stream>`: a store may be shared by sessions, servers and processes.
 */
export interface EventStore {
  /** Stores one message, `{}` for the start of a stream, and returns its event id. */
  storeEvent(streamId: string, message: EventMessage): Promise<string>;
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

/** A JSON-RPC message, as parsed JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- stores written for the official SDK take its message type here
export type EventMessage = any;
