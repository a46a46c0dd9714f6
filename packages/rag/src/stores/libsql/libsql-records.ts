import { createFilterTest, type Filter, toFilter } from '../../filter/index.js';
import { partsOf } from '../../requests/parts-of.js';
import { type CheckedRecord, requireUnicode } from '../../store/checks.js';
import { keepMatching, nearestMatching, readPage } from '../../store/paging.js';
import type { NearestSearch, OpenIndex, TermSearch } from '../../store/record-store.js';
import { RemoteIndex } from '../remote-store.js';
import type { FoundRecord } from '../../store/search.js';
import type {
  VectorPage,
  ListVectorsParams,
  VectorMetadata,
  VectorRecord,
  VersionParams,
} from '../../store/vector-store.js';
import { plainQueryTerms, recordTerms } from '../../words/record-terms.js';
import { isStorableText, SqlParameters } from '../sql-filter.js';
import { filterToSqlite } from './filter-to-sqlite.js';
import type { LibSQLDatabase, LibSQLRow, LibSQLStatement } from './libsql-database.js';
import {
  dropIndex,
  emptyDerived,
  frequenciesTable,
  type LibSQLIndex,
  nextVersion,
  readVersionNumber,
  recordsTable,
  statement,
  termsTable,
} from './libsql-index.js';

const rowsPerStatement = 500;
/** A statement is one message to a server. */
const sizePerStatement = 8_000_000;

/** The constant of BM25 for the saturation of repeated terms, as in FTS5. */
const k1 = 1.2;
/** FTS5 gives this weight to terms that more than half of the texts have. */
const smallestWeight = 1e-6;
/** FTS5 looks at every term of the query for every text that has one of them. */
const mostTerms = 500;

/** The records of an index, open for one call. */
export class LibSQLRecords extends RemoteIndex<LibSQLDatabase, LibSQLIndex> implements OpenIndex {
  readonly #table: string;
  /** Reads the version of the index before the records that a change depends on: it fails, and is repeated, if another one comes in between. */
  readonly #beforeRead: () => Promise<void>;
  #version: number | undefined;

  constructor(database: LibSQLDatabase, index: LibSQLIndex, { isChange = false }: { isChange?: boolean } = {}) {
    super(database, index, { indexName: index.name });
    this.#table = recordsTable(index);
    this.#beforeRead = async () => {
      if (isChange) this.#version ??= await readVersionNumber(database, index);
    };
  }

  async count(): Promise<number> {
    const [row] = await this.client.query(`SELECT count(*) AS count FROM ${this.#table}`);
    return Number(row?.['count']);
  }

  async read(ids: readonly string[], includeVector: boolean): Promise<VectorRecord[]> {
    await this.#beforeRead();
    const rows = await this.client.query(
      `SELECT ${recordColumns(includeVector)} FROM ${this.#table} WHERE id IN (SELECT value FROM json_each(?1))`,
      [JSON.stringify(ids.filter(isStorableText))],
    );
    return rows.map(toRecord);
  }

  async select(filter: Filter | undefined): Promise<string[]> {
    await this.#beforeRead();
    const parameters = new SqlParameters('?');
    const { sql: where, rest } = filterToSqlite(filter, parameters);
    const rows = await this.client.query(
      `SELECT id, ${rest ? 'json(metadata)' : `'{}'`} AS metadata FROM ${this.#table} WHERE ${where} ORDER BY id`,
      parameters.values,
    );
    return keepMatching(rows.map(toRecord), createFilterTest(rest)).map(({ id }) => id);
  }

  async listVectors(params: ListVectorsParams, filter: Filter | undefined): Promise<VectorPage> {
    const parameters = new SqlParameters('?');
    const { sql: where, rest } = filterToSqlite(filter, parameters);
    const select = `SELECT ${recordColumns(params.includeVector ?? false)} FROM ${this.#table} WHERE ${where}`;
    return readPage(params, rest, async (after, limit) => {
      const start = after === undefined ? '' : ` AND id > ?${parameters.values.length + 1}`;
      const values = after === undefined ? parameters.values : [...parameters.values, after];
      return (await this.client.query(`${select}${start} ORDER BY id LIMIT ${limit}`, values)).map(toRecord);
    });
  }

  /**
   * Returns the version of the records that match a filter: their number, and the last change of one of them.
   *
   * @returns `undefined` when more than `maxRecords` match
   */
  async version({ filter, maxRecords = Infinity }: VersionParams): Promise<string | undefined> {
    const parameters = new SqlParameters('?');
    // A superset of the matching records has another version as well when one of them changes.
    const { sql: where } = filterToSqlite(toFilter(filter), parameters);
    const limit = maxRecords === Infinity ? '' : ` LIMIT ${maxRecords + 1}`;
    const [row] = await this.client.query(
      `SELECT count(*) AS count, COALESCE(max(version), 0) AS version FROM (SELECT version FROM ${this.#table} WHERE ${where}${limit})`,
      parameters.values,
    );
    const count = Number(row?.['count']);
    return count > maxRecords ? undefined : `${this.index.key}-${count}-${Number(row?.['version'])}`;
  }

  /** Compares all vectors that match the filter. */
  async nearest({ vector, limit, includeVector, filter }: NearestSearch): Promise<FoundRecord[]> {
    const parameters = new SqlParameters('?');
    const distance = this.#distanceSql(vector, parameters);
    const { sql: where, rest } = filterToSqlite(filter, parameters);
    const table = this.#table;
    // The other columns are read only for the best records.
    const find = async (size: number): Promise<FoundRecord[]> => {
      const rows = await this.client.query(
        `SELECT ${recordColumns(includeVector)}, distance FROM (
           SELECT number AS found, ${distance} AS distance FROM ${table} WHERE ${where} ORDER BY distance, id LIMIT ${size}
         ) JOIN ${table} ON number = found ORDER BY distance, id`,
        parameters.values,
      );
      return rows.map((row) => ({ record: toRecord(row), similarity: this.#similarity(Number(row['distance'])) }));
    };
    return nearestMatching({ wanted: limit, filter: rest, find, isExact: true });
  }

  #similarity(distance: number): number {
    if (this.metric === 'cosine') return 1 - distance;
    return this.metric === 'euclidean' ? -(distance * distance) : -distance;
  }

  /** An expression that is smaller for better records. Vectors of zeros have the cosine similarity 0, and libSQL gives NULL. */
  #distanceSql(vector: Float32Array, parameters: SqlParameters): string {
    const query = parameters.addValue(toBytes([vector]));
    if (this.metric === 'euclidean') return `COALESCE(vector_distance_l2(embedding, ${query}), 9e999)`;
    const cosine = `COALESCE(vector_distance_cos(embedding, ${query}), 1)`;
    return this.metric === 'cosine' ? cosine : `(${cosine} - 1) * length * ${parameters.addValue(lengthOf(vector))}`;
  }

  /**
   * Records that share a term with the query (its first 500 different ones), ordered by `bm25()` of FTS5. The score is the share of the largest sum that any text
   * could reach.
   *
   * @see [The bm25() function](https://www.sqlite.org/fts5.html#the_bm25_function)
   */
  async byTerms({ queryText, limit, includeVector, filter }: TermSearch): Promise<FoundRecord[]> {
    const { index } = this;
    const wanted = (await plainQueryTerms(index.analyzer, queryText)).slice(0, mostTerms);
    if (wanted.length === 0) return [];
    const table = this.#table;
    const terms = termsTable(index);
    const parameters = new SqlParameters('?');
    // Quoted, a term is never an operator of the query language.
    const query = parameters.addValue(wanted.map((term) => `"${term.replaceAll('"', '""')}"`).join(' OR '));
    const { sql: where, rest } = filterToSqlite(filter, parameters);
    const find = async (size: number): Promise<FoundRecord[]> => {
      const [found = [], counts = [], frequencies = []] = await this.client.queryAll([
        statement(
          `SELECT ${recordColumns(includeVector)}, relevance FROM (
             SELECT number AS found, -bm25(${terms}) AS relevance FROM ${terms} JOIN ${table} ON number = ${terms}.rowid
             WHERE ${terms} MATCH ${query} AND ${where} ORDER BY relevance DESC, id LIMIT ${size}
           ) JOIN ${table} ON number = found ORDER BY relevance DESC, id`,
          ...(parameters.values as string[]),
        ),
        statement(`SELECT count(*) AS count FROM ${table}`),
        statement(
          `SELECT term, doc FROM ${frequenciesTable(index)} WHERE term IN (SELECT value FROM json_each(?1))`,
          JSON.stringify(wanted),
        ),
      ]);
      const count = Number(counts[0]?.['count']);
      const largest = frequencies.reduce((sum, { doc }) => sum + termWeight(count, Number(doc)) * (k1 + 1), 0);
      return found.map((row) => ({ record: toRecord(row), similarity: Number(row['relevance']) / largest }));
    };
    return nearestMatching({ wanted: limit, filter: rest, find, isExact: true });
  }

  /** @throws `OPTIONS_INVALID` for text that SQLite cannot store */
  async write(records: readonly CheckedRecord[]): Promise<void> {
    await this.client.write(await writeStatements(this.index, records, this.#version));
  }

  /** Derived data becomes empty if a record was there. */
  remove(ids: readonly string[]): Promise<void> {
    const list = JSON.stringify(ids.filter(isStorableText));
    const where = 'WHERE id IN (SELECT value FROM json_each(?1))';
    return this.client.write([
      nextVersion(this.index, this.#version),
      statement(
        `DELETE FROM ${termsTable(this.index)} WHERE rowid IN (SELECT number FROM ${this.#table} ${where})`,
        list,
      ),
      statement(`DELETE FROM ${this.#table} ${where}`, list),
      emptyDerived(this.index),
    ]);
  }

  clear(): Promise<void> {
    const terms = termsTable(this.index);
    return this.client.write([
      nextVersion(this.index),
      statement(`INSERT INTO ${terms} (${terms}) VALUES ('delete-all')`),
      statement(`DELETE FROM ${this.#table}`),
      emptyDerived(this.index),
    ]);
  }

  drop(): Promise<void> {
    return this.client.write(dropIndex(this.index));
  }
}

function termWeight(count: number, frequency: number): number {
  return Math.max(smallestWeight, Math.log((count - frequency + 0.5) / (frequency + 0.5)));
}

/** @param read - see `nextVersion` */
async function writeStatements(
  index: LibSQLIndex,
  records: readonly CheckedRecord[],
  read?: number,
): Promise<LibSQLStatement[]> {
  const storable = { isText: isStorableText, others: 'a NUL character or half of a surrogate pair' };
  for (const record of records) requireUnicode(record, 'libSQL', storable);
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

function lengthOf(vector: Float32Array): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
}

/** Vectors as libSQL stores them: numbers of 32 bits, one after the other, the least significant byte first. */
function toBytes(vectors: readonly Float32Array[]): Uint8Array {
  const [first] = vectors;
  const width = 4 * (first?.length ?? 0);
  const bytes = new Uint8Array(width * vectors.length);
  for (const [at, { buffer, byteOffset, byteLength }] of vectors.entries())
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at * width);
  return bytes;
}

/** Columns of a record; `vector` when requested. */
function recordColumns(includeVector: boolean): string {
  return `id, json(metadata) AS metadata, document${includeVector ? ', embedding AS vector' : ''}`;
}

function toRecord({ id, metadata, document, vector }: LibSQLRow): VectorRecord {
  return {
    id: id as string,
    metadata: JSON.parse(metadata as string) as VectorMetadata,
    ...(typeof document === 'string' && { document }),
    ...(vector instanceof ArrayBuffer && { vector: Array.from(new Float32Array(vector)) }),
  };
}
