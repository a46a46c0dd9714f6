import type { McpTraceEvent } from '@quiver/core';
import type { AnyRequestContext } from '@quiver/core/tools';
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, RequestId } from '../../protocol/json-rpc.js';

export type OutgoingMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;

/** Members of a sent message for a channel, and its cancellation. */
export interface Sending {
  /** Headers of this message, by lower-case name. Transports without headers ignore them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly requestContext?: AnyRequestContext | undefined;
  /** Ends the HTTP request of this message. Set by transports that send each message as a request. */
  cancel?: (() => void) | undefined;
  isCanceled?: boolean;
}

/** Receives from a channel. Its methods do not throw. */
export interface Receiver {
  /**
   * @param message - parsed JSON of any shape
   * @param requestId - id of the request on whose stream it arrived
   */
  onMessage(message: unknown, requestId?: RequestId): void;
  /** An error that ends no request, for the log. */
  onError(error: unknown): void;
  /** The server no longer knows the session. */
  onSessionLost(): void;
  /** The connection ended. @param error - the reason, if the client did not close it */
  onClosed(error?: unknown): void;
}

/** Path of messages to one server and back. */
export interface Channel {
  readonly kind: McpTraceEvent['transport'];
  readonly sessionId?: string | undefined;
  /** URL of a server over HTTP. */
  readonly url?: URL | undefined;
  /** Starts to deliver messages. */
  start(receiver: Receiver): Promise<void>;
  /** Sends a message, without a promise when nothing remains to wait for. @throws when a request, or its response, cannot arrive */
  send(message: OutgoingMessage, sending: Sending): Promise<void> | undefined;
  /**
   * Learns the protocol version that later messages use.
   *
   * @param isServerPassive - whether the server only responds: it has no capability for messages without a request in progress
   */
  negotiated?(protocolVersion: string, isServerPassive: boolean): void;
  /** Ends the session on the server. */
  endSession?(): Promise<void>;
  /** Ends everything in progress, at once. */
  abort?(): void;
  close(): Promise<void>;
  /** Standard error of a child process; of a long text the beginning and the end. */
  readonly stderr?: string;
  /** Beginning of the output of a child process that is not a message. */
  readonly strayOutput?: string;
  /** How a child process ended, for example `exited with code 1`. */
  readonly ending?: string | undefined;
}

/** A response other than the ones that the protocol defines. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The connection, or the stream that a response was expected on, ended first. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}

/** The longest part of a body in an error message: some servers respond with a page. */
const maxQuotedLength = 500;

/** Returns the error for a response with an error status. */
export function toHttpError(status: number, text: string): HttpError {
  const quoted = text.length > maxQuotedLength ? `${text.slice(0, maxQuotedLength)}…` : text;
  return new HttpError(status, `HTTP ${status}${quoted === '' ? '' : `: ${quoted}`}`);
}
