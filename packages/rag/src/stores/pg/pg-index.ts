import { isQuiverError, type QuiverError } from '@quiver/core';
import { indexNotFound, requireIndexName } from '../../store/check-arguments.js';
import type { IndexParams, VectorMetric } from '../../store/vector-store.js';
import type { SqlQuery, SqlRow } from './database.js';
import { quoteIdentifier } from './filter-to-sql.js';

/** Index type: graph, lists around centers, or none (all vectors are compared). */
export type PgIndexType = 'hnsw' | 'ivfflat' | 'flat';

/** `halfvec` takes half the space; its numbers have three to four digits. */
export type PgVectorType = 'vector' | 'halfvec';

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

/** Ready for statements. */
export interface OpenIndex extends PgIndex {
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
export const indexableDimension: Readonly<Record<PgVectorType, number>> = { vector: 2000, halfvec: 4000 };

/** Written as the table's comment: it tells our tables from others. */
const mark = 'quiver vectors, metric ';

export function toComment(metric: VectorMetric, language: PgLanguage | undefined): string {
  return `'${mark}${metric}${language === undefined ? '' : `, words ${language.schema}.${language.name}`}'`;
}

/** Accepts only what `toComment` writes: the parts become parts of statements, and the owner of the table can change the comment. */
const ourComment = new RegExp(
  `^${mark}(?<metric>cosine|euclidean|dotproduct)(?:, words (?<schema>\\w+)\\.(?<name>\\w+))?$`,
);

/** @returns `undefined` when there is no such table, or when it is not one of ours */
export async function readIndex(query: SqlQuery, schemaName: string, indexName: string): Promise<PgIndex | undefined> {
  const [row] = await query(
    `SELECT c.oid::int8::float8 AS oid, a.atttypmod::int AS dimension, t.typname AS vector_type, pg_catalog.obj_description(c.oid, 'pg_class') AS comment, i.type, i.options
     FROM pg_catalog.pg_class c
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'embedding'
     JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
     LEFT JOIN LATERAL (
       SELECT am.amname AS type, array_to_string(ic.reloptions, ',') AS options
       FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class ic ON ic.oid = x.indexrelid JOIN pg_catalog.pg_am am ON am.oid = ic.relam
       WHERE x.indrelid = c.oid AND x.indisvalid AND am.amname IN ('hnsw', 'ivfflat') ORDER BY ic.relname LIMIT 1
     ) i ON true
     WHERE n.nspname = $1::text AND c.relname = $2::text AND c.relkind IN ('r', 'p')`,
    [schemaName, indexName],
  );
  const comment = ourComment.exec(String(row?.['comment']))?.groups;
  if (!row || !comment) return undefined;
  const options = String(row['options'] ?? '').split(',');
  const { metric, schema, name } = comment;
  return {
    table: `${quoteIdentifier(schemaName)}.${quoteIdentifier(indexName)}`,
    oid: row['oid'] as number,
    dimension: row['dimension'] as number,
    metric: metric as VectorMetric,
    ...(schema !== undefined && name !== undefined && { language: { schema, name } }),
    vectorType: row['vector_type'] as PgVectorType,
    type: (row['type'] ?? 'flat') as PgIndexType,
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

type Target = Pick<IndexParams, 'indexName'> & { readonly signal?: AbortSignal | undefined };

/** Cache of index descriptions, so that a call does not read them again. */
export interface OpenIndexes {
  /** @throws `VECTOR_INDEX_NOT_FOUND`, `VECTOR_ARGUMENT_INVALID` */
  require(target: Target): Promise<OpenIndex>;
  /**
   * For work that changes nothing when it fails. Another process may have deleted or recreated the index, so when it is missing, is
   * another one, or does not fit the arguments, that is only final when the database says the same.
   */
  use<Result>(target: Target, work: (index: OpenIndex) => Promise<Result>): Promise<Result>;
  forget(indexName: string): void;
  forgetAll(): void;
}

/** @param run - runs statements to look up an index; without a signal, since other calls wait for the same answer */
export function openIndexes(
  schemaName: string,
  run: (what: string, work: (query: SqlQuery) => Promise<OpenIndex>) => Promise<OpenIndex>,
): OpenIndexes {
  const known = new Map<string, Promise<OpenIndex>>();
  const find = (indexName: string): Promise<OpenIndex> =>
    run(`looking up the index '${indexName}'`, async (query) => {
      const index = await readIndex(query, schemaName, indexName);
      const extension = index && (await readExtension(query));
      if (!extension) throw indexNotFound(indexName, await listIndexNames(query, schemaName));
      return { ...index, extension };
    });
  const require = async ({ indexName, signal }: Target): Promise<OpenIndex> => {
    requireIndexName(indexName, longestIndexName);
    signal?.throwIfAborted();
    let index = known.get(indexName);
    if (!index) {
      index = find(indexName);
      known.set(indexName, index);
      index.catch(() => known.delete(indexName));
    }
    return index;
  };
  return {
    require,
    async use(target, work) {
      try {
        return await work(await require(target));
      } catch (error) {
        if (!isQuiverError(error) || !mayBeStale(error)) throw error;
        known.delete(target.indexName);
        return work(await require(target));
      }
    },
    forget: (indexName) => void known.delete(indexName),
    forgetAll: () => known.clear(),
  };
}

/** @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html) */
const undefinedTable = '42P01';

function mayBeStale({ code, details }: QuiverError): boolean {
  return refusals.has(code) || details?.['sqlState'] === undefinedTable;
}

const refusals: ReadonlySet<string> = new Set([
  'VECTOR_DIMENSION_MISMATCH',
  'VECTOR_INDEX_CHANGED',
  'VECTOR_TEXT_SEARCH_MISSING',
]);

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
