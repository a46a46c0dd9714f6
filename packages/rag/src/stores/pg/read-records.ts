import { requireTopK } from '../../store/check-arguments.js';
import { toFilter } from '../../store/to-filter.js';
import type { GetParams, ScanPage, ScanParams, VectorRecord } from '../../store/vector-store.js';
import { keepMatching, toCondition } from './find-records.js';
import type { PgIndex } from './pg-index.js';
import { toRecord } from './pg-rows.js';
import type { SqlQuery, SqlRow } from './sql-database.js';
import { isStorableText, SqlParameters } from './sql-text.js';

/** Those that exist, in the order of the ids. */
export async function readByIds(
  query: SqlQuery,
  { table }: PgIndex,
  { ids, includeVector = false }: GetParams,
): Promise<VectorRecord[]> {
  const rows = await query(`${selectSql(table, includeVector)} WHERE id = ANY ($1::text[])`, [
    ids.filter(isStorableText),
  ]);
  const records = new Map(rows.map((row) => [row['id'], toRecord(row)]));
  return ids.flatMap((id) => records.get(id) ?? []);
}

const fewestRows = 1000;

/** A page of records, ordered by id. */
export async function scanRecords(
  query: SqlQuery,
  { table }: PgIndex,
  { cursor, limit = 1000, filter, includeVector = false }: ScanParams,
): Promise<ScanPage> {
  const size = requireTopK(limit);
  const parsed = toFilter(filter);
  const found: SqlRow[] = [];
  let after = cursor;
  let isLast = false;
  while (found.length <= size && !isLast) {
    const parameters = new SqlParameters();
    const condition = toCondition(parsed, parameters);
    const start = after === undefined ? '' : ` AND id > ${parameters.add(after)}::text`;
    // Where SQL lets too much through, few of the rows that are read may pass.
    const read = condition.exact ? size + 1 : Math.max(size + 1, fewestRows);
    const page = `WHERE ${condition.sql}${start} ORDER BY id LIMIT ${read}`;
    const rows = await query(`${selectSql(table, includeVector)} ${page}`, parameters.values);
    isLast = rows.length < read;
    after = rows.at(-1)?.['id'] as string | undefined;
    found.push(...keepMatching(rows, parsed, condition));
  }
  const records = found.slice(0, size).map(toRecord);
  const last = records.at(-1);
  return { records, ...(last && found.length > size && { nextCursor: last.id }) };
}

function selectSql(table: string, includeVector: boolean): string {
  return `SELECT id, metadata, document${includeVector ? ', embedding::text AS vector' : ''} FROM ${table}`;
}
