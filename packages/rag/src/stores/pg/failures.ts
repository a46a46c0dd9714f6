import { toErrorMessage, type QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { type ServiceCalls, serviceCalls } from '../store-call.js';
import type { SqlDatabase } from './database.js';

/** Runs work with a database and converts its errors. */
export function pgCalls(database: SqlDatabase): ServiceCalls<SqlDatabase> {
  const explain = (error: unknown, what: string): unknown =>
    failureDetails(error).sqlState === programLimitExceeded ? tooManyWords(what, error) : error;
  return serviceCalls('PostgreSQL', async () => database, explain, failureDetails);
}

/** Codes of errors of an index that another process may have recreated. */
const staleCodes: ReadonlySet<unknown> = new Set([
  'VECTOR_DIMENSION_MISMATCH',
  'VECTOR_INDEX_CHANGED',
  // No such table.
  '42P01',
]);

/** Whether an error can result from an outdated description of an index. */
export function mayBeStale(error: unknown): boolean {
  return staleCodes.has((error as { code?: unknown } | null)?.code);
}

const programLimitExceeded = '54000';

/** The database does not name the record. */
function tooManyWords(what: string, cause: unknown): QuiverError {
  return invalidOptions(
    `PostgreSQL failed at ${what}: ${toErrorMessage(cause)}. One text has more different words than text search can store in one row (1 MB). Nothing was changed. Split the text into chunks.`,
    { cause },
  );
}

/**
 * Connection lost (08), conflict with another transaction (40), no resources (53), server stopping or starting (57P).
 *
 * @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html)
 */
const transientState = /^(?:08|40|53|57P)/;
/** Errors of `pg` for a connection that ended; they have no code. */
const lostConnection =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

function failureDetails(error: unknown): { sqlState?: string; isTransient: boolean } {
  const { code, message, syscall } = (error ?? {}) as { code?: unknown; message?: unknown; syscall?: unknown };
  // A server behind a Unix domain socket has no socket file while it restarts.
  const isLost = lostConnection.test(String(message)) || syscall === 'connect';
  if (typeof code !== 'string') return { isTransient: isLost };
  return { sqlState: code, isTransient: isLost || (code.length === 5 && transientState.test(code)) };
}
