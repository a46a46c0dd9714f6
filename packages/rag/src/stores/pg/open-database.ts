import { getDefaultLogger, QuiverError, toErrorMessage } from '@quiver/core';
import { invalidArgument } from '../../store/check-arguments.js';
import { pgliteDatabase, type PgliteClient } from './pglite-database.js';
import { poolDatabase, type PgPool } from './pool-database.js';
import type { SqlDatabase } from './sql-database.js';

/** Where the database is: a pool or a PGlite of yours, which stay open, or how to connect. */
export interface PgConnectionOptions {
  /** A `pg.Pool`. It is never ended by the store. */
  pool?: PgPool;
  /** A `PGlite`, created with `extensions: { vector }`. It is never closed by the store. */
  pglite?: PgliteClient;
  /** For a pool of the store's own, opened at the first call; needs `pg`. So do the options below. */
  connectionString?: string;
  host?: string;
  port?: number;
  database?: string;
  user?: string;
  password?: string;
  /** As in `pg`: `true`, or options of TLS. */
  ssl?: boolean | Record<string, unknown>;
  /** Connections at most. Default 20. */
  max?: number;
  /** Default 30,000. */
  idleTimeoutMillis?: number;
  /** Further options of `pg.Pool`; they win. Defaults: `connectionTimeoutMillis` 5,000 and `statement_timeout` 60,000. */
  pgPoolOptions?: Record<string, unknown>;
}

/** @throws `VECTOR_ARGUMENT_INVALID` unless exactly one way to the database is given */
export function requireConnection({ pool, pglite, connectionString, host }: PgConnectionOptions): void {
  const given = Object.entries({ pool, pglite, connectionString, host }).filter(([, value]) => value !== undefined);
  if (given.length === 1) return;
  const names = given.map(([name]) => name).join(' and ');
  throw invalidArgument(
    `PgVector needs one of pool, pglite, connectionString and host${given.length > 1 ? `, not ${names} together` : ''}.`,
  );
}

/** @throws `VECTOR_CLIENT_MISSING` when `pg` is needed and not installed */
export async function openDatabase(options: PgConnectionOptions): Promise<SqlDatabase> {
  const { pool, pglite, pgPoolOptions, max = 20, idleTimeoutMillis = 30_000, ...connection } = options;
  if (pglite) return pgliteDatabase(pglite);
  // A pool that somebody else made is somebody else's to end.
  if (pool) return poolDatabase(pool, async () => {});
  const { default: pg } = await import('pg').catch((error: unknown) => {
    throw new QuiverError(
      'VECTOR_CLIENT_MISSING',
      "A connection to PostgreSQL needs the package 'pg': npm install pg",
      { cause: error },
    );
  });
  const ownPool = new pg.Pool({
    ...connection,
    max,
    idleTimeoutMillis,
    connectionTimeoutMillis: 5000,
    statement_timeout: 60_000,
    ...pgPoolOptions,
  });
  // Without a listener, a server that restarts would end this process; the pool opens a new connection by itself.
  ownPool.on('error', (error) =>
    getDefaultLogger().warn(`An idle connection to PostgreSQL ended: ${toErrorMessage(error)}`),
  );
  return poolDatabase(ownPool, () => ownPool.end());
}
