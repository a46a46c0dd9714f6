import { invalidArgument, toPlainMetadata, toVector, type CheckedRecord } from '../../store/check-arguments.js';
import { requireFilter } from '../../store/require-filter.js';
import { toFilter } from '../../store/to-filter.js';
import type { DeleteVectorsParams, UpdateVectorParams, VectorFilter } from '../../store/vector-store.js';
import { keepMatching, toCondition } from './find-records.js';
import type { OpenIndex } from './pg-index.js';
import { requireStorable, toBatches, toColumns, updateSql, upsertSql } from './pg-rows.js';
import type { SqlDatabase, SqlQuery } from './sql-database.js';
import { isStorableText, SqlParameters } from './sql-text.js';

/** What runs in a transaction of its own. */
export type RecordChange = (query: SqlQuery) => Promise<void>;

/** @throws `VECTOR_ARGUMENT_INVALID` before anything is stored */
export function upsertRecords(
  index: OpenIndex,
  database: SqlDatabase,
  records: readonly CheckedRecord[],
): RecordChange {
  for (const record of records) requireStorable(record);
  // In one order everywhere, so that two calls at once never wait for each other in a circle.
  const sorted = records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return async (query) => {
    for (const batch of toBatches(sorted)) await query(upsertSql(index), toColumns(batch, index, database));
  };
}

/** @throws `VECTOR_ARGUMENT_INVALID`, `VECTOR_DIMENSION_MISMATCH` */
export function updateRecords(
  index: OpenIndex,
  database: SqlDatabase,
  { indexName, id, filter, update }: UpdateVectorParams,
): RecordChange {
  const vector = update.vector && toVector(update.vector, index.dimension, 'The new vector');
  const metadata = update.metadata && toPlainMetadata(update.metadata, id ?? 'records');
  requireStorable({ id: id ?? '', metadata: metadata ?? {}, document: update.document ?? '' });
  const values = [
    vector ? database.toVectorValue(vector) : null,
    metadata ? JSON.stringify(metadata) : null,
    update.document ?? null,
  ];
  return async (query) => {
    const ids = id === undefined ? await lockIds(query, index, requireFilter(filter)) : [id];
    const updated = await query(updateSql(index), [ids, ...values]);
    if (id !== undefined && updated.length === 0)
      throw invalidArgument(`The index '${indexName}' has no record '${id}' to update.`);
  };
}

export function deleteRecords(index: OpenIndex, { ids, filter }: DeleteVectorsParams): RecordChange {
  return async (query) => {
    const chosen = ids?.filter(isStorableText) ?? (await lockIds(query, index, requireFilter(filter)));
    if (chosen.length > 0) await query(`DELETE FROM ${index.table} WHERE id = ANY ($1::text[])`, [chosen]);
  };
}

/** Ids of all records that pass a filter, locked until the transaction ends. */
async function lockIds(query: SqlQuery, { table }: OpenIndex, filter: VectorFilter): Promise<string[]> {
  const parameters = new SqlParameters();
  const parsed = toFilter(filter);
  const condition = toCondition(parsed, parameters);
  const rows = await query(
    `SELECT id${condition.exact ? '' : ', metadata'} FROM ${table} WHERE ${condition.sql} ORDER BY id FOR UPDATE`,
    parameters.values,
  );
  return keepMatching(rows, parsed, condition).map(({ id }) => String(id));
}
