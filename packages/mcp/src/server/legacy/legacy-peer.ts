import { errorCodes, type LoggingLevel } from '../../protocol/constants.js';
import type { JsonRpcResponse, RequestId } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { ClientCapabilities, Implementation } from '../../protocol/types.js';
import type { Exchange } from '../exchange.js';

/** What the server knows of one legacy client between requests: a session over HTTP, the connection over stdio. */
export interface LegacyPeer {
  /** The id of the session, where there are any. */
  readonly id?: string;
  /** The client has shaken hands; before that it may turn out to be a modern one. */
  initialized?: boolean;
  protocolVersion: string;
  clientInfo?: Implementation;
  clientCapabilities: ClientCapabilities;
  /** The least severe log message that is sent; everything until the client says otherwise. */
  logLevel: LoggingLevel;
  /** Requests that may be in flight at once. Default: no limit. */
  readonly maxRequests?: number;
  /** Requests that are being answered. A client may cancel its own and no others. */
  readonly inFlight: Map<RequestId, Exchange>;
  /** Questions to the client that wait for an answer, or for the news that there will be none; made with the first one. */
  questions?: Map<RequestId, (response: JsonRpcResponse | undefined) => void>;
  /** URIs of the resources whose changes the client wants to hear of; made with the first one. */
  subscriptions?: Set<string>;
  /**
   * Sends a message that belongs to no request, on the session's own stream or the connection. Absent where nothing can reach
   * the client between its requests.
   *
   * @returns whether there was a way to send it
   */
  send?(messageText: string): boolean;
}

export function createLegacyPeer(protocolVersion: string): LegacyPeer {
  return { protocolVersion, clientCapabilities: {}, logLevel: 'debug', inFlight: new Map() };
}

/**
 * Counts a request among those that are being answered. Whoever answers it takes it out again.
 *
 * @throws ProtocolError -32600 with HTTP status 400 when a request of this id is being answered: a second one must not take its
 *   place; -32000 with HTTP status 429 when too many requests are in flight
 */
export function beginFlight(peer: LegacyPeer, exchange: Exchange): void {
  const { requestId } = exchange;
  if (peer.inFlight.has(requestId)) {
    throw new ProtocolError(
      errorCodes.invalidRequest,
      `Request id ${JSON.stringify(requestId)} is already being answered; ids must be unique`,
      { httpStatus: 400 },
    );
  }
  const { maxRequests = Infinity } = peer;
  if (peer.inFlight.size >= maxRequests) {
    throw new ProtocolError(
      errorCodes.refused,
      `${maxRequests} requests of this session are unfinished, which is the limit; wait for a response and send the request again`,
      { httpStatus: 429 },
    );
  }
  peer.inFlight.set(requestId, exchange);
}
