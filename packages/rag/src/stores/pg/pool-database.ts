import { untilAborted } from '../../store/until-aborted.js';
import type { SqlDatabase, SqlQuery, SqlRow } from './sql-database.js';
import { toVectorArrayBytes, toVectorBytes } from './vector-binary.js';

/** A statement with parsers of its own for the answer. */
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

/** What a `pg.Pool` makes its connections with; needed to cancel a statement. */
export interface PgPoolInternals {
  Client?: new (options: unknown) => PgConnection;
  options?: unknown;
}

/** The part of a `pg.Pool` that is called. */
export interface PgPool {
  query(statement: string | PgStatement, values?: unknown[]): Promise<{ rows: SqlRow[] }>;
  connect(): Promise<PgClient>;
  end(): Promise<void>;
}

/** A database behind a pool of connections. */
export function poolDatabase(pool: PgPool, close: () => Promise<void>): SqlDatabase {
  return {
    query: async (sql, values, signal) =>
      signal
        ? withClient(pool, signal, (query) => query(sql, values))
        : (await pool.query(toStatement(sql, values))).rows,
    transaction: (work, { settings = [], signal } = {}) =>
      withClient(pool, signal, async (query, destroy) => {
        try {
          await query(['BEGIN', ...settings].join('; '));
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

/** By the OID of a type. What the application has set in `pg` for its own statements is not asked. */
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
  pool: PgPool,
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

/** Through a connection beside the pool, all of whose own may be busy. */
async function cancelStatement(pool: PgPool, client: PgClient): Promise<void> {
  const { Client, options } = pool as PgPoolInternals;
  const { processID } = client as { processID?: number };
  if (!Client || processID === undefined) throw new Error('This pool does not tell how to cancel a statement.');
  const connection = new Client(options);
  connection.on('error', ignoreError);
  await connection.connect();
  try {
    await connection.query('SELECT pg_catalog.pg_cancel_backend($1::int)', [processID]);
  } finally {
    await connection.end();
  }
}
