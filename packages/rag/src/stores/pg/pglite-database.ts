import { toSql } from 'pgvector';
import { untilAborted } from '../../store/until-aborted.js';
import type { SqlDatabase, SqlQuery, SqlRow } from './sql-database.js';

interface PgliteQueries {
  query<Row>(sql: string, values?: unknown[]): Promise<{ rows: Row[] }>;
  exec(sql: string): Promise<unknown>;
}

/** The part of a `PGlite` that is called. It must have been created with the extension `vector`. */
export interface PgliteClient extends PgliteQueries {
  transaction<Result>(work: (transaction: PgliteQueries) => Promise<Result>): Promise<Result>;
}

/** A PGlite database, which stays open when the store is closed. It cannot stop a statement that runs, only not wait for it. */
export function pgliteDatabase(pglite: PgliteClient): SqlDatabase {
  const queryOf =
    (client: PgliteQueries): SqlQuery =>
    async (sql, values) =>
      (await client.query<SqlRow>(sql, values && [...values])).rows;
  const query = queryOf(pglite);
  return {
    query: (sql, values, signal) => untilAborted(() => query(sql, values), signal),
    transaction: (work, { settings = [], signal } = {}) =>
      untilAborted(
        () =>
          pglite.transaction(async (transaction) => {
            if (settings.length > 0) await transaction.exec(settings.join('; '));
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
  return toSql([...vector]) as string;
}
