/** Carries messages to the client before the response: over HTTP the response's event stream, over stdio the connection. */
export interface ResponseChannel {
  /** @returns whether the message was sent */
  send(messageText: string): boolean;
  /** Ends the event stream before the response; the client resumes it. Where that is not possible, it does nothing. */
  closeStream?(): void;
  /** Returns a header of the HTTP request that carries one message. */
  header?(name: string): string | undefined;
}
