import { untilAborted } from '../../store/until-aborted.js';
import type { SqlDatabase, SqlQuery, SqlRow } from './sql-database.js';
import { toVectorArrayBytes, toVectorBytes } from './vector-binary.js';

/** The part of a `pg` client that is called. */
export interface PgClient {
  query(sql: string, values?: unknown[]): Promise<{ rows: SqlRow[] }>;
  release(destroy?: boolean): void;
}

/** A connection that `connect()` opens and `end()` closes. */
interface PgConnection {
  connect(): Promise<unknown>;
  query(sql: string, values?: unknown[]): Promise<unknown>;
  end(): Promise<void>;
}

/** What a `pg.Pool` makes its connections with; needed to cancel a statement. */
export interface PgPoolInternals {
  Client?: new (options: unknown) => PgConnection;
  options?: unknown;
}

/** The part of a `pg.Pool` that is called. */
export interface PgPool {
  query(sql: string, values?: unknown[]): Promise<{ rows: SqlRow[] }>;
  connect(): Promise<PgClient>;
  end(): Promise<void>;
}

/** A database behind a pool of connections. */
export function poolDatabase(pool: PgPool, close: () => Promise<void>): SqlDatabase {
  return {
    query: async (sql, values, signal) =>
      signal
        ? withClient(pool, signal, (query) => query(sql, values))
        : (await pool.query(sql, values && [...values])).rows,
    transaction: (work, { settings = [], signal } = {}) =>
      withClient(pool, signal, async (query, destroy) => {
        try {
          await query(['BEGIN', ...settings].join('; '));
          const result = await work(query);
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
  let isBroken = false;
  const destroy = (): void => void (isBroken = true);
  let cancelled: Promise<void> | undefined;
  const onAbort = (): void => void (cancelled = cancelStatement(pool, client).catch(destroy));
  signal?.addEventListener('abort', onAbort);
  const running = work(async (sql, values) => (await client.query(sql, values && [...values])).rows, destroy).finally(
    async () => {
      signal?.removeEventListener('abort', onAbort);
      // Until then the server could take the next statement for the one to cancel.
      await cancelled;
      client.release(isBroken);
    },
  );
  return untilAborted(() => running, signal);
}

/** Through a connection beside the pool, all of whose own may be busy. */
async function cancelStatement(pool: PgPool, client: PgClient): Promise<void> {
  const { Client, options } = pool as PgPoolInternals;
  const { processID } = client as { processID?: number };
  if (!Client || processID === undefined) throw new Error('This pool does not tell how to cancel a statement.');
  const connection = new Client(options);
  await connection.connect();
  try {
    await connection.query('SELECT pg_catalog.pg_cancel_backend($1::int)', [processID]);
  } finally {
    await connection.end();
  }
}
