import { QuiverError } from '@quiver/core';

/** Error of every method after `close()`. */
export function closedError(): QuiverError {
  return new QuiverError('SHARED_STORE_CLOSED', 'The shared store is closed. Close the servers that use it first.');
}

/** Error of `read()`. */
export function entryNotFound(log: string, id: string): QuiverError {
  return new QuiverError(
    'SHARED_STORE_ENTRY_NOT_FOUND',
    `The log '${log}' has no entry '${id.slice(0, 100)}', or no longer has it. Read the log from the start.`,
  );
}
