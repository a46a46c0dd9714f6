import type { Duplex } from 'node:stream';
import { getDefaultLogger, QuiverError, toErrorMessage } from '@quiver/core';
import { invalidArgument } from '../../store/check-arguments.js';
import { pgliteDatabase, type PgliteClient } from './pglite-database.js';
import { poolDatabase, type PgPool, type PgPoolInternals } from './pool-database.js';
import type { SqlDatabase } from './sql-database.js';

/** Where the database is: a pool or a PGlite of yours, which stay open, or how to connect. */
export interface PgConnectionOptions {
  /** A `pg.Pool`. It is never ended by the store. */
  pool?: PgPool;
  /** A `PGlite`, created with `extensions: { vector }`. It is never closed by the store. */
  pglite?: PgliteClient;
  /**
   * Connection string of a pool that the store owns, opened at the first call; needs `pg`. The options below do the same as in
   * `pg.ClientConfig`: without `host` and `stream`, `pg` reads the environment (`PGHOST` and others).
   */
  connectionString?: string;
  /** Host name, or the folder of a Unix domain socket. */
  host?: string;
  port?: number;
  database?: string;
  user?: string;
  password?: string | (() => string | Promise<string>);
  /** Opens the connection, as connectors of Cloud SQL do. */
  stream?: () => Duplex;
  /** As in `pg`: `true`, or options of TLS. */
  ssl?: boolean | Record<string, unknown>;
  /** Connections at most. Default 20. */
  max?: number;
  /** Default 30,000. */
  idleTimeoutMillis?: number;
  /** Further options of `pg.Pool`; they win. Defaults: `connectionTimeoutMillis` 5,000 and `statement_timeout` 60,000. */
  pgPoolOptions?: Record<string, unknown>;
}

export interface OpenDatabase {
  readonly database: SqlDatabase;
  /** Absent for a PGlite. */
  readonly pool?: PgPool;
}

/** @throws `VECTOR_ARGUMENT_INVALID` unless exactly one way to the database is given */
export function openDatabase(options: PgConnectionOptions): OpenDatabase {
  const { pool, pglite, connectionString, host, port, database, user, password, stream, pgPoolOptions } = options;
  for (const [name, value] of Object.entries({ connectionString, host }))
    if (value === '')
      throw invalidArgument(`The ${name} of a PgVector is empty. Check the environment variable that it comes from.`);
  const isClientConfig = [host, port, database, user, password, stream, pgPoolOptions].some(
    (value) => value !== undefined,
  );
  const ways = Object.entries({ pool, pglite, connectionString, host }).filter(([, value]) => value !== undefined);
  if (ways.length > 1 || (ways.length === 0 && !isClientConfig)) {
    const names = ways.map(([name]) => name).join(' and ');
    throw invalidArgument(
      `PgVector needs one of pool, pglite, connectionString and a client configuration (host, database, user, stream)${ways.length > 1 ? `, not ${names} together` : ''}.`,
    );
  }
  if (pglite) return { database: pgliteDatabase(pglite) };
  // A pool that somebody else made is somebody else's to end.
  if (pool) return { pool, database: poolDatabase(pool, async () => {}) };
  const ownPool = lazyPool(options);
  return { pool: ownPool, database: poolDatabase(ownPool, () => ownPool.end()) };
}

/** A pool that `pg` is loaded for at the first call, and again at the first one after `end()`. */
function lazyPool(options: PgConnectionOptions): PgPool {
  let opened: Promise<PgPool> | undefined;
  const open = (): Promise<PgPool> => (opened ??= openPool(options).then((pool) => adopt(pool)));
  const lazy: PgPool & PgPoolInternals = {
    query: async (sql, values) => (await open()).query(sql, values),
    connect: async () => (await open()).connect(),
    end: async () => {
      const ending = opened;
      opened = undefined;
      await (await ending)?.end();
    },
  };
  const adopt = (pool: PgPool & PgPoolInternals): PgPool => {
    const { Client, options: used } = pool;
    Object.assign(lazy, { Client, options: used });
    return pool;
  };
  return lazy;
}

/** @throws `VECTOR_CLIENT_MISSING` without `pg` */
async function openPool(options: PgConnectionOptions): Promise<PgPool> {
  const { pool: _pool, pglite: _pglite, pgPoolOptions, max = 20, idleTimeoutMillis = 30_000, ...connection } = options;
  const { default: pg } = await import('pg').catch((error: unknown) => {
    throw new QuiverError(
      'VECTOR_CLIENT_MISSING',
      "A connection to PostgreSQL needs the package 'pg': npm install pg",
      { cause: error },
    );
  });
  const pool = new pg.Pool({
    ...connection,
    max,
    idleTimeoutMillis,
    connectionTimeoutMillis: 5000,
    statement_timeout: 60_000,
    ...pgPoolOptions,
  });
  // Without a listener, a server that restarts would end this process; the pool opens a new connection by itself.
  pool.on('error', (error) =>
    getDefaultLogger().warn(`An idle connection to PostgreSQL ended: ${toErrorMessage(error)}`),
  );
  return pool;
}
