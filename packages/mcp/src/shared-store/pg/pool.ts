import { getDefaultLogger, QuiverError, toErrorMessage, withinTime } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { unavailableError } from '../shared-store-errors.js';

export interface PostgresResult {
  rows: Record<string, unknown>[];
}

/** The part of a `pg.Pool` that is called. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  connect(): Promise<PostgresClient>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  options?: { max?: number };
}

/** The part of a client of a `pg.Pool` that is called. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  on(event: 'error' | 'end', listener: (error?: Error) => void): unknown;
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown;
  release(destroy?: boolean): void;
}

export interface OpenPool {
  readonly pool: PostgresPool;
  close(): Promise<void>;
}

/** Without a listener, a server that restarts would end this process; the pool opens a new connection by itself. */
const warnOfError = (error: Error): void =>
  getDefaultLogger().warn(`An idle connection to PostgreSQL ended: ${toErrorMessage(error)}`);

/** Adopts a pool of the application, which is never ended. */
export function adoptPool(pool: PostgresPool): OpenPool {
  if (typeof pool?.query !== 'function' || typeof pool.connect !== 'function')
    throw invalidOptions('PostgresStore: `pool` is not a pool of the package `pg`.');
  if ((pool.options?.max ?? 2) < 2)
    throw invalidOptions('PostgresStore: `pool` has one connection. Set `max` to at least 2: one waits for messages.');
  pool.on('error', warnOfError);
  return { pool, close: async () => void pool.removeListener('error', warnOfError) };
}

/** @throws `SHARED_STORE_CLIENT_MISSING` without `pg` */
export async function createPool(connectionString: string, timeout: number): Promise<OpenPool> {
  const { default: pg } = await import('pg').catch((error: unknown) => {
    throw new QuiverError('SHARED_STORE_CLIENT_MISSING', "A PostgresStore needs the package 'pg': npm install pg", {
      cause: error,
    });
  });
  const pool = new pg.Pool({
    connectionString,
    connectionTimeoutMillis: timeout,
    query_timeout: timeout,
    keepAlive: true,
  });
  pool.on('error', warnOfError);
  // The pool listens to idle clients only: an error between two owners of a client would end this process. The calls report it.
  pool.on('connect', (client) => void client.on('error', () => {}));
  return { pool, close: () => pool.end() };
}

/**
 * Limits the time of a call of the database.
 *
 * @param onLate - receives the result of a call that took longer
 * @throws `SHARED_STORE_UNAVAILABLE`
 */
export function withinTimeout<Value>(
  running: Promise<Value>,
  timeout: number,
  onLate?: (value: Value) => void,
): Promise<Value> {
  let isLate = false;
  if (onLate) running.then((value) => isLate && onLate(value)).catch(() => {});
  return withinTime(running, timeout, (milliseconds) => {
    isLate = true;
    return unavailableError('PostgreSQL', `no response within ${milliseconds} ms`);
  });
}
