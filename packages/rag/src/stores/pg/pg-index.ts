import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { vectorMetrics } from '../../store/options.js';
import type { VectorMetric } from '../../store/vector-store.js';
import type { SqlQuery } from './database.js';

/** Quotes names that were checked or that the database returned; several are a qualified name. */
export function quoteIdentifier(...names: readonly string[]): string {
  return names.map((name) => `"${name.replaceAll('"', '""')}"`).join('.');
}

/** Settings become part of the text of statements, so only integers are valid. @throws `OPTIONS_INVALID` */
export function requireInteger(name: string, value: unknown, smallest: number, largest: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= smallest && value <= largest) return value;
  throw invalidOptions(`${name} must be an integer from ${smallest} to ${largest}, not ${String(value)}.`);
}

/** Index type: graph, lists around centers, or none (all vectors are compared). */
export type PgIndexType = 'hnsw' | 'ivfflat' | 'flat';

/** Types of indexes. */
export const indexTypes: readonly PgIndexType[] = ['hnsw', 'ivfflat', 'flat'];

/** `halfvec` takes half the space; its numbers have three to four digits. */
export type PgVectorType = 'vector' | 'halfvec';

/** Elements of an index of vectors: the vectors, 16-bit numbers, or the signs of their numbers. */
export type PgIndexElements = PgVectorType | 'bit';

/** An index as the database describes it. */
export interface PgIndex {
  /** Schema and table, quoted. */
  readonly table: string;
  /** OID of the table; a recreated table has another one. */
  readonly oid: number;
  readonly dimension: number;
  readonly metric: VectorMetric;
  readonly vectorType: PgVectorType;
  readonly type: PgIndexType;
  /** Absent without an index of vectors. */
  readonly elements?: PgIndexElements;
  /** The type that was requested last, also while there is no index yet. */
  readonly requestedType: PgIndexType;
  /** Parameters of the index, for example `{ m: 16, ef_construction: 64 }` or `{ lists: 100 }`. */
  readonly config: Readonly<Record<string, number>>;
  /** Id of the `TermAnalyzer` of the column `words`. */
  readonly analyzer: string;
}

export interface PgTarget {
  readonly schemaName: string;
  readonly indexName: string;
}

/** The extension, which may live in any schema: names are always qualified, so the search path has no influence. */
export interface PgVectorExtension {
  /** Quoted. */
  readonly schema: string;
  /** Whether an index supports iterative scans, which continue until enough rows match a filter: pgvector 0.8. */
  readonly scansOn: boolean;
  /** OID of the type `vector`. */
  readonly vectorOid: number;
}

export interface ExistingIndex extends PgIndex {
  readonly extension: PgVectorExtension;
}

export async function readExtension(query: SqlQuery): Promise<PgVectorExtension | undefined> {
  const [row] = await query(
    `SELECT n.nspname AS schema, e.extversion AS version, t.oid::int8::float8 AS oid FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace JOIN pg_catalog.pg_type t ON t.typnamespace = e.extnamespace AND t.typname = 'vector' WHERE e.extname = 'vector'`,
  );
  if (!row) return undefined;
  const [major = 0, minor = 0] = String(row['version']).split('.').map(Number);
  return {
    schema: quoteIdentifier(String(row['schema'])),
    scansOn: major > 0 || minor >= 8,
    vectorOid: row['oid'] as number,
  };
}

/** The largest dimension that an index of each element type can have. */
export const indexableDimension: Readonly<Record<PgIndexElements, number>> = {
  vector: 2000,
  halfvec: 4000,
  bit: 64_000,
};

/** Returns the cast from a `vector` to the type of the stored vectors. */
export function castToStored({ vectorType, extension }: Pick<ExistingIndex, 'vectorType' | 'extension'>): string {
  return vectorType === 'vector' ? '' : `::${extension.schema}.${vectorType}`;
}

/** Column of the terms of each record. */
export const wordsColumn = 'words';

export function wordsIndexName(indexName: string): string {
  return `${indexName}_words_idx`;
}

/** Comment of the table, which distinguishes Quiver's tables from others. */
const mark = 'quiver vectors, metric ';

export function toComment({
  metric,
  analyzer,
  requestedType,
}: Pick<PgIndex, 'metric' | 'analyzer' | 'requestedType'>): string {
  return `'${mark}${metric}, terms ${analyzer}, index ${requestedType}'`;
}

/** Accepts only what `toComment` writes: the parts become parts of statements, and the owner of the table can change the comment. */
const ourComment = new RegExp(
  `^${mark}(?<metric>${vectorMetrics.join('|')}), terms (?<analyzer>[a-z]+-\\d+), index (?<requestedType>${indexTypes.join('|')})$`,
);

/** @returns `undefined` if the table does not exist or was not created by Quiver */
export async function readIndex(query: SqlQuery, schemaName: string, indexName: string): Promise<PgIndex | undefined> {
  const [row] = await query(
    `SELECT c.oid::int8::float8 AS oid, a.atttypmod::int AS dimension, t.typname AS vector_type, pg_catalog.obj_description(c.oid, 'pg_class') AS comment, i.type, i.options, i.operators
     FROM pg_catalog.pg_class c
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'embedding'
     JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
     LEFT JOIN LATERAL (
       SELECT am.amname AS type, array_to_string(ic.reloptions, ',') AS options, oc.opcname AS operators
       FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class ic ON ic.oid = x.indexrelid JOIN pg_catalog.pg_am am ON am.oid = ic.relam
       JOIN pg_catalog.pg_opclass oc ON oc.oid = x.indclass[0]
       WHERE x.indrelid = c.oid AND x.indisvalid AND am.amname IN ('hnsw', 'ivfflat') ORDER BY ic.relname LIMIT 1
     ) i ON true
     WHERE n.nspname = $1::text AND c.relname = $2::text AND c.relkind IN ('r', 'p')`,
    [schemaName, indexName],
  );
  const comment = ourComment.exec(String(row?.['comment']))?.groups;
  if (!row || !comment) return undefined;
  const options = String(row['options'] ?? '').split(',');
  const elements = /^(?:vector|halfvec|bit)(?=_)/.exec(String(row['operators']))?.[0];
  const { metric, analyzer, requestedType } = comment;
  return {
    table: quoteIdentifier(schemaName, indexName),
    oid: row['oid'] as number,
    dimension: row['dimension'] as number,
    metric: metric as VectorMetric,
    analyzer: analyzer as string,
    vectorType: row['vector_type'] as PgVectorType,
    type: (row['type'] ?? 'flat') as PgIndexType,
    ...(elements !== undefined && { elements: elements as PgIndexElements }),
    requestedType: requestedType as PgIndexType,
    config: Object.fromEntries(
      options.filter(Boolean).map((option) => {
        const [name = '', value] = option.split('=');
        return [name, Number(value)];
      }),
    ),
  };
}

export async function listIndexNames(query: SqlQuery, schemaName: string): Promise<string[]> {
  const rows = await query(
    `SELECT c.relname AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1::text AND c.relkind IN ('r', 'p') AND starts_with(pg_catalog.obj_description(c.oid, 'pg_class'), $2::text)
     ORDER BY c.relname COLLATE "C"`,
    [schemaName, mark],
  );
  return rows.map(({ name }) => String(name));
}

/** PostgreSQL cuts longer names, silently, so that two of them could become one. */
const longestIdentifier = 63;

/** @throws `OPTIONS_INVALID` for anything but ASCII letters, digits, `_` and `-`, and for the system's own schemas */
export function requireSchemaName(schemaName: string): void {
  const allowed = typeof schemaName === 'string' && /^[a-z0-9_][a-z0-9_-]*$/i.test(schemaName);
  if (allowed && schemaName.length <= longestIdentifier && !/^(?:pg_|information_schema$)/i.test(schemaName)) return;
  throw invalidOptions(
    `'${String(schemaName)}' cannot name a schema: use 1 to ${longestIdentifier} letters, digits, '_' and '-', and not a name of the system.`,
  );
}

/** With `_vector_idx` behind it, a name is still within PostgreSQL's 63 bytes. */
export const longestIndexName = 52;

/** @returns `undefined` if the table does not exist or was not created by Quiver */
export async function lookUpIndex(
  query: SqlQuery,
  schemaName: string,
  indexName: string,
): Promise<ExistingIndex | undefined> {
  const index = await readIndex(query, schemaName, indexName);
  const extension = index && (await readExtension(query));
  return extension && { ...index, extension };
}

/** In a recreated table, distances may be of another metric, and terms of another language. A column that tells. */
export function tableOid({ table }: PgIndex): string {
  return `'${table}'::pg_catalog.regclass::oid::int8::float8 AS table_oid`;
}

export function indexChanged(indexName: string): QuiverError {
  return new QuiverError(
    'VECTOR_INDEX_CHANGED',
    `The index '${indexName}' was changed by another process while it was used. Try again.`,
    { details: { indexName } },
  );
}

/** Until the transaction ends. Without a lock, two CREATE ... IF NOT EXISTS at once fail on each other. */
export async function lockCreation(query: SqlQuery): Promise<void> {
  await query(`SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('quiver create index'))`);
}

export async function countRows(query: SqlQuery, { table }: PgIndex): Promise<number> {
  const [row] = await query(`SELECT count(*)::int AS count FROM ${table}`);
  return row?.['count'] as number;
}
