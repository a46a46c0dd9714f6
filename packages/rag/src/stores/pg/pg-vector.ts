import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import {
  checkUpsert,
  invalidArgument,
  requireIndexName,
  requireIndexShape,
  toFilter,
} from '../../store/check-arguments.js';
import { runSearch } from '../../store/search.js';
import { toStoreFailure } from '../../store/store-call.js';
import type {
  Cancellable,
  DeleteVectorsParams,
  DerivedData,
  GetParams,
  IndexDescription,
  IndexParams,
  ScanPage,
  ScanParams,
  UpdateVectorParams,
  UpsertParams,
  VectorMatch,
  VectorRecord,
  VectorStore,
  VectorStoreCapabilities,
  VersionParams,
} from '../../store/vector-store.js';
import {
  addTextSearch,
  buildIndex,
  createIndex,
  defaultLanguage,
  type PgCreateIndexParams,
  type PgIndexConfig,
} from './create-index.js';
import { openDatabase, type PgConnectionOptions, type PgPool, type SqlDatabase, type SqlQuery } from './database.js';
import { deleteDerived, derivedTable } from './derived-table.js';
import { filterSelectivity } from './filter-selectivity.js';
import { requireSchemaName, SqlParameters, toCondition } from './filter-to-sql.js';
import { findRecords } from './find-records.js';
import {
  listIndexNames,
  longestIndexName,
  openIndexes,
  type OpenIndexes,
  type PgIndexType,
  type PgVectorType,
  tableVersion,
} from './pg-index.js';
import { deleteRecords, readByIds, scanRecords, updateRecords, upsertRecords } from './records.js';
import type { PgQueryParams } from './search-sql.js';

export interface PgVectorOptions extends PgConnectionOptions {
  /** For your own records. */
  id?: string;
  /** One for each tenant keeps tenants apart. Created together with its first index. Default `public`. */
  schemaName?: string;
}

export interface PgIndexDescription extends IndexDescription {
  type: PgIndexType;
  vectorType: PgVectorType;
  config: Readonly<Record<string, number>>;
  /** The language of keyword search; absent for an index without it. */
  language?: string;
}

/** Long statements on large tables must not time out. */
const noTimeout = ['SET LOCAL statement_timeout = 0'];

/**
 * A vector store in PostgreSQL with pgvector: on a pool of yours, a connection string, or PGlite.
 *
 * A query goes through the index (HNSW by default), which may miss some of the nearest vectors; `exact: true` compares all. When
 * the index finds fewer than `topK` rows, because of a filter for example, all are compared. Above 2,000 dimensions the index
 * holds 16-bit numbers, above 4,000 there is none. Reading needs no right but to read.
 *
 * Words are those of PostgreSQL's text search. In the mode `keyword` a text scores higher the rarer the words are that it shares with
 * the question.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `VECTOR_ARGUMENT_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`, `FILTER_NOT_SUPPORTED`; `VECTOR_TEXT_SEARCH_MISSING`; `VECTOR_INDEX_CHANGED` for one that is made anew just then; `VECTOR_STORE_FAILED` with the error of the database as
 *   cause and its SQLSTATE in `details`; `VECTOR_EXTENSION_MISSING` without pgvector; `VECTOR_CLIENT_MISSING` without `pg`
 * @example
 * const store = new PgVector({ connectionString: 'postgres://localhost/app', schemaName: 'tenant_a' });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class PgVector implements VectorStore, AsyncDisposable {
  readonly databaseConfigKey = 'pgvector';
  readonly capabilities: VectorStoreCapabilities = {
    modes: ['vector', 'keyword', 'hybrid'],
    keywordRanking: 'native',
  };
  /** The table `quiver_derived` in the schema, made by `prepare()`. */
  readonly derived: DerivedData;
  readonly id: string;
  readonly #schemaName: string;
  readonly #database: SqlDatabase;
  readonly #pool: PgPool | undefined;
  readonly #indexes: OpenIndexes;
  readonly #selectivity = filterSelectivity(() => performance.now());

  constructor({ id = 'pg-vector', schemaName = 'public', ...connection }: PgVectorOptions) {
    requireSchemaName(schemaName);
    const { database, pool } = openDatabase(connection);
    this.id = id;
    this.#schemaName = schemaName;
    this.#database = database;
    this.#pool = pool;
    this.#indexes = openIndexes(schemaName, (what, work) => this.#run(what, ({ query }) => work(query)));
    this.derived = derivedTable({
      schemaName,
      run: (what, work, signal) => this.#run(what, work, signal),
      requireIndex: (indexName, signal) => this.#indexes.require({ indexName, signal }),
    });
  }

  /** The pool that was given, or the store's own, which opens at its first use. @throws `VECTOR_ARGUMENT_INVALID` for a PGlite */
  get pool(): PgPool {
    if (!this.#pool) throw invalidArgument('This PgVector stands on a PGlite, which has no pool.');
    return this.#pool;
  }

  async createIndex(params: PgCreateIndexParams): Promise<void> {
    const { indexName, dimension, metric = 'cosine', signal } = params;
    requireIndexName(indexName, longestIndexName);
    requireIndexShape({ dimension, metric });
    await this.#run(
      `creating the index '${indexName}'`,
      ({ transaction }) =>
        transaction((query) => createIndex(query, { ...params, schemaName: this.#schemaName }), {
          settings: noTimeout,
          signal,
        }),
      signal,
    );
    this.#indexes.forget(indexName);
  }

  /** Rebuilds the vector index; rows can be read meanwhile, not written. */
  async buildIndex({ indexName, indexConfig, signal }: IndexParams & { indexConfig?: PgIndexConfig }): Promise<void> {
    const index = await this.#indexes.require({ indexName, signal });
    const target = { indexName, schemaName: this.#schemaName, ...(indexConfig && { indexConfig }) };
    await this.#change(indexName, (query) => buildIndex(query, index, target), signal, noTimeout);
    this.#indexes.forget(indexName);
  }

  /**
   * Adds what keyword search needs to an index that was made without it, or for another language. The table is written anew, and nobody
   * can use it meanwhile.
   *
   * @param params - `language`: a text search configuration of the database; default `english`
   * @throws `VECTOR_ARGUMENT_INVALID` for a language that the database does not have, and for a text with too many words
   */
  async addTextSearch({
    indexName,
    language = defaultLanguage,
    signal,
  }: IndexParams & { language?: string }): Promise<void> {
    await this.#indexes.require({ indexName, signal });
    const target = { indexName, schemaName: this.#schemaName };
    await this.#change(indexName, (query) => addTextSearch(query, target, language), signal, noTimeout);
    this.#indexes.forget(indexName);
  }

  async upsert(params: UpsertParams): Promise<string[]> {
    const { indexName, signal } = params;
    return this.#indexes.use(params, async (index) => {
      const { ids, records } = checkUpsert(params, index.dimension);
      if (records.length === 0) return ids;
      const change = upsertRecords(index, this.#database, records);
      await this.#change(indexName, change, signal);
      return ids;
    });
  }

  async query(params: PgQueryParams): Promise<VectorMatch[]> {
    const { indexName, minScore, signal } = params;
    if (minScore !== undefined && !Number.isFinite(minScore))
      throw invalidArgument(`minScore must be a number, not ${String(minScore)}.`);
    return runSearch(params, { name: 'PgVector', capabilities: this.capabilities }, async (search) => {
      const filter = toFilter(params.filter);
      const found = await this.#indexes.use(params, (index) =>
        this.#run(
          `querying the index '${indexName}'`,
          (database) =>
            findRecords({ indexName, index, database, params, filter, selectivity: this.#selectivity }, search),
          signal,
        ),
      );
      return minScore === undefined ? found : found.filter(({ score }) => score > minScore);
    });
  }

  async get(params: GetParams): Promise<VectorRecord[]> {
    return this.#indexes.use(params, (index) => readByIds(this.#reader(params), index, params));
  }

  async updateVector(params: UpdateVectorParams): Promise<void> {
    const { indexName, signal } = params;
    await this.#indexes.use(params, (index) =>
      this.#change(indexName, updateRecords(index, this.#database, params), signal),
    );
  }

  async deleteVector({ id, ...params }: IndexParams & { id: string }): Promise<void> {
    await this.deleteVectors({ ...params, ids: [id] });
  }

  async deleteVectors(params: DeleteVectorsParams): Promise<void> {
    const { indexName, signal } = params;
    await this.#indexes.use(params, (index) => this.#change(indexName, deleteRecords(index, params), signal));
  }

  async scan(params: ScanParams): Promise<ScanPage> {
    return this.#indexes.use(params, (index) => scanRecords(this.#reader(params), index, params));
  }

  async listIndexes({ signal }: Cancellable = {}): Promise<string[]> {
    return this.#run(
      'listing indexes',
      (database) => listIndexNames((sql, values) => database.query(sql, values, signal), this.#schemaName),
      signal,
    );
  }

  async describeIndex(params: IndexParams): Promise<PgIndexDescription> {
    this.#indexes.forget(params.indexName);
    return this.#indexes.use(params, async ({ table, dimension, metric, type, vectorType, config, language }) => {
      const [row] = await this.#reader(params)(`SELECT count(*)::int AS count FROM ${table}`);
      const count = row?.['count'] as number;
      return { dimension, metric, count, type, vectorType, config, ...(language && { language: language.name }) };
    });
  }

  async version({ filter, maxRecords: maxRows = Infinity, ...params }: VersionParams): Promise<string | undefined> {
    const parameters = new SqlParameters();
    // A condition that lets more rows through tells their changes too.
    const { sql: where } = toCondition(toFilter(filter), parameters);
    const read = this.#reader(params);
    return this.#indexes.use(params, ({ table }) =>
      tableVersion((sql) => read(sql, parameters.values), { table, where, maxRows }),
    );
  }

  async truncateIndex(params: IndexParams): Promise<void> {
    const { indexName, signal } = params;
    await this.#indexes.use(params, ({ table }) =>
      this.#change(indexName, (query) => query(`TRUNCATE ${table}`), signal),
    );
  }

  async deleteIndex({ indexName, signal }: IndexParams): Promise<void> {
    const { table } = await this.#indexes.require({ indexName, signal });
    const drop = async (query: SqlQuery): Promise<void> => {
      await query(`DROP TABLE ${table}`);
      await deleteDerived(query, this.#schemaName, indexName);
    };
    await this.#change(indexName, drop, signal);
    this.#indexes.forget(indexName);
  }

  /** Ends the pool if the store made it. The store can be used again afterwards. */
  async close(): Promise<void> {
    this.#indexes.forgetAll();
    await this.#database.close();
  }

  /** The same as `close()`. */
  async disconnect(): Promise<void> {
    await this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #reader({ indexName, signal }: IndexParams): SqlQuery {
    const what = `reading the index '${indexName}'`;
    return (sql, values) => this.#run(what, (database) => database.query(sql, values, signal), signal);
  }

  async #change(
    indexName: string,
    change: (query: SqlQuery) => Promise<unknown>,
    signal: AbortSignal | undefined,
    settings: readonly string[] = [],
  ): Promise<void> {
    const what = `changing the index '${indexName}'`;
    await this.#run(what, ({ transaction }) => transaction(change, { settings, signal }), signal);
  }

  /** The way to the database: errors become ours, and what was remembered of an index that changed is forgotten. */
  async #run<Result>(
    what: string,
    work: (database: SqlDatabase) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    try {
      signal?.throwIfAborted();
      return await work(this.#database);
    } catch (error) {
      if (!isQuiverError(error)) this.#indexes.forgetAll();
      const details = failureDetails(error);
      if (details.sqlState === programLimitExceeded) throw tooManyWords(what, error);
      throw toStoreFailure(error, { store: 'PostgreSQL', what, signal }, details);
    }
  }
}

const programLimitExceeded = '54000';

/** The database does not name the record. */
function tooManyWords(what: string, cause: unknown): QuiverError {
  return new QuiverError(
    'VECTOR_ARGUMENT_INVALID',
    `PostgreSQL failed at ${what}: ${toErrorMessage(cause)}. One text has more different words than the text search takes in one row (1 MB). Nothing was changed. Divide the text into chunks, or create the index without text search (textSearch: false).`,
    { cause },
  );
}

/**
 * Connection lost (08), conflict with another transaction (40), no resources (53), server stopping or starting (57P).
 *
 * @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html)
 */
const transientState = /^(?:08|40|53|57P)/;
/** Errors of `pg` for a connection that ended; they have no code. */
const lostConnection =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

function failureDetails(error: unknown): { sqlState?: string; isTransient: boolean } {
  const { code, message, syscall } = (error ?? {}) as { code?: unknown; message?: unknown; syscall?: unknown };
  // A server behind a Unix domain socket has no socket file while it restarts.
  const isLost = lostConnection.test(String(message)) || syscall === 'connect';
  if (typeof code !== 'string') return { isTransient: isLost };
  return { sqlState: code, isTransient: isLost || (code.length === 5 && transientState.test(code)) };
}
