import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import { toSql } from 'pgvector';
import { evaluateFilter, parseFilter, type Filter } from '../../filter/index.js';
import {
  checkUpsert,
  indexNotFound,
  invalidArgument,
  requireTopK,
  toPlainMetadata,
  toVector,
} from '../../store/check-arguments.js';
import { requireIndexName } from '../../store/index-name.js';
import { requireIndexShape } from '../../store/index-options.js';
import type { VectorSearch } from '../../store/parse-search.js';
import { requireFilter } from '../../store/require-filter.js';
import { runSearch } from '../../store/run-search.js';
import type {
  DeleteVectorsParams,
  GetParams,
  IndexDescription,
  ScanPage,
  ScanParams,
  UpdateVectorParams,
  UpsertParams,
  VectorFilter,
  VectorMatch,
  VectorRecord,
  VectorStore,
  VectorStoreCapabilities,
} from '../../store/vector-store.js';
import { buildIndex, createIndex, type PgCreateIndexParams, type PgIndexConfig } from './create-index.js';
import { filterToSql, type SqlCondition } from './filter-to-sql.js';
import { candidatesPerResult, nearestSql } from './nearest-sql.js';
import { openDatabase, requireConnection, type PgConnectionOptions } from './open-database.js';
import {
  listIndexNames,
  readExtension,
  readIndex,
  type OpenIndex,
  type PgIndex,
  type PgIndexType,
  type PgVectorType,
} from './pg-index.js';
import { requireStorable, toBatches, toColumns, toMatch, toRecord, upsertSql } from './pg-rows.js';
import { searchSettings, type PgQueryParams } from './search-settings.js';
import type { SqlDatabase, SqlQuery, SqlRow } from './sql-database.js';
import { isStorableText, requireSchemaName, SqlParameters } from './sql-text.js';

export interface PgVectorConfig extends PgConnectionOptions {
  /** For your own records. */
  id?: string;
  /** One for each tenant keeps tenants apart. Created together with its first index. Default `public`. */
  schemaName?: string;
}

export interface PgIndexDescription extends IndexDescription {
  type: PgIndexType;
  vectorType: PgVectorType;
  config: Readonly<Record<string, number>>;
}

/** With `_vector_idx` behind it, a name is still within PostgreSQL's 63 bytes. */
const longestIndexName = 52;

/**
 * A vector store in PostgreSQL with pgvector: on a pool of yours, a connection string, or PGlite.
 *
 * A query goes through the index (HNSW by default), which may miss some of the nearest vectors; `exact: true` compares all. When
 * the index finds fewer than `topK` rows, because of a filter for example, all are compared. Above 2,000 dimensions the index
 * holds 16-bit numbers, above 4,000 there is none. Reading needs no right but to read.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `VECTOR_ARGUMENT_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`, `FILTER_NOT_SUPPORTED`; `VECTOR_STORE_FAILED` with the error of the database as cause and its SQLSTATE in
 *   `details`; `VECTOR_EXTENSION_MISSING` without pgvector; `VECTOR_CLIENT_MISSING` without `pg`
 * @example
 * const store = new PgVector({ connectionString: 'postgres://localhost/app', schemaName: 'tenant_a' });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class PgVector implements VectorStore, AsyncDisposable {
  readonly databaseConfigKey = 'pgvector';
  readonly capabilities: VectorStoreCapabilities<'vector'> = { modes: ['vector'] };
  readonly id: string;
  readonly #config: PgVectorConfig;
  readonly #schemaName: string;
  #database: Promise<SqlDatabase> | undefined;
  /** Saves each call the question for the dimension. */
  readonly #indexes = new Map<string, Promise<OpenIndex>>();

  constructor(config: PgVectorConfig) {
    const { id = 'pg-vector', schemaName = 'public', ...connection } = config;
    requireSchemaName(schemaName);
    requireConnection(connection);
    this.id = id;
    this.#schemaName = schemaName;
    this.#config = connection;
  }

  async createIndex(params: PgCreateIndexParams): Promise<void> {
    const { indexName, dimension, metric = 'cosine' } = params;
    requireIndexName(indexName, longestIndexName);
    requireIndexShape({ dimension, metric });
    await this.#run(`creating the index '${indexName}'`, (database) =>
      database.transaction((query) => createIndex(query, { ...params, schemaName: this.#schemaName })),
    );
    this.#indexes.delete(indexName);
  }

  /** Builds the index that queries go through anew; rows may be read meanwhile, not written. */
  async buildIndex({ indexName, indexConfig }: { indexName: string; indexConfig?: PgIndexConfig }): Promise<void> {
    const index = await this.#require(indexName);
    const target = { indexName, schemaName: this.#schemaName, ...(indexConfig && { indexConfig }) };
    await this.#run(`building the index '${indexName}'`, (database) =>
      database.transaction((query) => buildIndex(query, index, target), ['SET LOCAL statement_timeout = 0']),
    );
    this.#indexes.delete(indexName);
  }

  async upsert(params: UpsertParams): Promise<string[]> {
    const index = await this.#require(params.indexName);
    const { ids, records } = checkUpsert(params, index.dimension);
    for (const record of records) requireStorable(record);
    if (records.length === 0) return ids;
    // In one order everywhere, so that two calls at once never wait for each other in a circle.
    const sorted = records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    await this.#change(params.indexName, async (query) => {
      for (const batch of toBatches(sorted)) await query(upsertSql(index), toColumns(batch));
    });
    return ids;
  }

  async query(params: PgQueryParams): Promise<VectorMatch[]> {
    return runSearch(params, { name: 'PgVector', capabilities: this.capabilities }, (search) =>
      this.#nearest(params, search),
    );
  }

  async #nearest(
    params: PgQueryParams,
    { queryVector, limit: wanted, includeVector }: VectorSearch,
  ): Promise<VectorMatch[]> {
    const { indexName, minScore } = params;
    if (minScore !== undefined && !Number.isFinite(minScore))
      throw invalidArgument(`minScore must be a number, not ${String(minScore)}.`);
    const index = await this.#require(indexName);
    const vector = toVector(queryVector, index.dimension, 'The query vector');
    const filter = toFilter(params.filter);
    const parameters = new SqlParameters();
    const place = parameters.add(toSql([...vector]) as string);
    const condition = toCondition(filter, parameters);
    const settings = searchSettings(index, params, wanted);
    const search = async (exact: boolean, limit: number, offset: number): Promise<SqlRow[]> => {
      const sql = nearestSql({
        index,
        extension: index.extension,
        vector: place,
        where: condition.sql,
        limit,
        offset,
        includeVector,
        exact,
      });
      return this.#run(`querying the index '${indexName}'`, (database) =>
        exact || settings.length === 0
          ? database.query(sql, parameters.values)
          : database.transaction((query) => query(sql, parameters.values), settings),
      );
    };
    // Between vectors of zeros and others there is no angle, so an index does not hold them.
    const hasDirection = index.metric !== 'cosine' || vector.some((value) => value !== 0);
    const canUseIndex = index.type !== 'flat' && params.exact !== true && hasDirection;
    const trustsIndex = canUseIndex && (filter === undefined || index.extension.scansOn);
    let rows: SqlRow[] = [];
    if (trustsIndex) {
      const candidates = condition.exact ? wanted : wanted * candidatesPerResult;
      // One more tells whether the last place is shared, which only all rows can settle.
      const found = keepMatching(await search(false, candidates + 1, 0), filter, condition);
      const isShared = found.length > wanted && found[wanted]?.['distance'] === found[wanted - 1]?.['distance'];
      if (!isShared) rows = found.slice(0, wanted);
    }
    if (rows.length < wanted) rows = await searchExactly(search, filter, condition, wanted);
    return rows.map((row) => toMatch(index, row)).filter(({ score }) => minScore === undefined || score > minScore);
  }

  async get({ indexName, ids, includeVector = false }: GetParams): Promise<VectorRecord[]> {
    await this.#require(indexName);
    const rows = await this.#read(indexName, includeVector, `WHERE id = ANY ($1::text[])`, [
      ids.filter(isStorableText),
    ]);
    const records = new Map(rows.map((row) => [row['id'], toRecord(row)]));
    return ids.flatMap((id) => records.get(id) ?? []);
  }

  async updateVector({ indexName, id, filter, update }: UpdateVectorParams): Promise<void> {
    const index = await this.#require(indexName);
    const vector = update.vector && toVector(update.vector, index.dimension, 'The new vector');
    const metadata = update.metadata && toPlainMetadata(update.metadata, id ?? 'records');
    requireStorable({ id: id ?? '', metadata: metadata ?? {}, document: update.document ?? '' });
    await this.#change(indexName, async (query) => {
      const ids = id === undefined ? await this.#select(query, index, requireFilter(filter)) : [id];
      const updated = await query(
        `UPDATE ${index.table} SET embedding = COALESCE($2::text::${index.extension.schema}.${index.vectorType}, embedding), metadata = COALESCE($3::text::jsonb, metadata), document = COALESCE($4::text, document) WHERE id = ANY ($1::text[]) RETURNING id`,
        [ids, vector ? toSql([...vector]) : null, metadata ? JSON.stringify(metadata) : null, update.document ?? null],
      );
      if (id !== undefined && updated.length === 0)
        throw invalidArgument(`The index '${indexName}' has no record '${id}' to update.`);
    });
  }

  async deleteVector({ indexName, id }: { indexName: string; id: string }): Promise<void> {
    await this.deleteVectors({ indexName, ids: [id] });
  }

  async deleteVectors({ indexName, ids, filter }: DeleteVectorsParams): Promise<void> {
    if (ids !== undefined && filter !== undefined)
      throw invalidArgument('deleteVectors takes ids or a filter, not both.');
    const index = await this.#require(indexName);
    await this.#change(indexName, async (query) => {
      const chosen = ids?.filter(isStorableText) ?? (await this.#select(query, index, requireFilter(filter)));
      if (chosen.length > 0) await query(`DELETE FROM ${index.table} WHERE id = ANY ($1::text[])`, [chosen]);
    });
  }

  async scan({ indexName, cursor, limit = 1000, filter, includeVector = false }: ScanParams): Promise<ScanPage> {
    await this.#require(indexName);
    const size = requireTopK(limit);
    const parsed = toFilter(filter);
    const found: SqlRow[] = [];
    let after = cursor;
    let isLast = false;
    while (found.length <= size && !isLast) {
      const parameters = new SqlParameters();
      const condition = toCondition(parsed, parameters);
      const start = after === undefined ? '' : ` AND id > ${parameters.add(after)}::text`;
      const rows = await this.#read(
        indexName,
        includeVector,
        `WHERE ${condition.sql}${start} ORDER BY id LIMIT ${size + 1}`,
        parameters.values,
      );
      isLast = rows.length <= size;
      after = rows.at(-1)?.['id'] as string | undefined;
      found.push(...keepMatching(rows, parsed, condition));
    }
    const records = found.slice(0, size).map(toRecord);
    const last = records.at(-1);
    return { records, ...(last && found.length > size && { nextCursor: last.id }) };
  }

  async listIndexes(): Promise<string[]> {
    return this.#run('listing indexes', (database) => listIndexNames(database.query, this.#schemaName));
  }

  async describeIndex({ indexName }: { indexName: string }): Promise<PgIndexDescription> {
    const { table, dimension, metric, type, vectorType, config } = await this.#require(indexName);
    const [row] = await this.#run(`describing the index '${indexName}'`, (database) =>
      database.query(`SELECT count(*)::int AS count FROM ${table}`),
    );
    return { dimension, metric, count: row?.['count'] as number, type, vectorType, config };
  }

  async truncateIndex({ indexName }: { indexName: string }): Promise<void> {
    const { table } = await this.#require(indexName);
    await this.#change(indexName, (query) => query(`TRUNCATE ${table}`));
  }

  async deleteIndex({ indexName }: { indexName: string }): Promise<void> {
    const { table } = await this.#require(indexName);
    await this.#change(indexName, (query) => query(`DROP TABLE ${table}`));
    this.#indexes.delete(indexName);
  }

  /** Ends the pool if the store made it. The store can be used again afterwards. */
  async close(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    this.#indexes.clear();
    await (await database)?.close();
  }

  /** The same as `close()`. */
  async disconnect(): Promise<void> {
    await this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #require(indexName: string): Promise<OpenIndex> {
    requireIndexName(indexName, longestIndexName);
    let index = this.#indexes.get(indexName);
    if (!index) {
      index = this.#readIndex(indexName);
      this.#indexes.set(indexName, index);
      index.catch(() => this.#indexes.delete(indexName));
    }
    return index;
  }

  async #readIndex(indexName: string): Promise<OpenIndex> {
    return this.#run(`looking up the index '${indexName}'`, async ({ query }) => {
      const index = await readIndex(query, this.#schemaName, indexName);
      const extension = index && (await readExtension(query));
      if (!extension) throw indexNotFound(indexName, await listIndexNames(query, this.#schemaName));
      return { ...index, extension };
    });
  }

  async #read(indexName: string, includeVector: boolean, rest: string, values: unknown[]): Promise<SqlRow[]> {
    const { table } = await this.#require(indexName);
    const vector = includeVector ? ', embedding::text AS vector' : '';
    return this.#run(`reading the index '${indexName}'`, (database) =>
      database.query(`SELECT id, metadata, document${vector} FROM ${table} ${rest}`, values),
    );
  }

  /** Ids of all records that pass a filter, locked until the transaction ends. */
  async #select(query: SqlQuery, { table }: PgIndex, filter: VectorFilter): Promise<string[]> {
    const parameters = new SqlParameters();
    const parsed = toFilter(filter);
    const condition = toCondition(parsed, parameters);
    const rows = await query(
      `SELECT id, metadata FROM ${table} WHERE ${condition.sql} ORDER BY id FOR UPDATE`,
      parameters.values,
    );
    return keepMatching(rows, parsed, condition).map(({ id }) => String(id));
  }

  async #change(indexName: string, change: (query: SqlQuery) => Promise<unknown>): Promise<void> {
    await this.#run(`changing the index '${indexName}'`, (database) => database.transaction(change));
  }

  /** The way to the database: errors become ours, and what was remembered of an index that changed is forgotten. */
  async #run<Result>(what: string, work: (database: SqlDatabase) => Promise<Result>): Promise<Result> {
    this.#database ??= openDatabase(this.#config);
    try {
      return await work(await this.#database);
    } catch (error) {
      if (isQuiverError(error)) throw error;
      this.#indexes.clear();
      const sqlState = (error as { code?: unknown } | null)?.code;
      throw new QuiverError('VECTOR_STORE_FAILED', `PostgreSQL failed at ${what}: ${toErrorMessage(error)}`, {
        cause: error,
        ...(typeof sqlState === 'string' && { details: { sqlState } }),
      });
    }
  }
}

function toFilter(filter: VectorFilter): Filter | undefined {
  return filter === undefined || filter === null ? undefined : parseFilter(filter);
}

function toCondition(filter: Filter | undefined, parameters: SqlParameters): SqlCondition {
  return filter ? filterToSql(filter, parameters) : { sql: 'TRUE', exact: true };
}

function keepMatching(rows: SqlRow[], filter: Filter | undefined, { exact }: SqlCondition): SqlRow[] {
  return filter && !exact ? rows.filter(({ metadata }) => evaluateFilter(filter, metadata)) : rows;
}

/** Page by page, where the condition lets too much through. */
async function searchExactly(
  search: (exact: boolean, limit: number, offset: number) => Promise<SqlRow[]>,
  filter: Filter | undefined,
  condition: SqlCondition,
  wanted: number,
): Promise<SqlRow[]> {
  if (condition.exact) return search(true, wanted, 0);
  const found: SqlRow[] = [];
  let limit = Math.max(100, wanted * candidatesPerResult);
  let offset = 0;
  while (found.length < wanted) {
    const rows = await search(true, limit, offset);
    found.push(...keepMatching(rows, filter, condition));
    if (rows.length < limit) break;
    offset += limit;
    limit *= 4;
  }
  return found.slice(0, wanted);
}
