import { invalidOptions } from '@quiver/core/internal';
import { createFilterTest, type Filter, toFilter } from '../../filter/index.js';
import { recordTerms } from '../../words/record-terms.js';
import type { CheckedRecord } from '../../store/checks.js';
import { keepMatching, readPage } from '../../store/paging.js';
import { isStorableText, SqlParameters } from '../sql-filter.js';
import { partsOf } from '../../requests/parts-of.js';
import type {
  VectorPage,
  ListVectorsParams,
  VectorMetadata,
  VectorRecord,
  VersionParams,
} from '../../store/vector-store.js';
import { filterToSqlite } from './filter-to-sqlite.js';
import type { LibSQLDatabase, LibSQLRow, LibSQLStatement } from './libsql-database.js';
import { emptyDerived, type LibSQLIndex, nextVersion, recordsTable, statement, termsTable } from './libsql-index.js';

const rowsPerStatement = 500;
/** A statement is one message to a server. */
const sizePerStatement = 8_000_000;

/**
 * Statements that store records.
 *
 * @param read - see `nextVersion`
 * @throws `OPTIONS_INVALID` for text that SQLite cannot store
 */
export async function writeStatements(
  index: LibSQLIndex,
  records: readonly CheckedRecord[],
  read?: number,
): Promise<LibSQLStatement[]> {
  for (const record of records) requireStorable(record);
  const terms = await recordTerms(index.analyzer, records);
  const rows = records.map((record, at) => ({
    ...record,
    metadata: JSON.stringify(record.metadata),
    terms: (terms[at] as string[]).join(' '),
  }));
  const parts = partsOf(rows, rowsPerStatement, {
    maxSize: sizePerStatement,
    sizeOf: ({ vector, metadata, document = '', terms }) =>
      4 * vector.length + metadata.length + document.length + terms.length,
  });
  const table = recordsTable(index);
  const version = `(SELECT version FROM quiver_indexes WHERE key = ?1)`;
  const bytes = 4 * index.dimension;
  // One blob and two lists as parameters: 10,000 records take half the time of as many statements.
  const insert = `INSERT INTO ${table} (id, version, metadata, length, embedding, document)
    SELECT new.value ->> 0, ${version}, jsonb(new.value ->> 1), new.value ->> 2, substr(?3, 1 + ${bytes} * new.key, ${bytes}), new.value ->> 3
    FROM json_each(?2) AS new WHERE TRUE
    ON CONFLICT (id) DO UPDATE SET version = excluded.version, metadata = excluded.metadata, length = excluded.length,
      embedding = excluded.embedding, document = excluded.document`;
  const addTerms = `INSERT OR REPLACE INTO ${termsTable(index)} (rowid, terms)
    SELECT record.number, new.value ->> 1 FROM json_each(?1) AS new JOIN ${table} AS record ON record.id = new.value ->> 0`;
  return [
    nextVersion(index, read),
    ...parts.flatMap((part) => [
      statement(
        insert,
        index.key,
        JSON.stringify(
          part.map(({ id, metadata, vector, document = null }) => [id, metadata, lengthOf(vector), document]),
        ),
        toBytes(part.map(({ vector }) => vector)),
      ),
      statement(addTerms, JSON.stringify(part.map(({ id, terms }) => [id, terms]))),
    ]),
  ];
}

/** @throws `OPTIONS_INVALID` */
function requireStorable({ id, document = '' }: Pick<CheckedRecord, 'id' | 'document'>): void {
  if (isStorableText(id) && isStorableText(document)) return;
  throw invalidOptions(
    `The record ${JSON.stringify(id)} holds a NUL character or half of a surrogate pair in its id or document, which libSQL cannot store; remove it.`,
  );
}

export function lengthOf(vector: Float32Array): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
}

/** Vectors as libSQL stores them: numbers of 32 bits, one after the other, the least significant byte first. */
export function toBytes(vectors: readonly Float32Array[]): Uint8Array {
  const [first] = vectors;
  const width = 4 * (first?.length ?? 0);
  const bytes = new Uint8Array(width * vectors.length);
  for (const [at, { buffer, byteOffset, byteLength }] of vectors.entries())
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at * width);
  return bytes;
}

/** Statements that remove records, and derived data if a record was there. */
export function removeStatements(index: LibSQLIndex, ids: readonly string[], read?: number): LibSQLStatement[] {
  const list = JSON.stringify(ids.filter(isStorableText));
  const where = 'WHERE id IN (SELECT value FROM json_each(?1))';
  return [
    nextVersion(index, read),
    statement(
      `DELETE FROM ${termsTable(index)} WHERE rowid IN (SELECT number FROM ${recordsTable(index)} ${where})`,
      list,
    ),
    statement(`DELETE FROM ${recordsTable(index)} ${where}`, list),
    emptyDerived(index),
  ];
}

export function clearStatements(index: LibSQLIndex): LibSQLStatement[] {
  return [
    nextVersion(index),
    statement(`INSERT INTO ${termsTable(index)} (${termsTable(index)}) VALUES ('delete-all')`),
    statement(`DELETE FROM ${recordsTable(index)}`),
    emptyDerived(index),
  ];
}

export async function countRecords(database: LibSQLDatabase, index: LibSQLIndex): Promise<number> {
  const [row] = await database.query(`SELECT count(*) AS count FROM ${recordsTable(index)}`);
  return Number(row?.['count']);
}

/** Columns of a record; `vector` when requested. */
export function recordColumns(includeVector: boolean): string {
  return `id, json(metadata) AS metadata, document${includeVector ? ', embedding AS vector' : ''}`;
}

export function toRecord({ id, metadata, document, vector }: LibSQLRow): VectorRecord {
  return {
    id: id as string,
    metadata: JSON.parse(metadata as string) as VectorMetadata,
    ...(typeof document === 'string' && { document }),
    ...(vector instanceof ArrayBuffer && { vector: Array.from(new Float32Array(vector)) }),
  };
}

/** Returns the existing records, in any order. */
export async function readRecords(
  database: LibSQLDatabase,
  index: LibSQLIndex,
  ids: readonly string[],
  includeVector: boolean,
): Promise<VectorRecord[]> {
  const rows = await database.query(
    `SELECT ${recordColumns(includeVector)} FROM ${recordsTable(index)} WHERE id IN (SELECT value FROM json_each(?1))`,
    [JSON.stringify(ids.filter(isStorableText))],
  );
  return rows.map(toRecord);
}

/** Returns the ids of all records that match a filter, in order. */
export async function selectIds(
  database: LibSQLDatabase,
  index: LibSQLIndex,
  filter: Filter | undefined,
): Promise<string[]> {
  const parameters = new SqlParameters('?');
  const { sql: where, rest } = filterToSqlite(filter, parameters);
  const rows = await database.query(
    `SELECT id, ${rest ? 'json(metadata)' : `'{}'`} AS metadata FROM ${recordsTable(index)} WHERE ${where} ORDER BY id`,
    parameters.values,
  );
  return keepMatching(rows.map(toRecord), createFilterTest(rest)).map(({ id }) => id);
}

/** A page of records, ordered by id. */
export async function scanRecords(
  database: LibSQLDatabase,
  index: LibSQLIndex,
  params: ListVectorsParams,
  filter: Filter | undefined,
): Promise<VectorPage> {
  const parameters = new SqlParameters('?');
  const { sql: where, rest } = filterToSqlite(filter, parameters);
  const select = `SELECT ${recordColumns(params.includeVector ?? false)} FROM ${recordsTable(index)} WHERE ${where}`;
  return readPage(params, rest, async (after, limit) => {
    const start = after === undefined ? '' : ` AND id > ?${parameters.values.length + 1}`;
    const values = after === undefined ? parameters.values : [...parameters.values, after];
    return (await database.query(`${select}${start} ORDER BY id LIMIT ${limit}`, values)).map(toRecord);
  });
}

/**
 * Returns the version of the records that match a filter: their number, and the last change of one of them.
 *
 * @returns `undefined` when more than `maxRecords` match
 */
export async function readVersion(
  database: LibSQLDatabase,
  index: LibSQLIndex,
  { filter, maxRecords = Infinity }: Pick<VersionParams, 'filter' | 'maxRecords'>,
): Promise<string | undefined> {
  const parameters = new SqlParameters('?');
  // A superset of the matching records has another version as well when one of them changes.
  const { sql: where } = filterToSqlite(toFilter(filter), parameters);
  const limit = maxRecords === Infinity ? '' : ` LIMIT ${maxRecords + 1}`;
  const [row] = await database.query(
    `SELECT count(*) AS count, COALESCE(max(version), 0) AS version FROM (SELECT version FROM ${recordsTable(index)} WHERE ${where}${limit})`,
    parameters.values,
  );
  const count = Number(row?.['count']);
  return count > maxRecords ? undefined : `${index.key}-${count}-${Number(row?.['version'])}`;
}
