import { escapeForLog, QuiverError, toErrorMessage, type Logger } from '@quiver/core';
import { errorCodes } from '../protocol/constants.js';
import { ProtocolError } from '../protocol/protocol-error.js';

/** Messages that clients receive about exceptions in tools and callbacks. */
export interface FailureReport {
  /** Returns the message for the client. With masking it is a reference to the log, where the exception is. */
  describe(what: string, error: unknown): string;
}

export function createFailureReport({ mask, logger }: { mask: boolean; logger: Logger }): FailureReport {
  return {
    describe: (what, error) => {
      if (!mask) {
        logger.debug(escapeForLog(`${what} failed: ${toErrorMessage(error)}`), error);
        return toErrorMessage(error);
      }
      const reference = crypto.randomUUID().slice(0, 8);
      logger.error(escapeForLog(`${what} failed (reference ${reference}): ${toErrorMessage(error)}`), error);
      return `${what} failed. The server's log has the reason under the reference ${reference}.`;
    },
  };
}

/** Returns the protocol error for an exception of a callback; protocol errors pass unchanged. */
export function toCallbackError(failures: FailureReport, what: string, error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  return new ProtocolError(errorCodes.internal, failures.describe(what, error));
}

/**
 * Refuses an invalid result of a callback.
 *
 * @throws `CALLBACK_RESULT_INVALID`
 */
export function refuseResult(callback: string, expected: string): never {
  throw new QuiverError('CALLBACK_RESULT_INVALID', `${callback} must return ${expected}.`);
}
