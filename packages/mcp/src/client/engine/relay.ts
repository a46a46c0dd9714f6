import type { LoggingLevel } from '../../protocol/constants.js';
import type { JsonRpcNotification, Params } from '../../protocol/json-rpc.js';
import type { ClientCapabilities } from '../../protocol/types.js';
import type { RequestHandlers } from '../config/handlers.js';

/** Another party that a request is sent for: what the server sends during the request is passed on to it, unchanged. */
export interface Relay {
  /** Capabilities that the party has declared; a modern request declares them. */
  readonly capabilities: ClientCapabilities;
  /** Log level of the party, which a modern request declares. */
  readonly logLevel: LoggingLevel | undefined;
  /** Stands for the party: where the transport does not tell which request the server asks for, any request of one party is as good. */
  readonly party: unknown;
  /** Whether an `input_required` result is returned, because the party provides the input itself. */
  readonly returnsInput: boolean;
  /** Whether the server may run the call as a task. */
  readonly acceptsTasks: boolean;
  /** @throws `ProtocolError` for an error of the party */
  respond(method: string, params: Params, signal: AbortSignal): Promise<Params>;
  /** Receives notifications during the request, except progress. */
  notify(notification: JsonRpcNotification): void;
}

/** What responds to the requests of a server during a request: its own handlers, or a relay. */
export interface RelayedHandlers extends RequestHandlers {
  readonly relay?: Relay | undefined;
}

/** Capabilities that the handshake of a connection declares whose requests have relays: each party may have others. */
export const relayedCapabilities: ClientCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: { listChanged: true },
};
