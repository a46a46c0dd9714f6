import { indexNotFound } from '../../store/check-arguments.js';
import type { DerivedData, IndexParams, VectorMetric } from '../../store/vector-store.js';
import type { SqlQuery } from './database.js';
import { quoteIdentifier } from './filter-to-sql.js';

/** Index type: graph, lists around centers, or none (all vectors are compared). */
export type PgIndexType = 'hnsw' | 'ivfflat' | 'flat';

/** `halfvec` takes half the space; its numbers have three to four digits. */
export type PgVectorType = 'vector' | 'halfvec';

/** What an index of vectors holds: the vectors, 16-bit numbers, or the signs of their numbers. */
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
  /** The type that was requested last, also while there is no index yet; absent for tables of earlier versions. */
  readonly requestedType?: PgIndexType;
  /** Parameters of the index, for example `{ m: 16, ef_construction: 64 }` or `{ lists: 100 }`. */
  readonly config: Readonly<Record<string, number>>;
  /** The text search configuration of the column `words`; absent without the column. */
  readonly language?: PgLanguage;
}

export interface PgLanguage {
  readonly schema: string;
  /** For example `english`. */
  readonly name: string;
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

/** Comment of the table, which distinguishes Quiver's tables from others. */
const mark = 'quiver vectors, metric ';

export function toComment({
  metric,
  language,
  requestedType,
}: Pick<PgIndex, 'metric' | 'language' | 'requestedType'>): string {
  const words = language ? `, words ${language.schema}.${language.name}` : '';
  return `'${mark}${metric}${words}${requestedType ? `, index ${requestedType}` : ''}'`;
}

/** Accepts only what `toComment` writes: the parts become parts of statements, and the owner of the table can change the comment. */
const ourComment = new RegExp(
  `^${mark}(?<metric>cosine|euclidean|dotproduct)(?:, words (?<schema>\\w+)\\.(?<name>\\w+))?(?:, index (?<requestedType>hnsw|ivfflat|flat))?$`,
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
  const { metric, schema, name, requestedType } = comment;
  return {
    table: quoteIdentifier(schemaName, indexName),
    oid: row['oid'] as number,
    dimension: row['dimension'] as number,
    metric: metric as VectorMetric,
    ...(schema !== undefined && name !== undefined && { language: { schema, name } }),
    vectorType: row['vector_type'] as PgVectorType,
    type: (row['type'] ?? 'flat') as PgIndexType,
    ...(elements !== undefined && { elements: elements as PgIndexElements }),
    ...(requestedType !== undefined && { requestedType: requestedType as PgIndexType }),
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

/** With `_vector_idx` behind it, a name is still within PostgreSQL's 63 bytes. */
export const longestIndexName = 52;

/** @throws `VECTOR_INDEX_NOT_FOUND` */
export async function lookUpIndex(query: SqlQuery, schemaName: string, indexName: string): Promise<ExistingIndex> {
  const index = await readIndex(query, schemaName, indexName);
  const extension = index && (await readExtension(query));
  if (!extension) throw indexNotFound(indexName, await listIndexNames(query, schemaName));
  return { ...index, extension };
}

export const derivedTableName = 'quiver_derived';

/** Runs statements on an existing index, or in a transaction without an index. */
export interface DerivedTableAccess {
  /** @throws `VECTOR_INDEX_NOT_FOUND` */
  use<Result>(params: IndexParams, work: (query: SqlQuery) => Promise<Result>): Promise<Result>;
  transaction(work: (query: SqlQuery) => Promise<void>, signal: AbortSignal | undefined): Promise<void>;
}

/**
 * Derived data as rows of the table `quiver_derived`, one table in each schema. Reading and writing create no table, so that a role
 * that can only read an index can use it.
 */
export function derivedTable(schemaName: string, { use, transaction }: DerivedTableAccess): DerivedData {
  const table = quoteIdentifier(schemaName, derivedTableName);
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
  const table = quoteIdentifier(schemaName, derivedTableName);
  const sql = change === 'DELETE' ? `DELETE FROM ${table}` : `UPDATE ${table} SET data = ''`;
  await query(`${sql} WHERE index_name = $1::text`, [indexName]);
}

async function hasDerivedTable(query: SqlQuery, schemaName: string): Promise<boolean> {
  const [row] = await query('SELECT 1 AS found WHERE pg_catalog.to_regclass($1::text) IS NOT NULL', [
    quoteIdentifier(schemaName, derivedTableName),
  ]);
  return row !== undefined;
}

/** Until the transaction ends. Without a lock, two CREATE ... IF NOT EXISTS at once fail on each other. */
export async function lockCreation(query: SqlQuery): Promise<void> {
  await query(`SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('quiver create index'))`);
}
