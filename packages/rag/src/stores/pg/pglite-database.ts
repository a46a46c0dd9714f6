import type { SqlDatabase, SqlQuery, SqlRow } from './sql-database.js';

interface PgliteQueries {
  query<Row>(sql: string, values?: unknown[]): Promise<{ rows: Row[] }>;
  exec(sql: string): Promise<unknown>;
}

/** The part of a `PGlite` that is called. It must have been created with the extension `vector`. */
export interface PgliteClient extends PgliteQueries {
  transaction<Result>(work: (transaction: PgliteQueries) => Promise<Result>): Promise<Result>;
}

/** A PGlite database, which stays open when the store is closed. */
export function pgliteDatabase(pglite: PgliteClient): SqlDatabase {
  const queryOf =
    (client: PgliteQueries): SqlQuery =>
    async (sql, values) =>
      (await client.query<SqlRow>(sql, values && [...values])).rows;
  return {
    query: queryOf(pglite),
    transaction: (work, settings = []) =>
      pglite.transaction(async (transaction) => {
        if (settings.length > 0) await transaction.exec(settings.join('; '));
        return work(queryOf(transaction));
      }),
    close: async () => {},
  };
}
