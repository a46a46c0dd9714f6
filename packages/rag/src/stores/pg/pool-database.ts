import type { SqlDatabase, SqlQuery, SqlRow } from './sql-database.js';

/** The part of a `pg` client that is called. */
export interface PgClient {
  query(sql: string, values?: unknown[]): Promise<{ rows: SqlRow[] }>;
  release(destroy?: boolean): void;
}

/** The part of a `pg.Pool` that is called. */
export interface PgPool {
  query(sql: string, values?: unknown[]): Promise<{ rows: SqlRow[] }>;
  connect(): Promise<PgClient>;
}

/** A database behind a pool of connections. */
export function poolDatabase(pool: PgPool, close: () => Promise<void>): SqlDatabase {
  return {
    query: async (sql, values) => (await pool.query(sql, values && [...values])).rows,
    transaction: async (work, settings = []) => {
      const client = await pool.connect();
      const query: SqlQuery = async (sql, values) => (await client.query(sql, values && [...values])).rows;
      let broken = false;
      try {
        await query(['BEGIN', ...settings].join('; '));
        const result = await work(query);
        await query('COMMIT');
        return result;
      } catch (error) {
        // A connection that cannot roll back must not go back to the pool.
        await query('ROLLBACK').catch(() => {
          broken = true;
        });
        throw error;
      } finally {
        client.release(broken);
      }
    },
    close,
  };
}
