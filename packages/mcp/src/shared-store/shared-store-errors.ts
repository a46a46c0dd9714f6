import { QuiverError, toErrorMessage } from '@quiver/core';

export function closedError(): QuiverError {
  return new QuiverError('SHARED_STORE_CLOSED', 'The shared store is closed. Close the servers that use it first.');
}

export function entryNotFound(log: string, id: string): QuiverError {
  return new QuiverError(
    'SHARED_STORE_ENTRY_NOT_FOUND',
    `The log '${log}' has no entry '${id.slice(0, 100)}', or no longer has it. Read the log from the start.`,
  );
}

/**
 * Error of a client of a database. Its message is repeated, because clients quote no values in it.
 *
 * @param database - name for the message
 */
export function unavailableError(database: string, cause: unknown): QuiverError {
  return new QuiverError(
    'SHARED_STORE_UNAVAILABLE',
    `The shared store in ${database} failed: ${toErrorMessage(cause)}. Check that the server runs and accepts the connection.`,
    cause instanceof Error ? { cause } : {},
  );
}

/** Error of a write that found no space; see {@link unavailableError}. */
export function fullError(database: string, cause: unknown): QuiverError {
  return new QuiverError(
    'SHARED_STORE_FULL',
    `The shared store in ${database} has no space left, and nothing was written: ${toErrorMessage(cause)}`,
    { cause },
  );
}
