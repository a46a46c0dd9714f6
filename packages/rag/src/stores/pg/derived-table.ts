import type { Cancellable, DerivedData, IndexParams } from '../../store/vector-store.js';
import type { SqlDatabase, SqlQuery } from './database.js';
import { quoteIdentifier } from './filter-to-sql.js';

export const derivedTableName = 'quiver_derived';

export interface DerivedTableOptions {
  readonly schemaName: string;
  /** Runs statements and explains their errors. */
  readonly run: <Result>(
    doing: string,
    work: (database: SqlDatabase) => Promise<Result>,
    signal: AbortSignal | undefined,
  ) => Promise<Result>;
  /** @throws `VECTOR_INDEX_NOT_FOUND` */
  readonly requireIndex: (indexName: string, signal: AbortSignal | undefined) => Promise<unknown>;
}

/**
 * Derived data as rows of the table `quiver_derived`, one table in each schema. Reading and writing make no table: who may only
 * read an index can use it.
 */
export function derivedTable({ schemaName, run, requireIndex }: DerivedTableOptions): DerivedData {
  const table = tableIn(schemaName);
  const inTable = async <Result>(
    { indexName, signal }: IndexParams,
    work: (query: SqlQuery) => Promise<Result>,
  ): Promise<Result | undefined> => {
    await requireIndex(indexName, signal);
    const whereThere = async (database: SqlDatabase): Promise<Result | undefined> => {
      const query: SqlQuery = (sql, values) => database.query(sql, values, signal);
      return (await isThere(query, schemaName)) ? work(query) : undefined;
    };
    return run(`using what is derived from the index '${indexName}'`, whereThere, signal);
  };
  return {
    async read({ name, ...params }) {
      const rows = await inTable(params, (query) =>
        query(
          `SELECT pg_catalog.encode(data, 'base64') AS data FROM ${table} WHERE index_name = $1::text AND name = $2::text`,
          [params.indexName, name],
        ),
      );
      const data = rows?.[0]?.['data'];
      return typeof data === 'string' ? Uint8Array.from(Buffer.from(data, 'base64')) : undefined;
    },
    async write({ name, data, ...params }) {
      const written = await inTable(params, (query) =>
        query(
          `INSERT INTO ${table} (index_name, name, data) VALUES ($1::text, $2::text, pg_catalog.decode($3::text, 'base64'))
           ON CONFLICT (index_name, name) DO UPDATE SET data = excluded.data`,
          [params.indexName, name, Buffer.from(data).toString('base64')],
        ),
      );
      return written !== undefined;
    },
    async prepare({ signal }: Cancellable = {}) {
      const create = async (query: SqlQuery): Promise<void> => {
        // Without a lock, two CREATE ... IF NOT EXISTS at once fail on each other.
        await query(`SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('quiver create index'))`);
        if (await isThere(query, schemaName)) return;
        await query(
          `CREATE TABLE ${table} (index_name text COLLATE "C", name text COLLATE "C", data bytea NOT NULL, PRIMARY KEY (index_name, name))`,
        );
      };
      await run('making the table of derived data', (database) => database.transaction(create, { signal }), signal);
    },
  };
}

/** In the transaction that deletes the index. */
export async function deleteDerived(query: SqlQuery, schemaName: string, indexName: string): Promise<void> {
  if (await isThere(query, schemaName))
    await query(`DELETE FROM ${tableIn(schemaName)} WHERE index_name = $1::text`, [indexName]);
}

function tableIn(schemaName: string): string {
  return `${quoteIdentifier(schemaName)}.${quoteIdentifier(derivedTableName)}`;
}

async function isThere(query: SqlQuery, schemaName: string): Promise<boolean> {
  const [row] = await query(
    `SELECT 1 AS found FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text AND c.relname = $2::text AND c.relkind = 'r'`,
    [schemaName, derivedTableName],
  );
  return row !== undefined;
}
