import type { SqlRow } from './sql-database.js';

/**
 * Which rows pass a condition, and which transaction wrote each: whoever wrote it, a committed change gives another answer. The
 * rows are read once, without their vectors where these are stored apart; no more than `maxRows` and one.
 *
 * @returns `undefined` when more than `maxRows` pass
 * @see [System columns](https://www.postgresql.org/docs/current/ddl-system-columns.html)
 */
export async function tableVersion(
  query: (sql: string) => Promise<SqlRow[]>,
  { table, where, maxRows }: { table: string; where: string; maxRows: number },
): Promise<string | undefined> {
  const limit = Number.isFinite(maxRows) ? ` LIMIT ${Math.floor(maxRows) + 1}` : '';
  const [row] = await query(
    `SELECT pg_catalog.count(*)::float8 AS count, COALESCE(pg_catalog.sum(pg_catalog.hashtextextended(r.id, r.writer)), 0)::text AS writers
     FROM (SELECT id, xmin::text::bigint AS writer FROM ${table} WHERE ${where}${limit}) r`,
  );
  const count = Number(row?.['count']);
  return count > maxRows ? undefined : `${count}-${String(row?.['writers'])}`;
}
