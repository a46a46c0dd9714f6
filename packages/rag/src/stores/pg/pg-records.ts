import { invalidOptions } from '@quiver/core/internal';
import { createFilterTest, type Filter, toFilter } from '../../filter/index.js';
import { partsOf } from '../../requests/parts-of.js';
import { type CheckedRecord, lacksDirection, requireSameShape } from '../../store/checks.js';
import { candidatesPerResult, keepMatching, nearestMatching, readPage } from '../../store/paging.js';
import type { NearestSearch, OpenIndex, TermSearch } from '../../store/record-store.js';
import { RemoteIndex } from '../remote-store.js';
import type { FoundRecord } from '../../store/search.js';
import type {
  IndexDescription,
  IndexParams,
  VectorPage,
  ListVectorsParams,
  VectorMetadata,
  VectorMetric,
  VectorRecord,
  VersionParams,
} from '../../store/vector-store.js';
import { queryTerms, recordTerms } from '../../words/record-terms.js';
import { languageOfAnalyzer } from '../../words/term-analyzer.js';
import { isStorableText, SqlParameters } from '../sql-filter.js';
import { buildIndex, type PgIndexConfig } from './build-index.js';
import type { SqlDatabase, SqlQuery, SqlRow } from './database.js';
import { changeDerived } from './derived-table.js';
import type { FilterSelectivity } from './filter-selectivity.js';
import { filterToSql } from './filter-to-sql.js';
import {
  castToStored,
  countRows,
  type ExistingIndex,
  indexChanged,
  type PgIndexElements,
  type PgIndexType,
  type PgVectorType,
  tableOid,
  wordsColumn,
} from './pg-index.js';
import { approximateSql, exactSql, keywordSql, type PgQueryParams, searchSettings } from './search.js';

const rowsPerStatement = 1000;
/** A statement is one message. */
const sizePerStatement = 8_000_000;
/** Long statements on large tables must not time out. */
export const noTimeout = 'SET LOCAL statement_timeout = 0';

/** Result of `describeIndex()` of `PgVector`. */
export interface PgIndexDescription extends IndexDescription {
  type: PgIndexType;
  vectorType: PgVectorType;
  config: Readonly<Record<string, number>>;
  /** Type of the numbers in the index; absent without an index. `bit`: one bit each. */
  elements?: PgIndexElements;
  /** The language of keyword search: a code, or `auto`. */
  language: string;
}

/** What the open indexes of a store have in common. */
export interface PgContext {
  readonly schemaName: string;
  readonly selectivity: FilterSelectivity;
}

/** The records of an index, open for one call. */
export class PgRecords extends RemoteIndex<SqlDatabase, ExistingIndex> implements OpenIndex<PgQueryParams> {
  readonly query: SqlQuery;
  readonly #context: PgContext;
  /** Of rows that a change reads. */
  readonly #lock: string;

  /** @param transaction - runs the statements of a change */
  constructor(
    database: SqlDatabase,
    index: ExistingIndex,
    params: IndexParams,
    context: PgContext,
    transaction?: SqlQuery,
  ) {
    super(database, index, params);
    this.#context = context;
    this.#lock = transaction ? ' FOR UPDATE' : '';
    this.query = transaction ?? ((sql, values) => database.query(sql, values, params.signal));
  }

  count(): Promise<number> {
    return countRows(this.query, this.index);
  }

  async describe(): Promise<PgIndexDescription> {
    const { dimension, metric, type, vectorType, elements, config, analyzer } = this.index;
    const language = languageOfAnalyzer(analyzer);
    const count = await this.count();
    return { dimension, metric, count, type, vectorType, config, language, ...(elements && { elements }) };
  }

  /** @throws `VECTOR_INDEX_CHANGED` when rows are from a recreated table, whose metric and language may be others */
  async #read(sql: string, values: readonly unknown[]): Promise<SqlRow[]> {
    const rows = await this.query(sql, values);
    if ((rows[0]?.['table_oid'] ?? this.index.oid) !== this.index.oid) throw indexChanged(this.name);
    return rows;
  }

  #columns(includeVector: boolean): string[] {
    const vector = includeVector ? ['embedding::text AS vector'] : [];
    return ['metadata', 'document', ...vector, tableOid(this.index)];
  }

  async read(ids: readonly string[], includeVector: boolean): Promise<VectorRecord[]> {
    const rows = await this.#read(
      `SELECT id, ${this.#columns(includeVector).join(', ')} FROM ${this.index.table} WHERE id = ANY ($1::text[])${this.#lock}`,
      [ids.filter(isStorableText)],
    );
    return rows.map(toRecord);
  }

  async select(filter: Filter | undefined): Promise<string[]> {
    const parameters = new SqlParameters();
    const { sql: where, rest } = filterToSql(filter, parameters);
    const rows = await this.query(
      `SELECT id${rest ? ', metadata' : ''} FROM ${this.index.table} WHERE ${where} ORDER BY id${this.#lock}`,
      parameters.values,
    );
    return keepMatching(rows, createFilterTest(rest)).map(({ id }) => String(id));
  }

  async listVectors(params: ListVectorsParams, filter: Filter | undefined): Promise<VectorPage> {
    const parameters = new SqlParameters();
    const { sql: where, rest } = filterToSql(filter, parameters);
    const select = `SELECT id, ${this.#columns(params.includeVector ?? false).join(', ')} FROM ${this.index.table} WHERE ${where}`;
    return readPage(params, rest, async (after, limit) => {
      const start = after === undefined ? '' : ` AND id > $${parameters.values.length + 1}::text`;
      const values = after === undefined ? parameters.values : [...parameters.values, after];
      return (await this.query(`${select}${start} ORDER BY id LIMIT ${limit}`, values)).map(toRecord);
    });
  }

  /**
   * Reads which rows match a condition, and which transaction wrote each: every committed change gives another version. The rows are read
   * once, without their vectors where these are stored apart; at most `maxRecords` and one.
   *
   * @returns `undefined` when more than `maxRecords` match
   * @see [System columns](https://www.postgresql.org/docs/current/ddl-system-columns.html)
   */
  async version({ filter, maxRecords = Infinity }: VersionParams): Promise<string | undefined> {
    const parameters = new SqlParameters();
    // A superset of the matching rows has another version as well when one of them changes.
    const { sql: where } = filterToSql(toFilter(filter), parameters);
    const limit = maxRecords === Infinity ? '' : ` LIMIT ${maxRecords + 1}`;
    const [row] = await this.query(
      `SELECT pg_catalog.count(*)::float8 AS count, COALESCE(pg_catalog.sum(pg_catalog.hashtextextended(r.id, r.writer)), 0)::text AS writers
       FROM (SELECT id, xmin::text::bigint AS writer FROM ${this.index.table} WHERE ${where}${limit}) r`,
      parameters.values,
    );
    const count = Number(row?.['count']);
    return count > maxRecords ? undefined : `${count}-${String(row?.['writers'])}`;
  }

  async nearest(
    { vector: values, limit, includeVector, filter }: NearestSearch,
    params: PgQueryParams,
  ): Promise<FoundRecord[]> {
    const { index, query } = this;
    // Checks the options of the query also where the index is not used.
    const settings = searchSettings(index, params, { hasFilter: filter !== undefined, wanted: limit });
    const parameters = new SqlParameters();
    const vector = parameters.addValue(this.client.toVectorValue(values));
    const { sql: where, rest } = filterToSql(filter, parameters);
    const nearest = { index, vector, columns: this.#columns(includeVector), where };
    // Vectors of zeros have no cosine similarity, so an index does not contain them.
    const hasDirection = index.metric !== 'cosine' || !lacksDirection(values);
    const hasUsableIndex =
      index.type !== 'flat' &&
      params.exact !== true &&
      hasDirection &&
      (filter === undefined || index.extension.scansOn);
    const isSelective =
      hasUsableIndex &&
      index.type === 'hnsw' &&
      filter &&
      (await this.#context.selectivity({ query, index, filter, wanted: limit }));
    if (hasUsableIndex && !isSelective) {
      const candidates = rest ? limit * candidatesPerResult : limit;
      const seen = await this.#read(approximateSql({ ...nearest, limit: candidates, settings }), parameters.values);
      const found = keepMatching(seen, createFilterTest(rest)).slice(0, limit);
      if (found.length === limit) return found.map((row) => toFound(row, index.metric));
    }
    const find = async (size: number): Promise<FoundRecord[]> =>
      (await this.#read(exactSql({ ...nearest, limit: size }), parameters.values)).map((row) =>
        toFound(row, index.metric),
      );
    return nearestMatching({ wanted: limit, filter: rest, find, isExact: true });
  }

  async byTerms({ queryText, limit, includeVector, filter }: TermSearch): Promise<FoundRecord[]> {
    const parameters = new SqlParameters();
    const weighted = (await queryTerms(this.index.analyzer, queryText)).filter(([term]) => isLexeme(term));
    const [lexemes, weights] = [0, 1].map((part) => parameters.addValue(weighted.map((pair) => pair[part])));
    const terms = `unnest(${lexemes}::text[], ${weights}::float8[])`;
    const { sql: where, rest } = filterToSql(filter, parameters);
    const columns = this.#columns(includeVector).slice(0, -1);
    const find = async (size: number): Promise<FoundRecord[]> => {
      const rows = await this.#read(keywordSql(this.index, terms, { columns, where, limit: size }), parameters.values);
      const found = rows.filter(({ id }) => id !== null);
      return found.map((row) => ({ record: toRecord(row), similarity: row['score'] as number }));
    };
    return nearestMatching({ wanted: limit, filter: rest, find, isExact: true });
  }

  /** @throws `OPTIONS_INVALID` before anything is stored */
  async write(records: readonly CheckedRecord[]): Promise<void> {
    const { table, extension, analyzer } = this.index;
    const sql = `INSERT INTO ${table} (id, embedding, metadata, document, ${wordsColumn})
      SELECT r.id, r.embedding${castToStored(this.index)}, r.metadata::jsonb, r.document, r.terms::tsvector
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
      await this.query(sql, [
        part.map(({ id }) => id),
        this.client.toVectorsValue(vectors, extension.vectorOid),
        part.map(({ metadata }) => metadata),
        part.map(({ document = null }) => document),
        (await recordTerms(analyzer, withMetadata)).map(toTsvector),
      ]);
    }
  }

  /** Derived data may contain parts of the records, and become empty if one was there. */
  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const [found] = await this.query(
      `WITH deleted AS (DELETE FROM ${this.index.table} WHERE id = ANY ($1::text[]) RETURNING 1) SELECT 1 AS found FROM deleted LIMIT 1`,
      [ids.filter(isStorableText)],
    );
    if (found) await this.#changeDerived('UPDATE');
  }

  async clear(): Promise<void> {
    await this.query(`TRUNCATE ${this.index.table}`);
    await this.#changeDerived('UPDATE');
  }

  async drop(): Promise<void> {
    await this.query(noTimeout);
    await this.query(`DROP TABLE ${this.index.table}`);
    await this.#changeDerived('DELETE');
  }

  #changeDerived(change: 'DELETE' | 'UPDATE'): Promise<void> {
    return changeDerived(this.query, change, this.#context.schemaName, this.name);
  }

  async build(indexConfig: PgIndexConfig | undefined, metric: VectorMetric | undefined): Promise<void> {
    await this.query(noTimeout);
    const { dimension } = this;
    if (metric !== undefined) requireSameShape(this.name, this, { dimension, metric });
    const target = { indexName: this.name, schemaName: this.#context.schemaName };
    await buildIndex(this.query, this.index, { ...target, ...(indexConfig && { indexConfig }) });
  }
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

function toRecord({ id, metadata, document, vector }: SqlRow): VectorRecord {
  return {
    id: id as string,
    metadata: metadata as VectorMetadata,
    ...(typeof document === 'string' && { document }),
    ...(typeof vector === 'string' && { vector: Array.from(Float32Array.from(JSON.parse(vector) as number[])) }),
  };
}

/** Converts a row. A vector of zeros has no direction: its distance is NaN, and its cosine similarity is 0. */
function toFound(row: SqlRow, metric: VectorMetric): FoundRecord {
  const distance = (row['distance'] ?? Number.NaN) as number;
  const cosine = Number.isNaN(distance) ? 0 : 1 - distance;
  const similarity = metric === 'cosine' ? cosine : metric === 'euclidean' ? -(distance * distance) : -distance;
  return { record: toRecord(row), similarity };
}

/** Limits of a `tsvector`: bytes of a lexeme, and the largest position. */
const longestLexeme = 2046;
const largestPosition = 16_383;

/** Returns a `tsvector` in text form, which PostgreSQL stores unchanged. */
function toTsvector(terms: readonly string[]): string {
  const positions = new Map<string, number[]>();
  for (const [place, term] of terms.entries()) {
    if (!isLexeme(term)) continue;
    const position = Math.min(place + 1, largestPosition);
    const list = positions.get(term);
    if (list) list.push(position);
    else positions.set(term, [position]);
  }
  // Names such as “o'reilly#” contain an apostrophe.
  return Array.from(positions, ([term, list]) => `'${term.replaceAll("'", "''")}':${list.join(',')}`).join(' ');
}

function isLexeme(term: string): boolean {
  return term.length * 3 <= longestLexeme || Buffer.byteLength(term) <= longestLexeme;
}
