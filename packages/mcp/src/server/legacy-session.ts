import type { LoggingLevel } from '../protocol/constants.js';
import type { JsonRpcResponse, RequestId } from '../protocol/json-rpc.js';
import type { ClientCapabilities, Implementation } from '../protocol/types.js';

/** A request that the server is processing. */
export interface InFlight {
  readonly requestId: RequestId;
  cancel(): void;
  /** Lets a request end that has no end of its own. */
  release(): void;
}

/** Server state of one legacy client between its requests: a session over HTTP, the connection over stdio. */
export interface LegacySession {
  /** Session id; absent over stdio and in stateless requests. */
  readonly id?: string;
  /** Whether the handshake is done; before it the client may turn out to be a modern one. */
  initialized?: boolean;
  protocolVersion: string;
  clientInfo?: Implementation;
  clientCapabilities: ClientCapabilities;
  /** Least severe level of log messages that the client receives. Default: all. */
  logLevel: LoggingLevel;
  /** Requests that may be in flight at once. Default: no limit. */
  readonly maxRequests?: number;
  /** In-flight requests by id. A client may cancel its own requests and no others. */
  readonly inFlight: Map<RequestId, InFlight>;
  /** Requests to the client that wait for a response; `undefined` as the response means that the client disconnected. */
  pending?: Map<RequestId, (response: JsonRpcResponse | undefined) => void>;
  /** Number of requests sent to the client. */
  sentRequests?: number;
  /** URIs of the resources that the client subscribed to. */
  subscriptions?: Set<string>;
  /**
   * Sends a message that belongs to no request: on the standalone event stream, or on the connection. Absent where nothing can reach
   * the client between its requests.
   *
   * @returns whether the message was sent
   */
  send?(messageText: string): boolean;
}

export function createLegacySession(protocolVersion: string): LegacySession {
  return { protocolVersion, clientCapabilities: {}, logLevel: 'debug', inFlight: new Map() };
}
