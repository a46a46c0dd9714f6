import { getDefaultLogger, toErrorMessage, untilAborted } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import type { PoolConfig } from 'pg';
import { rejectBeside } from '../../store/options.js';
import { clientMissing, lazyClient } from '../store-call.js';

/** A row as the drivers give it: `jsonb` is parsed, everything else is cast to text, integer or double in the statement. */
export type SqlRow = Record<string, unknown>;

/** Runs one statement with parameters, or several without. */
export type SqlQuery = (sql: string, values?: readonly unknown[]) => Promise<SqlRow[]>;

/** Database interface of the store, independent of the driver. */
export interface SqlDatabase {
  /** Absent for a PGlite. */
  readonly pool?: PgPool;
  /** @param signal - cancels the statement where the driver can, and rejects with its reason */
  query(sql: string, values?: readonly unknown[], signal?: AbortSignal | undefined): Promise<SqlRow[]>;
  /** Commits when `work` is done, rolls back when it throws or is aborted. */
  transaction<Result>(work: (query: SqlQuery) => Promise<Result>, signal?: AbortSignal | undefined): Promise<Result>;
  /** The value of a parameter of the type `vector`. */
  toVectorValue(vector: Float32Array): unknown;
  /** The value of a parameter of the type `vector[]`. @param elementType - OID of `vector` */
  toVectorsValue(vectors: readonly Float32Array[], elementType: number): unknown;
  /** Closes the connections that were created for the store, and no others. */
  close(): Promise<void>;
}

/** Where the database is: a pool or a PGlite of yours, which stay open, or how to connect. */
export interface PgConnectionOptions {
  /** A `pg.Pool`. It is never ended by the store. */
  pool?: PgPool;
  /** A `PGlite`, created with `extensions: { vector }`. It is never closed by the store. */
  pglite?: PgliteClient;
  /**
   * Connection string of a pool that the store owns, opened at the first call; needs `pg`. It contains host, port, database, user and
   * password. The options below do the same as in `pg.ClientConfig`: without `host` and `stream`, `pg` reads the environment (`PGHOST` and others).
   */
  connectionString?: string;
  /** Host name, or the folder of a Unix domain socket. */
  host?: string;
  /** Port. Default 5432. */
  port?: number;
  /** Name of the database. */
  database?: string;
  /** User of the database. */
  user?: string;
  /** Password of the user. */
  password?: string | (() => string | Promise<string>);
  /** Opens the connection, as connectors of Cloud SQL do. */
  stream?: () => unknown;
  /** As in `pg`: `true`, or options of TLS. */
  ssl?: boolean | Record<string, unknown>;
  /** Connections at most. Default 20. */
  max?: number;
  /** Default 30,000. */
  idleTimeoutMillis?: number;
  /** Further options of `pg.Pool`; they win. Defaults: `connectionTimeoutMillis` 5,000 and `statement_timeout` 60,000. */
  pgPoolOptions?: Record<string, unknown>;
}

/** @throws `OPTIONS_INVALID` unless the options contain exactly one connection */
export function openDatabase(options: PgConnectionOptions): SqlDatabase {
  const { pool, pglite, ...connection } = options;
  const { connectionString, host, port, database, user, password, stream, pgPoolOptions } = connection;
  for (const [name, value] of Object.entries({ connectionString, host }))
    if (value === '')
      throw invalidOptions(`The ${name} of a PgVector is empty. Check the environment variable that it comes from.`);
  if (pool) rejectBeside('PgVector', 'pool', { pglite, ...connection });
  if (pglite) rejectBeside('PgVector', 'pglite', { ...connection });
  // `pg` reads these from the text, and takes its own defaults where the text lacks one.
  if (connectionString !== undefined)
    rejectBeside('PgVector', 'connectionString', { host, port, database, user, password });
  const ways = [pool, pglite, connectionString, host, port, database, user, password, stream, pgPoolOptions];
  if (ways.every((value) => value === undefined))
    throw invalidOptions(
      'PgVector needs one of pool, pglite, connectionString and a client configuration (host, database, user, stream).',
    );
  if (pglite) return pgliteDatabase(pglite);
  // The caller ends its own pool.
  if (pool)
    return poolDatabase(
      pool,
      async () => pool,
      async () => {},
    );
  const { open, release } = lazyClient(() => openPool(options));
  const lazyPool: PgPool = {
    query: async (sql, values) => (await open()).query(sql, values),
    connect: async () => (await open()).connect(),
    end: async () => {
      await (await release())?.end();
    },
  };
  return poolDatabase(lazyPool, open, lazyPool.end);
}

/** @throws `VECTOR_CLIENT_MISSING` without `pg` */
async function openPool(options: PgConnectionOptions): Promise<PgPool & PgPoolInternals> {
  const { pool: _pool, pglite: _pglite, pgPoolOptions, max = 20, idleTimeoutMillis = 30_000, ...connection } = options;
  const { default: pg } = await import('pg').catch(clientMissing('PostgreSQL', 'pg'));
  const pool = new pg.Pool({
    ...connection,
    max,
    idleTimeoutMillis,
    connectionTimeoutMillis: 5000,
    statement_timeout: 60_000,
    ...pgPoolOptions,
    // The type of `stream` is that of Node, which users of other entry points need not have.
  } as PoolConfig);
  // Without a listener, a server that restarts would end this process; the pool opens a new connection by itself.
  pool.on('error', (error) =>
    getDefaultLogger().warn(`An idle connection to PostgreSQL ended: ${toErrorMessage(error)}`),
  );
  return pool;
}

/** A statement with custom parsers for its result. */
export interface PgStatement {
  text: string;
  values?: unknown[];
  types: { getTypeParser(oid: number): (value: string) => unknown };
}

/** The part of a `pg` client that is called. */
export interface PgClient {
  query(statement: string | PgStatement, values?: unknown[]): Promise<{ rows: SqlRow[] }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  release(destroy?: boolean): void;
}

/** A connection that `connect()` opens and `end()` closes. */
interface PgConnection {
  connect(): Promise<unknown>;
  query(sql: string, values?: unknown[]): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

/** Members of a `pg.Pool` that create connections; needed to cancel a statement. */
interface PgPoolInternals {
  Client?: new (options: unknown) => PgConnection;
  options?: unknown;
}

/** The part of a `pg.Pool` that is called. */
export interface PgPool {
  query(statement: string | PgStatement, values?: unknown[]): Promise<{ rows: SqlRow[] }>;
  connect(): Promise<PgClient>;
  end(): Promise<void>;
}

/** @param open - returns the pool itself */
function poolDatabase(
  pool: PgPool,
  open: () => Promise<PgPool & PgPoolInternals>,
  close: () => Promise<void>,
): SqlDatabase {
  return {
    pool,
    query: async (sql, values, signal) =>
      signal
        ? withClient(await open(), signal, (query) => query(sql, values))
        : (await (await open()).query(toStatement(sql, values))).rows,
    transaction: async (work, signal) =>
      withClient(await open(), signal, async (query, destroy) => {
        try {
          await query('BEGIN');
          const result = await work(async (sql, values) => {
            signal?.throwIfAborted();
            return query(sql, values);
          });
          signal?.throwIfAborted();
          await query('COMMIT');
          return result;
        } catch (error) {
          // A connection that cannot roll back must not go back to the pool.
          await query('ROLLBACK').catch(destroy);
          throw error;
        }
      }),
    toVectorValue: toVectorBytes,
    toVectorsValue: toVectorArrayBytes,
    close,
  };
}

/** Parsers by the OID of a type. Parsers that the application set in `pg` are not used. */
const parsers: Readonly<Record<number, (value: string) => unknown>> = {
  21: Number, // int2
  23: Number, // int4
  701: Number, // float8
  3802: JSON.parse, // jsonb
};
const types: PgStatement['types'] = { getTypeParser: (oid) => parsers[oid] ?? String };

function toStatement(text: string, values: readonly unknown[] | undefined): PgStatement {
  return { text, ...(values && { values: [...values] }), types };
}

/** Without a listener, a connection that ends while it is used would end this process; the statement that runs on it rejects. */
const ignoreError = (): void => {};

/** A connection for `work`, which goes back to the pool when the server has finished or cancelled what it was sent. */
async function withClient<Result>(
  pool: PgPool & PgPoolInternals,
  signal: AbortSignal | undefined,
  work: (query: SqlQuery, destroy: () => void) => Promise<Result>,
): Promise<Result> {
  const connecting = pool.connect();
  const client = await untilAborted(() => connecting, signal).catch((error: unknown) => {
    void connecting.then((late) => late.release()).catch(() => {});
    throw error;
  });
  if (signal?.aborted) {
    client.release();
    throw signal.reason;
  }
  client.on('error', ignoreError);
  let isBroken = false;
  const destroy = (): void => void (isBroken = true);
  let cancelled: Promise<void> | undefined;
  const onAbort = (): void => void (cancelled = cancelStatement(pool, client).catch(destroy));
  signal?.addEventListener('abort', onAbort);
  const query: SqlQuery = async (sql, values) => {
    try {
      return (await client.query(toStatement(sql, values))).rows;
    } catch (error) {
      // The server closes the connection next.
      if ((error as { severity?: unknown }).severity === 'FATAL') destroy();
      throw error;
    }
  };
  const release = async (): Promise<void> => {
    signal?.removeEventListener('abort', onAbort);
    // Until then the server could take the next statement for the one to cancel.
    await cancelled;
    client.removeListener('error', ignoreError);
    client.release(isBroken);
  };
  return untilAborted(() => work(query, destroy).finally(release), signal);
}

/** Cancels through a separate connection, because all connections of the pool may be busy. */
async function cancelStatement({ Client, options }: PgPoolInternals, client: PgClient): Promise<void> {
  const { processID } = client as { processID?: number };
  if (!Client || processID === undefined) throw new Error('This pool has no members that cancel a statement.');
  const connection = new Client(options);
  connection.on('error', ignoreError);
  await connection.connect();
  try {
    await connection.query('SELECT pg_catalog.pg_cancel_backend($1::int)', [processID]);
  } finally {
    await connection.end();
  }
}

interface PgliteQueries {
  query<Row>(sql: string, values?: unknown[]): Promise<{ rows: Row[] }>;
}

/** The part of a `PGlite` that is called. It must have been created with the extension `vector`. */
export interface PgliteClient extends PgliteQueries {
  transaction<Result>(work: (transaction: PgliteQueries) => Promise<Result>): Promise<Result>;
}

/** A PGlite database, which stays open when the store is closed. It cannot stop a statement that runs, only not wait for it. */
function pgliteDatabase(pglite: PgliteClient): SqlDatabase {
  const queryOf =
    (client: PgliteQueries): SqlQuery =>
    async (sql, values) =>
      (await client.query<SqlRow>(sql, values && [...values])).rows;
  const query = queryOf(pglite);
  return {
    query: (sql, values, signal) => untilAborted(() => query(sql, values), signal),
    transaction: (work, signal) =>
      untilAborted(
        () =>
          pglite.transaction(async (transaction) => {
            const result = await work(queryOf(transaction));
            signal?.throwIfAborted();
            return result;
          }),
        signal,
      ),
    // Its parameters are text.
    toVectorValue: toText,
    toVectorsValue: (vectors) => `{${vectors.map((vector) => `"${toText(vector)}"`).join(',')}}`,
    close: async () => {},
  };
}

function toText(vector: Float32Array): string {
  return JSON.stringify([...vector]);
}

/**
 * Writes a vector in pgvector's binary format: its length, two unused bytes, then the numbers. Without decimal numbers to write and
 * parse, a query takes 0.1 ms less, and rows are stored several times as fast.
 *
 * @see [vector_recv](https://github.com/pgvector/pgvector/blob/v0.8.0/src/vector.c)
 */
export function toVectorBytes(vector: Float32Array): Uint8Array {
  return toVectorArrayBytes([vector], 0).subarray(arrayHeader + lengthBytes);
}

const lengthBytes = 4;
const arrayHeader = 20;

/**
 * Writes vectors as one array parameter in the binary format.
 *
 * @param elementType - the OID of the type `vector` in this database
 * @see [array_recv](https://github.com/postgres/postgres/blob/REL_17_0/src/backend/utils/adt/arrayfuncs.c)
 */
export function toVectorArrayBytes(vectors: readonly Float32Array[], elementType: number): Uint8Array {
  const bytesOf = (vector: Float32Array): number => 4 + 4 * vector.length;
  const size = vectors.reduce((sum, vector) => sum + lengthBytes + bytesOf(vector), arrayHeader);
  const view = new DataView(new ArrayBuffer(size));
  // One dimension, no nulls, the type and number of elements, the index of the first one.
  [1, 0, elementType, vectors.length, 1].forEach((value, place) => view.setUint32(4 * place, value));
  let at = arrayHeader;
  for (const vector of vectors) {
    view.setUint32(at, bytesOf(vector));
    view.setUint16(at + lengthBytes, vector.length);
    at += lengthBytes + 4;
    for (const value of vector) {
      view.setFloat32(at, value);
      at += 4;
    }
  }
  return new Uint8Array(view.buffer);
}
