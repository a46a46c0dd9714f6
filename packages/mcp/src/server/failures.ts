import { escapeForLog, isQuiverError, QuiverError, toErrorMessage, type Logger } from '@quiver/core';
import { errorCodes } from '../protocol/constants.js';
import { ProtocolError } from '../protocol/protocol-error.js';
import type { ServerState } from './definition/server-state.js';

/**
 * Logs an exception of a tool or callback and returns its message for the client.
 *
 * @param level - of the line, unless the message is masked
 */
export function describeFailure(
  { logger, maskErrors }: ServerState,
  what: string,
  error: unknown,
  level: 'debug' | 'warn' = 'debug',
): string {
  const message = toErrorMessage(error);
  if (isStoreFailure(error)) {
    logger.error(escapeForLog(`${what} failed: ${message}`), error);
    return storeFailure;
  }
  if (!maskErrors) {
    logger[level](escapeForLog(`${what} failed: ${message}`), error);
    return message;
  }
  const reference = crypto.randomUUID().slice(0, 8);
  logger.error(escapeForLog(`${what} failed (reference ${reference}): ${message}`), error);
  return `${what} failed. The server's log has the reason under the reference ${reference}.`;
}

/** An error whose message is for clients: it is never masked. */
export class ErrorForClients extends QuiverError {}

/** Returns the protocol error that an exception stands for: itself, or that of a request to a client without the capability. */
export function findProtocolError(error: unknown): ProtocolError | undefined {
  if (error instanceof ProtocolError) return error;
  const isMissingCapability = isQuiverError(error) && error.code.endsWith('_NOT_SUPPORTED');
  return isMissingCapability && error.cause instanceof ProtocolError ? error.cause : undefined;
}

/**
 * Runs a callback of the application.
 *
 * @throws ProtocolError -32603 for an exception; protocol errors pass unchanged
 */
export async function runCallback<Value>(
  server: ServerState,
  what: string,
  callback: () => Promise<Value>,
  level?: 'debug' | 'warn',
): Promise<Value> {
  try {
    return await callback();
  } catch (error) {
    const known = findProtocolError(error);
    throw known ?? new ProtocolError(errorCodes.internal, describeFailure(server, what, error, level));
  }
}

/**
 * Refuses an invalid result of a callback.
 *
 * @throws `CALLBACK_RESULT_INVALID`
 */
export function refuseResult(callback: string, expected: string): never {
  throw new QuiverError('CALLBACK_RESULT_INVALID', `${callback} must return ${expected}.`);
}

/** Returns the protocol error that a client receives. Unexpected errors are logged and have no details. */
export function toProtocolError(logger: Logger, error: unknown, httpStatus = 200): ProtocolError {
  if (error instanceof ProtocolError) return error;
  logger.error(`An MCP request failed: ${toErrorMessage(error)}`, error);
  if (error instanceof ErrorForClients)
    return new ProtocolError(errorCodes.internal, error.message, { httpStatus, data: { code: error.code } });
  return new ProtocolError(errorCodes.internal, isStoreFailure(error) ? storeFailure : 'Internal error', {
    httpStatus,
  });
}

const storeFailure = 'The state that the instances of the server share is unavailable. Send the request again later.';

function isStoreFailure(error: unknown): boolean {
  return isQuiverError(error, 'SHARED_STORE_UNAVAILABLE') || isQuiverError(error, 'SHARED_STORE_FULL');
}
