import { isQuiverError, toErrorMessage } from '@quiver/core';
import { failureKey } from '../../protocol/constants.js';
import { isObject, type JsonRpcNotification, type Params } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { ServerMessage } from '../config/handlers.js';
import type { EngineRequestOptions } from './call.js';

/** Application behind the client: responds to requests of the server and receives its notifications. */
export interface Application {
  /**
   * @param call - options of the client's request that this one belongs to
   * @throws `ProtocolError` for a method without a handler
   */
  respond(method: string, params: Params, signal: AbortSignal, call?: EngineRequestOptions): Promise<Params>;
  notify(notification: JsonRpcNotification): void;
  /** Receives every request and notification of the server: requests when they arrive, notifications after their handler. */
  readonly onMessage?: ((message: ServerMessage) => void) | undefined;
}

/** The server answered with `input_required` too often. */
export class InputRoundsError extends Error {
  override readonly name = 'InputRoundsError';
}

/** A handler of the application failed, or is missing, so that a required input has no response. */
export class MissingInputError extends Error {
  override readonly name = 'MissingInputError';
}

export const defaultMaxInputRounds = 10;

/**
 * Passes an input request of a result, or of a task, to the application. A failed elicitation is a response: the protocol has no error here,
 * and every server understands that it was canceled.
 *
 * @throws `TypeError` for what is not a request; {@link MissingInputError} with the error of another handler, or a `ProtocolError` where
 *   there is none, as its cause; `QuiverError` of handlers; `signal.reason`
 */
export async function respondToInput(
  application: Application,
  key: string,
  request: unknown,
  signal: AbortSignal,
  options: EngineRequestOptions,
): Promise<Params> {
  const { method, params = {} } = isObject(request) ? request : {};
  if (typeof method !== 'string' || !isObject(params))
    throw new TypeError(`Invalid input request '${key}': method and params are required`);
  const responding = application.respond(method, params, signal, options);
  application.onMessage?.({ method, params });
  try {
    return await responding;
  } catch (error) {
    if (signal.aborted) throw error;
    if (method !== 'elicitation/create' || error instanceof ProtocolError)
      throw isQuiverError(error)
        ? error
        : new MissingInputError(`${method}: ${toErrorMessage(error)}`, { cause: error });
    const code = isQuiverError(error) ? error.code : undefined;
    return { action: 'cancel', _meta: { [failureKey]: { code, message: toErrorMessage(error) } } };
  }
}
