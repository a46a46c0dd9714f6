import type { DerivedData, IndexParams } from '../../store/vector-store.js';
import type { SqlQuery } from './database.js';
import { lockCreation, quoteIdentifier } from './pg-index.js';

/** Name of the table in each schema. No index can have it. */
export const derivedTableName = 'quiver_derived';

function tableIn(schemaName: string): string {
  return quoteIdentifier(schemaName, derivedTableName);
}

/**
 * Derived data as rows of the table `quiver_derived`, one table in each schema. Reading and writing create no table, so that a role
 * that can only read an index can use it.
 */
export function derivedTable(
  schemaName: string,
  use: <Result>(params: IndexParams, work: (query: SqlQuery) => Promise<Result>) => Promise<Result>,
  transaction: (work: (query: SqlQuery) => Promise<void>, signal: AbortSignal | undefined) => Promise<void>,
): DerivedData {
  const table = tableIn(schemaName);
  return {
    async read({ name, ...params }) {
      const sql = `SELECT pg_catalog.encode(data, 'base64') AS data FROM ${table} WHERE index_name = $1::text AND name = $2::text`;
      const rows = await use(params, async (query) =>
        (await hasDerivedTable(query, schemaName)) ? query(sql, [params.indexName, name]) : [],
      );
      const data = rows[0]?.['data'];
      return typeof data === 'string' ? Uint8Array.from(Buffer.from(data, 'base64')) : undefined;
    },
    write: ({ name, data, ...params }) =>
      use(params, async (query) => {
        if (!(await hasDerivedTable(query, schemaName))) return false;
        await query(
          `INSERT INTO ${table} (index_name, name, data) VALUES ($1::text, $2::text, pg_catalog.decode($3::text, 'base64'))
           ON CONFLICT (index_name, name) DO UPDATE SET data = excluded.data`,
          [params.indexName, name, Buffer.from(data).toString('base64')],
        );
        return true;
      }),
    prepare: ({ signal } = {}) =>
      transaction(async (query) => {
        await lockCreation(query);
        await query(
          `CREATE TABLE IF NOT EXISTS ${table} (index_name text COLLATE "C", name text COLLATE "C", data bytea NOT NULL, PRIMARY KEY (index_name, name))`,
        );
      }, signal),
  };
}

/** Deletes the derived data of an index, or their contents, in the transaction that deletes the index or records. */
export async function changeDerived(
  query: SqlQuery,
  change: 'DELETE' | 'UPDATE',
  schemaName: string,
  indexName: string,
): Promise<void> {
  if (!(await hasDerivedTable(query, schemaName))) return;
  const table = tableIn(schemaName);
  const sql = change === 'DELETE' ? `DELETE FROM ${table}` : `UPDATE ${table} SET data = ''`;
  await query(`${sql} WHERE index_name = $1::text`, [indexName]);
}

async function hasDerivedTable(query: SqlQuery, schemaName: string): Promise<boolean> {
  const [row] = await query('SELECT 1 AS found WHERE pg_catalog.to_regclass($1::text) IS NOT NULL', [
    tableIn(schemaName),
  ]);
  return row !== undefined;
}
