import { toErrorMessage } from '@quiver/core';
import type { AnyRequestContext } from '@quiver/core/tools';
import { metaKeys, type LoggingLevel } from '../../protocol/constants.js';
import type { JsonRpcNotification, Params } from '../../protocol/json-rpc.js';
import { findMethod } from '../../protocol/methods.js';
import type { ClientCapabilities, SubscriptionFilter } from '../../protocol/types.js';
import type { ProgressUpdate, RequestHandlers } from '../config/handlers.js';
import type { Sending } from '../transports/channel.js';
import type { RequestClock } from './request-clocks.js';

/** A caller in another program that a request is sent for: what the server sends during the request is passed on to it, unchanged. */
export interface Relay {
  /** Capabilities that the caller has declared; a modern request declares them. */
  readonly capabilities: ClientCapabilities;
  /** Log level of the caller, which a modern request declares. */
  readonly logLevel: LoggingLevel | undefined;
  /** Stands for the caller: where the transport does not tell which request the server asks for, any request of one caller is as good. */
  readonly caller: unknown;
  /** Whether an `input_required` result is returned, because the caller provides the input itself. */
  readonly returnsInput: boolean;
  /** Whether the server may run the call as a task. */
  readonly acceptsTasks: boolean;
  /** @throws `ProtocolError` for an error of the caller */
  respond(method: string, params: Params, signal: AbortSignal): Promise<Params>;
  /** Receives notifications during the request, except progress. */
  notify(notification: JsonRpcNotification): void;
}

/** Changes of an extension of the protocol to a modern request. */
export interface RequestExtension {
  /** Name that the request declares. */
  readonly name: string;
  /** Returns whether a result has a type of the extension. It is returned with it. @throws `TypeError` when it violates the extension */
  accepts?(result: Params): boolean;
  /** Receives the result that arrives up to two seconds after the end of a request; `undefined` for none. Only then the request is canceled. */
  onLateResult?(late: Promise<Params | undefined>, requestContext: AnyRequestContext | undefined): void;
}

/** Options of a request. Each layer passes on the same object. */
export interface EngineRequestOptions extends RequestHandlers {
  /** Receives what the server sends during the request, where no handler does. */
  readonly relay?: Relay | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; 0 for no limit. Default: that of the connection. */
  readonly timeout?: number | undefined;
  /** Milliseconds that progress cannot extend. */
  readonly maxTotalTimeout?: number | undefined;
  /** Whether progress starts the timeout again. Default: the setting of the connection. */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Number of times that the server's client repeats the request after the connection was lost. Default 0. */
  readonly retries?: number | undefined;
  readonly requestContext?: AnyRequestContext | undefined;
  /** Requests progress under this token. Later requests with a token in use get a number after it. */
  readonly progressToken?: string | undefined;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
  /** Headers of the request, by lower-case name. */
  readonly headers?: Sending['headers'];
  /** Receives the filter of a subscription that the server has acknowledged, which ends the time limit of its request. */
  readonly onAcknowledged?: ((honored: SubscriptionFilter) => void) | undefined;
  readonly extension?: RequestExtension | undefined;
  /** Id of the tool call that sends the request, for its trace. */
  readonly toolCallId?: string | undefined;
}

/** The time limit of a request expired. */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';
  /** Milliseconds. */
  readonly timeout: number;

  /** @param cause - why the server could not respond, where the client knows it */
  constructor(timeout: number, cause?: unknown) {
    super('Request timed out', { cause });
    this.timeout = timeout;
  }
}

/** A request of the application: one message, or one per input round. */
export interface Call extends Sending {
  readonly method: string;
  readonly options: EngineRequestOptions;
  /** Token under which the server reports progress. */
  readonly progressToken: string | undefined;
  readonly timeout: number;
  /** The last message. */
  id: number;
  resolve: (result: Params) => void;
  reject: (error: unknown) => void;
  /** Ends the handlers of the application that respond to the server for it. */
  handling: Set<AbortController> | undefined;
  readonly clock: RequestClock;
  /** Why the response to a request of the server has not reached it so far. */
  undelivered: UndeliveredError | undefined;
}

/** A response to a request of the server did not reach it. */
export class UndeliveredError extends Error {
  override readonly name = 'UndeliveredError';

  constructor(method: string, cause: unknown) {
    super(`the response to its request ${method} could not be sent: ${toErrorMessage(cause)}`, { cause });
  }
}

/** Ends the handlers of the application that respond to the server for a call. */
export function abortHandlers({ handling }: Call, error: unknown): void {
  for (const handler of handling ?? []) handler.abort(error);
}

/** Description of the client in modern requests. */
export interface ClientDescription {
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** Capabilities that every request declares. */
  readonly capabilities: ClientCapabilities;
  /** Log level that requests declare whose tool may log. */
  readonly logLevel?: LoggingLevel | undefined;
}

/** Capabilities that the handshake of a connection declares whose requests have relays: each caller may have others. */
export const relayedCapabilities: ClientCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: { listChanged: true },
};

/** Returns the capabilities that follow from handlers. */
export function declareHandlers(onElicitation: unknown, onSampling: unknown): ClientCapabilities {
  return { ...(onElicitation ? { elicitation: { form: {} } } : {}), ...(onSampling ? { sampling: {} } : {}) };
}

/** Returns the `_meta` of a modern request, which describes the client. */
export function createEnvelope(
  { clientInfo, capabilities }: ClientDescription,
  protocolVersion: string | undefined,
): Params {
  return {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientInfo]: clientInfo,
    [metaKeys.clientCapabilities]: capabilities,
  };
}

/** Returns the same as {@link createEnvelope}, with what one request declares. */
export function createRequestEnvelope(
  client: ClientDescription,
  protocolVersion: string | undefined,
  method: string,
  { onElicitation, onSampling, relay, extension }: EngineRequestOptions,
): Params {
  const { logLevel } = relay ?? client;
  let { capabilities } = client;
  if (relay) {
    const extensions = { ...relay.capabilities.extensions, ...capabilities.extensions };
    capabilities = { ...relay.capabilities, ...capabilities, extensions };
  }
  if (extension) capabilities = { ...capabilities, extensions: { ...capabilities.extensions, [extension.name]: {} } };
  if (onElicitation || onSampling) capabilities = { ...declareHandlers(onElicitation, onSampling), ...capabilities };
  const envelope = createEnvelope({ ...client, capabilities }, protocolVersion);
  if (logLevel !== undefined && findMethod(method)?.isInteractive) envelope[metaKeys.logLevel] = logLevel;
  return envelope;
}
