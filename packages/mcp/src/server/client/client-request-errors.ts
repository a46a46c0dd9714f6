import { QuiverError } from '@quiver/core';
import { errorCodes, failureKey } from '../../protocol/constants.js';
import { isObject } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { ClientCapabilities } from '../../protocol/types.js';
import {
  addCapabilities,
  missingCapabilities,
  type ClientRequest,
  type MissingCapabilities,
  type RequiredCapabilities,
} from './client-requests.js';

type Failed = Pick<ClientRequest<unknown>, 'subject' | 'what'>;

/** Returns the error of a request that this client cannot receive. */
export function notSupported({ subject }: Pick<Failed, 'subject'>, reason: string, cause?: ProtocolError): QuiverError {
  return new QuiverError(`${subject}_NOT_SUPPORTED`, reason, { cause });
}

/**
 * Refuses a request to a modern client that did not declare its capabilities.
 *
 * @param missing - capabilities that other requests of the same run lack. One error names all of them
 * @throws `ELICITATION_NOT_SUPPORTED` (or `SAMPLING_…`, `ROOTS_…`). The tool may handle it; otherwise its cause is the error of the call
 */
export function requireCapabilities(
  request: ClientRequest<unknown>,
  declared: ClientCapabilities,
  missing: MissingCapabilities,
): void {
  const lacking = missingCapabilities(request.requires, declared);
  if (!lacking) return;
  addCapabilities(missing, lacking);
  throw undeclaredInCall(request, lacking, missing);
}

/** The cause is the error of the call, with all capabilities that its run lacks. */
function undeclaredInCall(request: Failed, lacking: RequiredCapabilities, missing = lacking): QuiverError {
  const message = describeUndeclared(request, lacking);
  const cause = new ProtocolError(errorCodes.missingClientCapability, message, {
    httpStatus: 400,
    data: { requiredCapabilities: missing },
  });
  return notSupported(request, message, cause);
}

export function describeUndeclared({ what }: Failed, lacking: RequiredCapabilities): string {
  return `The tool requested ${what}, but the client did not declare the capability ${JSON.stringify(lacking)}.`;
}

export function requestFailed({ subject }: Failed, reason: string): QuiverError {
  return new QuiverError(`${subject}_FAILED`, reason);
}

export function requestTimedOut({ subject }: Failed, timeout: number | undefined): QuiverError {
  return new QuiverError(`${subject}_TIMEOUT`, `The client did not respond within ${timeout} ms.`);
}

const answerInvalid = 'ELICITATION_ANSWER_INVALID';

/** Returns the error of a request whose client reports a failure: as a JSON-RPC error, or in its response. */
export function clientFailure(
  { subject, what }: Failed,
  { code, message }: { readonly code?: unknown; readonly message?: unknown },
  cause?: ProtocolError,
): QuiverError {
  const isInvalid = subject === 'ELICITATION' && code === answerInvalid;
  return new QuiverError(
    isInvalid ? answerInvalid : `${subject}_FAILED`,
    `The tool requested ${what}; the client returned an error: ${String(message)}`,
    { cause },
  );
}

/** Returns the error of a response that reports a failure, or `undefined`. */
export function findFailure(request: ClientRequest<unknown>, response: unknown): QuiverError | undefined {
  const meta = isObject(response) ? response['_meta'] : undefined;
  const failure = isObject(meta) ? meta[failureKey] : undefined;
  if (!isObject(failure)) return undefined;
  // A client that waits for a task reports here what other clients do not declare.
  if (failure['code'] === `${request.subject}_NOT_SUPPORTED`) return undeclaredInCall(request, request.requires);
  return clientFailure(request, failure);
}

export function invalidResult({ subject, what }: Failed): QuiverError {
  return new QuiverError(
    subject === 'ELICITATION' ? answerInvalid : `${subject}_FAILED`,
    `The tool requested ${what}; the client returned an invalid result.`,
  );
}
