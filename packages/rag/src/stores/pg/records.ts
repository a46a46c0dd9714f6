import { invalidOptions } from '@quiver/core/internal';
import { createFilterTest, type Filter, toFilter } from '../../filter/index.js';
import { toSelection, type CheckedRecord, checkUpdate } from '../../store/checks.js';
import { keepMatching, readPage } from '../../store/paging.js';
import { isStorableText, SqlParameters } from '../sql-filter.js';
import { partsOf } from '../../requests/parts-of.js';
import type {
  VectorPage,
  ListVectorsParams,
  UpdateVectorParams,
  VectorMetadata,
  VectorRecord,
  VersionParams,
} from '../../store/vector-store.js';
import type { SqlDatabase, SqlQuery, SqlRow } from './database.js';
import { filterToSql } from './filter-to-sql.js';
import { castToStored, type ExistingIndex, type PgIndex, requireSameTable, tableOid, wordsColumn } from './pg-index.js';
import { recordTsvectors } from './tsvectors.js';

const rowsPerStatement = 1000;
/** A statement is one message. */
const sizePerStatement = 8_000_000;

/** @throws `OPTIONS_INVALID` before anything is stored */
export async function upsertRecords(
  query: SqlQuery,
  index: ExistingIndex,
  database: SqlDatabase,
  records: readonly CheckedRecord[],
): Promise<void> {
  const { table, extension, analyzer } = index;
  const sql = `INSERT INTO ${table} (id, embedding, metadata, document, ${wordsColumn})
    SELECT r.id, r.embedding${castToStored(index)}, r.metadata::jsonb, r.document, r.terms::tsvector
    FROM unnest($1::text[], $2::${extension.schema}.vector[], $3::text[], $4::text[], $5::text[]) AS r(id, embedding, metadata, document, terms)
    ON CONFLICT (id) DO UPDATE SET embedding = excluded.embedding, metadata = excluded.metadata, document = excluded.document, ${wordsColumn} = excluded.${wordsColumn}`;
  // In one order everywhere, so that two calls at once never wait for each other in a circle.
  const sorted = records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const rows = sorted.map((record, place) => ({ ...record, metadata: toStorableJson(record), place }));
  const parts = partsOf(rows, rowsPerStatement, {
    maxSize: sizePerStatement,
    sizeOf: ({ vector, metadata, document = '' }) => 4 * vector.length + metadata.length + document.length,
  });
  for (const part of parts) {
    const vectors = part.map(({ vector }) => vector);
    const withMetadata = part.map(({ place }) => sorted[place] as CheckedRecord);
    await query(sql, [
      part.map(({ id }) => id),
      database.toVectorsValue(vectors, extension.vectorOid),
      part.map(({ metadata }) => metadata),
      part.map(({ document = null }) => document),
      await recordTsvectors(analyzer, withMetadata),
    ]);
  }
}

/** @throws `OPTIONS_INVALID`, `VECTOR_DIMENSION_MISMATCH` */
export async function updateRecords(
  query: SqlQuery,
  index: ExistingIndex,
  database: SqlDatabase,
  { indexName, id, filter, update }: UpdateVectorParams,
): Promise<void> {
  const { table, extension, analyzer } = index;
  const selection = toSelection('updateVector', id === undefined ? undefined : [id], filter);
  const { vector, metadata, document } = checkUpdate(update, index, id ?? 'records');
  const json = toStorableJson({ id: id ?? '', metadata: metadata ?? {}, document: document ?? '' });
  // Null keeps the stored value.
  const values = [vector ? database.toVectorValue(vector) : null, metadata ? json : null, document ?? null];
  const newVector = `$2::${extension.schema}.vector${castToStored(index)}`;
  const ids = id === undefined ? await lockIds(query, index, selection) : [id];
  const updated = await query(
    `UPDATE ${table} SET embedding = COALESCE(${newVector}, embedding), metadata = COALESCE($3::text::jsonb, metadata), document = COALESCE($4::text, document) WHERE id = ANY ($1::text[]) RETURNING id, ${tableOid(index)}, metadata, document`,
    [ids, ...values],
  );
  requireSameTable(indexName, index, updated);
  if (metadata || document !== undefined) {
    const records = updated.map(toRecord);
    await query(
      `UPDATE ${table} AS t SET ${wordsColumn} = r.terms::tsvector FROM unnest($1::text[], $2::text[]) AS r(id, terms) WHERE t.id = r.id`,
      [records.map((record) => record.id), await recordTsvectors(analyzer, records)],
    );
  }
  if (id !== undefined && updated.length === 0)
    throw invalidOptions(`The index '${indexName}' has no record '${id}' to update.`);
}

/** @returns whether a record was there */
export async function deleteRecords(query: SqlQuery, { table }: PgIndex, ids: readonly string[]): Promise<boolean> {
  if (ids.length === 0) return false;
  const rows = await query(
    `WITH deleted AS (DELETE FROM ${table} WHERE id = ANY ($1::text[]) RETURNING 1) SELECT 1 AS found FROM deleted LIMIT 1`,
    [ids.filter(isStorableText)],
  );
  return rows.length > 0;
}

/** Returns the ids of all records that match a filter, in order, locked until the transaction ends. */
export async function lockIds(query: SqlQuery, { table }: PgIndex, filter: Filter | undefined): Promise<string[]> {
  const parameters = new SqlParameters();
  const { sql: where, rest } = filterToSql(filter, parameters);
  const rows = await query(
    `SELECT id${rest ? ', metadata' : ''} FROM ${table} WHERE ${where} ORDER BY id FOR UPDATE`,
    parameters.values,
  );
  return keepMatching(rows, createFilterTest(rest)).map(({ id }) => String(id));
}

/** Returns the existing records, in any order. */
export async function readRecords(
  query: SqlQuery,
  { table }: PgIndex,
  ids: readonly string[],
  includeVector: boolean,
): Promise<VectorRecord[]> {
  const rows = await query(`${selectSql(table, includeVector)} WHERE id = ANY ($1::text[])`, [
    ids.filter(isStorableText),
  ]);
  return rows.map(toRecord);
}

/** A page of records, ordered by id. */
export async function scanRecords(
  query: SqlQuery,
  { table }: PgIndex,
  params: ListVectorsParams,
  filter: Filter | undefined,
): Promise<VectorPage> {
  const parameters = new SqlParameters();
  const { sql: where, rest } = filterToSql(filter, parameters);
  return readPage(params, rest, async (after, limit) => {
    const start = after === undefined ? '' : ` AND id > $${parameters.values.length + 1}::text`;
    const rows = await query(
      `${selectSql(table, params.includeVector ?? false)} WHERE ${where}${start} ORDER BY id LIMIT ${limit}`,
      after === undefined ? parameters.values : [...parameters.values, after],
    );
    return rows.map(toRecord);
  });
}

function selectSql(table: string, includeVector: boolean): string {
  return `SELECT id, metadata, document${includeVector ? ', embedding::text AS vector' : ''} FROM ${table}`;
}

/** An entry of a B-tree takes a third of a page. */
const longestId = 2690;

/** Returns the metadata as JSON. @throws `OPTIONS_INVALID` for text that PostgreSQL cannot store */
function toStorableJson({ id, metadata, document = '' }: Omit<CheckedRecord, 'vector'>): string {
  if (Buffer.byteLength(id) > longestId)
    throw invalidOptions(
      `The id '${id.slice(0, 40)}…' takes ${Buffer.byteLength(id)} bytes; PostgreSQL can look up ${longestId}. Use a hash of it as id.`,
    );
  const json = JSON.stringify(metadata);
  // In JSON, both kinds of characters are escapes, with an even number of backslashes before them.
  const escaped = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(json);
  if (isStorableText(id) && isStorableText(document) && !escaped) return json;
  throw invalidOptions(
    `The record ${JSON.stringify(id)} holds a NUL character or half of a surrogate pair, which PostgreSQL cannot store; remove it.`,
  );
}

export function toRecord({ id, metadata, document, vector }: SqlRow): VectorRecord {
  return {
    id: id as string,
    metadata: metadata as VectorMetadata,
    ...(typeof document === 'string' && { document }),
    ...(typeof vector === 'string' && { vector: Array.from(Float32Array.from(JSON.parse(vector) as number[])) }),
  };
}

/**
 * Reads which rows match a condition, and which transaction wrote each: every committed change gives another version. The rows are read
 * once, without their vectors where these are stored apart; at most `maxRecords` and one.
 *
 * @returns `undefined` when more than `maxRecords` match
 * @see [System columns](https://www.postgresql.org/docs/current/ddl-system-columns.html)
 */
export async function readVersion(
  query: SqlQuery,
  { table }: PgIndex,
  { filter, maxRecords = Infinity }: Pick<VersionParams, 'filter' | 'maxRecords'>,
): Promise<string | undefined> {
  const parameters = new SqlParameters();
  // A superset of the matching rows has another version as well when one of them changes.
  const { sql: where } = filterToSql(toFilter(filter), parameters);
  const limit = maxRecords === Infinity ? '' : ` LIMIT ${maxRecords + 1}`;
  const [row] = await query(
    `SELECT pg_catalog.count(*)::float8 AS count, COALESCE(pg_catalog.sum(pg_catalog.hashtextextended(r.id, r.writer)), 0)::text AS writers
     FROM (SELECT id, xmin::text::bigint AS writer FROM ${table} WHERE ${where}${limit}) r`,
    parameters.values,
  );
  const count = Number(row?.['count']);
  return count > maxRecords ? undefined : `${count}-${String(row?.['writers'])}`;
}
