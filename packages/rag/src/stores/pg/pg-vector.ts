import { QuiverError, isQuiverError, toErrorMessage } from '@quiver/core';
import {
  anyValue,
  booleanValue,
  checkOptions,
  eitherOf,
  functionValue,
  numberIn,
  objectOf,
  oneOf,
  stringList,
  stringValue,
  wholeNumber,
  type OptionChecks,
} from '@quiver/core/options';
import { invalidArgument, requireIndexName } from '../../store/check-arguments.js';
import { indexCache, type IndexCache } from '../../store/index-cache.js';
import { ClosableStore, nativeKeywordSearch, type OpenIndex } from '../../store/record-store.js';
import { argumentSettings, objectValue } from '../../store/options.js';
import { aboveMinScore, type Search } from '../../store/search.js';
import { type ServiceCalls, toStoreFailure } from '../../store/store-call.js';
import type {
  Cancellable,
  CreateIndexParams,
  DerivedData,
  IndexDescription,
  IndexParams,
  ScanPage,
  ScanParams,
  UpdateVectorParams,
  VectorMatch,
  VectorStoreCapabilities,
  VersionParams,
} from '../../store/vector-store.js';
import { buildIndex, countRows, type PgIndexConfig } from './build-index.js';
import { createIndex, type PgCreateIndexParams } from './create-index.js';
import { openDatabase, type PgConnectionOptions, type PgPool, type SqlDatabase, type SqlQuery } from './database.js';
import { filterSelectivity } from './filter-to-sql.js';
import {
  changeDerived,
  derivedTable,
  type ExistingIndex,
  listIndexNames,
  longestIndexName,
  lookUpIndex,
  type PgIndexElements,
  type PgIndexType,
  type PgVectorType,
  requireSchemaName,
} from './pg-index.js';
import {
  deleteRecords,
  lockIds,
  readByIds,
  readVersion,
  scanRecords,
  updateRecords,
  upsertRecords,
} from './records.js';
import { findRecords, type PgQueryParams } from './search.js';
import { addTextSearch, defaultLanguage } from './text-search.js';

/** Options of `PgVector`. */
export interface PgVectorOptions extends PgConnectionOptions {
  /** For your own records. */
  id?: string;
  /** One for each tenant keeps tenants apart. Created together with its first index. Default `public`. */
  schemaName?: string;
}

const optionChecks: OptionChecks<PgVectorOptions> = {
  connectionString: anyValue,
  host: anyValue,
  port: wholeNumber(0),
  database: stringValue,
  user: stringValue,
  password: anyValue,
  stream: functionValue,
  ssl: eitherOf('true, false or an object', booleanValue, objectValue),
  max: wholeNumber(1),
  idleTimeoutMillis: numberIn({ least: 0 }),
  pgPoolOptions: objectValue,
  schemaName: anyValue,
  pool: anyValue,
  pglite: anyValue,
  id: stringValue,
};

const noTables = 'a store creates no tables before its first index.';
const withoutEffect = {
  disableInit: noTables,
  skipDefaultIndexes: noTables,
  indexes: noTables,
  retention: 'a store of vectors keeps its records.',
};

// `buildIndex` and the search check the numbers, against the type of the index.
const indexConfigValue = objectOf<PgIndexConfig>({
  type: anyValue,
  hnsw: objectOf<NonNullable<PgIndexConfig['hnsw']>>({ m: anyValue, efConstruction: anyValue }),
  ivf: objectOf<NonNullable<PgIndexConfig['ivf']>>({ lists: anyValue }),
  quantization: anyValue,
});
const textSearch = eitherOf(
  'false or an object',
  oneOf(false),
  objectOf<{ language?: string }>({ language: anyValue }),
);
const createIndexChecks: OptionChecks<Omit<PgCreateIndexParams, keyof CreateIndexParams>> = {
  indexConfig: indexConfigValue,
  buildIndex: booleanValue,
  vectorType: anyValue,
  textSearch,
  language: anyValue,
  metadataIndexes: stringList,
};

/** Result of `describeIndex()` of `PgVector`. */
export interface PgIndexDescription extends IndexDescription {
  type: PgIndexType;
  vectorType: PgVectorType;
  config: Readonly<Record<string, number>>;
  /** Type of the numbers in the index; absent without an index. `bit`: one bit each. */
  elements?: PgIndexElements;
  /** The language of keyword search; absent for an index without it. */
  language?: string;
}

/**
 * A vector store in PostgreSQL with pgvector: on a pool of yours, a connection string, or PGlite.
 *
 * A query goes through the index (HNSW by default), which may miss some of the nearest vectors; `exact: true` compares all. When
 * the index finds fewer than `topK` rows, because of a filter for example, all are compared. Above 2,000 dimensions the index
 * holds 16-bit numbers, above 4,000 there is none unless it holds signs (`quantization`). Reading needs no right but to read.
 *
 * Words are those of PostgreSQL's text search. In the mode `keyword` a text scores higher the rarer the words are that it shares with
 * the query.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `VECTOR_ARGUMENT_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`, `FILTER_NOT_SUPPORTED`; `VECTOR_TEXT_SEARCH_MISSING`; `VECTOR_INDEX_CHANGED` for an index that is changed at the
 *   same time; `VECTOR_STORE_FAILED` with the error of the database as cause and its SQLSTATE in `details`;
 *   `VECTOR_EXTENSION_MISSING` without pgvector; `VECTOR_CLIENT_MISSING` without `pg`
 * @example
 * const store = new PgVector({ connectionString: 'postgres://localhost/app', schemaName: 'tenant_a' });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class PgVector extends ClosableStore<object, PgQueryParams> {
  readonly databaseConfigKey = 'pgvector';
  readonly capabilities: VectorStoreCapabilities = nativeKeywordSearch;
  /** The table `quiver_derived` in the schema, created by `prepare()`. */
  readonly derived: DerivedData;
  readonly id: string;
  readonly #schemaName: string;
  readonly #database: SqlDatabase;
  readonly #indexes: IndexCache<SqlDatabase, ExistingIndex>;
  readonly #selectivity = filterSelectivity(() => performance.now());

  constructor(options: PgVectorOptions) {
    super({
      name: 'PgVector',
      query: {
        minScore: numberIn({}),
        ef: anyValue,
        probes: anyValue,
        exact: booleanValue,
        options: objectOf<NonNullable<PgQueryParams['options']>>({ ef: anyValue, probes: anyValue }),
      },
      methods: {
        createIndex: createIndexChecks,
        buildIndex: { indexConfig: indexConfigValue },
        addTextSearch: { language: anyValue },
      },
    });
    checkOptions('PgVector', options, optionChecks, { ...argumentSettings, withoutEffect });
    const { id = 'pg-vector', schemaName = 'public', ...connection } = options;
    requireSchemaName(schemaName);
    this.id = id;
    this.#schemaName = schemaName;
    this.#database = openDatabase(connection);
    this.#indexes = indexCache({
      run: this.#run,
      requireName,
      find: (_database, indexName, signal) =>
        this.#run(`looking up the index '${indexName}'`, signal, ({ query }) =>
          lookUpIndex((sql, values) => query(sql, values, signal), schemaName, indexName),
        ),
      list: ({ query }, signal) => listIndexNames((sql, values) => query(sql, values, signal), schemaName),
      mayBeStale,
    });
    this.derived = derivedTable(schemaName, {
      use: (params, work) => this.use(params, ({ query }) => work(query)),
      transaction: (work, signal) =>
        this.#run('creating the table of derived data', signal, ({ transaction }) => transaction(work, signal)),
    });
  }

  /** The pool that was given, or the store's own, which opens at its first use. @throws `VECTOR_ARGUMENT_INVALID` for a PGlite */
  get pool(): PgPool {
    if (!this.#database.pool) throw invalidArgument('This PgVector uses a PGlite, which has no pool.');
    return this.#database.pool;
  }

  async createIndex(params: PgCreateIndexParams): Promise<void> {
    this.check('createIndex', params);
    await this.#indexes.create(params, (shape, { transaction }) =>
      transaction(async (query) => {
        await query(noTimeout);
        await createIndex(query, { ...params, ...shape, schemaName: this.#schemaName });
      }, params.signal),
    );
  }

  /**
   * Rebuilds the vector index; rows can be read meanwhile, not written.
   *
   * @throws `VECTOR_INDEX_TOO_EARLY` for ivfflat with too few rows; `VECTOR_ARGUMENT_INVALID` where the type is not known
   */
  async buildIndex(params: IndexParams & { indexConfig?: PgIndexConfig }): Promise<void> {
    this.check('buildIndex', params);
    const { indexConfig } = params;
    const target = { indexName: params.indexName, schemaName: this.#schemaName, ...(indexConfig && { indexConfig }) };
    await this.#alter(params, (index) => buildIndex(index.query, index, target));
  }

  /**
   * Adds the keyword index to an index that was created without it, or for another language. The table is rewritten, and cannot
   * be used meanwhile.
   *
   * @param params - `language`: a text search configuration of the database; default `english`
   * @throws `VECTOR_ARGUMENT_INVALID` for a language that the database does not have, and for a text with too many words
   */
  async addTextSearch(params: IndexParams & { language?: string }): Promise<void> {
    this.check('addTextSearch', params);
    const { language = defaultLanguage } = params;
    const target = { indexName: params.indexName, schemaName: this.#schemaName };
    await this.#alter(params, ({ query }) => addTextSearch(query, target, language));
  }

  protected override async search(search: Search, params: PgQueryParams): Promise<VectorMatch[]> {
    return aboveMinScore(params.minScore, () => super.search(search, params));
  }

  /** In the database, which replaces only what changes. */
  override async updateVector(params: UpdateVectorParams): Promise<void> {
    this.check('updateVector', params);
    await this.change(params, (index) => updateRecords(index.query, index, this.#database, params));
  }

  override async scan(params: ScanParams): Promise<ScanPage> {
    this.check('scan', params);
    return this.use(params, (index) => scanRecords(index.query, index, params));
  }

  async listIndexes(params: Cancellable = {}): Promise<string[]> {
    this.check('listIndexes', params);
    const { signal } = params;
    return this.#run('listing indexes', signal, ({ query }) =>
      listIndexNames((sql, values) => query(sql, values, signal), this.#schemaName),
    );
  }

  override async describeIndex(params: IndexParams): Promise<PgIndexDescription> {
    this.check('describeIndex', params);
    this.#indexes.forget(params.indexName);
    return this.use(params, async (index) => {
      const { dimension, metric, type, vectorType, elements, config, language, analyzer } = index;
      const count = await index.count();
      const optional = {
        ...(elements && { elements }),
        ...(language && { language: language.name }),
        ...(analyzer !== undefined && { language: analyzer.split('-', 1)[0] as string }),
      };
      return { dimension, metric, count, type, vectorType, config, ...optional };
    });
  }

  async version(params: VersionParams): Promise<string | undefined> {
    this.check('version', params);
    return this.use(params, (index) => readVersion(index.query, index, params));
  }

  override async deleteIndex(params: IndexParams): Promise<void> {
    this.check('deleteIndex', params);
    await this.#alter(params, (index) => index.drop());
  }

  /** Ends the pool if the store created it. The store can be used again afterwards. */
  async close(): Promise<void> {
    this.#indexes.forget();
    await this.#database.close();
  }

  protected use<Result>(params: IndexParams, work: (index: PgOpenIndex) => Promise<Result>): Promise<Result> {
    const { indexName, signal } = params;
    return this.#indexes.use(
      params,
      (index, { query }) => work(this.#open(indexName, index, (sql, values) => query(sql, values, signal))),
      `reading the index '${indexName}'`,
    );
  }

  /** Runs in a transaction. */
  protected override change<Result>(
    params: IndexParams,
    work: (index: PgOpenIndex) => Promise<Result>,
  ): Promise<Result> {
    const { indexName, signal } = params;
    return this.#indexes.use(
      params,
      (index, { transaction }) => transaction((query) => work(this.#open(indexName, index, query)), signal),
      `changing the index '${indexName}'`,
    );
  }

  /** Changes the table itself. */
  async #alter(params: IndexParams, work: (index: PgOpenIndex) => Promise<unknown>): Promise<void> {
    await this.change(params, async (index) => {
      await index.query(noTimeout);
      await work(index);
    });
    this.#indexes.forget(params.indexName);
  }

  #open(indexName: string, index: ExistingIndex, query: SqlQuery): PgOpenIndex {
    const { toVectorValue } = this.#database;
    const selectivity = this.#selectivity;
    return {
      ...index,
      query,
      count: () => countRows(query, index),
      read: (ids, includeVector) => readByIds(query, index, ids, includeVector),
      select: (filter) => lockIds(query, index, filter),
      find: (search, filter, params) =>
        findRecords({ indexName, index, query, toVectorValue, params, filter, selectivity }, search),
      write: (records) => upsertRecords(query, index, this.#database, records),
      // Derived data may contain parts of the records.
      remove: async (ids) => {
        if (await deleteRecords(query, index, ids)) await changeDerived(query, 'UPDATE', this.#schemaName, indexName);
      },
      clear: async () => {
        await query(`TRUNCATE ${index.table}`);
        await changeDerived(query, 'UPDATE', this.#schemaName, indexName);
      },
      drop: async () => {
        await query(`DROP TABLE ${index.table}`);
        await changeDerived(query, 'DELETE', this.#schemaName, indexName);
      },
    };
  }

  /** Converts the errors of the database. After one, cached descriptions of indexes may be wrong. */
  readonly #run: ServiceCalls<SqlDatabase> = async (what, signal, work) => {
    try {
      signal?.throwIfAborted();
      return await work(this.#database);
    } catch (error) {
      if (!isQuiverError(error)) this.#indexes.forget();
      const details = failureDetails(error);
      if (details.sqlState === programLimitExceeded) throw tooManyWords(what, error);
      throw toStoreFailure(error, { store: 'PostgreSQL', what, signal }, details);
    }
  };
}

/** An index, open for one call: its description, and how to run a statement. */
type PgOpenIndex = OpenIndex<PgQueryParams> & ExistingIndex & { readonly query: SqlQuery };

/** Long statements on large tables must not time out. */
const noTimeout = 'SET LOCAL statement_timeout = 0';

/** Codes of errors of an index that another process may have recreated. */
const staleCodes: ReadonlySet<unknown> = new Set([
  'VECTOR_DIMENSION_MISMATCH',
  'VECTOR_INDEX_CHANGED',
  'VECTOR_TEXT_SEARCH_MISSING',
  // No such table, no such column, a generated column, or a column without a value.
  '42P01',
  '42703',
  '428C9',
  '23502',
]);

function mayBeStale(error: unknown): boolean {
  return staleCodes.has((error as { code?: unknown } | null)?.code);
}

function requireName(indexName: string): void {
  requireIndexName(indexName, longestIndexName);
}

const programLimitExceeded = '54000';

/** The database does not name the record. */
function tooManyWords(what: string, cause: unknown): QuiverError {
  return new QuiverError(
    'VECTOR_ARGUMENT_INVALID',
    `PostgreSQL failed at ${what}: ${toErrorMessage(cause)}. One text has more different words than text search can store in one row (1 MB). Nothing was changed. Split the text into chunks, or create the index without text search (textSearch: false).`,
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
