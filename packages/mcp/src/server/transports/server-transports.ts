/** The standard input and output that a server is connected to. */
export interface StdioServerTransport {
  /** Stops reading and cancels what is being answered. */
  close(): Promise<void>;
}

/** One client that is connected over HTTP+SSE. */
export interface SSEServerTransport {
  readonly sessionId: string;
  /** Ends the connection and cancels what is being answered. */
  close(): Promise<void>;
}

/** As {@link SSEServerTransport}, for a connection that `startHonoSSE()` opened. */
export type SSETransport = SSEServerTransport;

/** What `startHTTP()` serves: all its sessions at once. */
export interface StreamableHTTPServerTransport {
  /** Ids of the sessions that are open. */
  readonly sessionIds: readonly string[];
  /** Takes no new requests, lets running calls finish, then ends all sessions. */
  close(): Promise<void>;
}
