import {
  anyValue,
  unchecked,
  booleanValue,
  checkOptions,
  ignoredOptions,
  eitherOf,
  functionValue,
  numberIn,
  objectOf,
  type OptionChecks,
  stringList,
  stringValue,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import { requireIndexName } from '../../store/checks.js';
import { minScoreValue, objectValue } from '../../store/options.js';
import { nativeKeywordSearch } from '../../store/record-store.js';
import { ClosableStore } from '../remote-store.js';
import type {
  CreateIndexParams,
  DerivedData,
  IndexParams,
  VectorMetric,
  VectorStoreCapabilities,
  VersionParams,
} from '../../store/vector-store.js';
import type { PgIndexConfig } from './build-index.js';
import { createIndex, type PgCreateIndexParams } from './create-index.js';
import { openDatabase, type PgConnectionOptions, type PgPool, type SqlDatabase } from './database.js';
import { derivedTable } from './derived-table.js';
import { mayBeStale, pgCalls } from './failures.js';
import { filterSelectivity } from './filter-selectivity.js';
import { type ExistingIndex, listIndexNames, longestIndexName, lookUpIndex, requireSchemaName } from './pg-index.js';
import { noTimeout, type PgContext, type PgIndexDescription, PgRecords } from './pg-records.js';
import type { PgQueryParams } from './search.js';

/** Options of `PgVector`. */
export interface PgVectorOptions extends PgConnectionOptions {
  /** For your own records. */
  id?: string;
  /** One for each tenant keeps tenants apart. Created together with its first index. Default `public`. */
  schemaName?: string;
}

const noTables = 'a store creates no tables before its first index.';
const optionChecks: OptionChecks<PgVectorOptions> = {
  ...unchecked<PgVectorOptions>()('connectionString', 'host'),
  port: wholeNumber(0),
  database: stringValue,
  user: stringValue,
  password: anyValue,
  stream: functionValue,
  ssl: eitherOf('true, false or an object', booleanValue, objectValue),
  max: wholeNumber(1),
  idleTimeoutMillis: numberIn({ least: 0 }),
  pgPoolOptions: objectValue,
  ...unchecked<PgVectorOptions>()('schemaName', 'pool', 'pglite'),
  id: stringValue,
  ...ignoredOptions({
    disableInit: noTables,
    skipDefaultIndexes: noTables,
    indexes: noTables,
    retention: 'a store of vectors keeps its records.',
  }),
};

// `buildIndex` and the search check the numbers, against the type of the index.
const indexConfigValue = objectOf<PgIndexConfig>({
  type: anyValue,
  hnsw: objectOf<NonNullable<PgIndexConfig['hnsw']>>({ m: anyValue, efConstruction: anyValue }),
  ivf: objectOf<NonNullable<PgIndexConfig['ivf']>>({ lists: anyValue }),
  quantization: anyValue,
});
const createIndexChecks: OptionChecks<Omit<PgCreateIndexParams, keyof CreateIndexParams>> = {
  indexConfig: indexConfigValue,
  buildIndex: booleanValue,
  ...unchecked<Omit<PgCreateIndexParams, keyof CreateIndexParams>>()('vectorType', 'language'),
  metadataIndexes: stringList,
};

/**
 * A vector store in PostgreSQL with pgvector: on a pool of yours, a connection string, or PGlite.
 *
 * A query goes through the index (HNSW by default), which may miss some of the nearest vectors; `exact: true` compares all. When
 * the index finds fewer than `topK` rows, because of a filter for example, all are compared. Above 2,000 dimensions the index
 * holds 16-bit numbers, above 4,000 there is none unless it holds signs (`quantization`). Reading needs no right but to read.
 *
 * In the mode `keyword` a text scores higher the rarer the words are that it shares with the query.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `OPTIONS_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`, `FILTER_NOT_SUPPORTED`; `VECTOR_INDEX_CHANGED` for an index that is changed at the
 *   same time; `VECTOR_STORE_FAILED` with the error of the database as cause and its SQLSTATE in `details`;
 *   `VECTOR_EXTENSION_MISSING` without pgvector; `VECTOR_CLIENT_MISSING` without `pg`
 * @example
 * const store = new PgVector({ connectionString: 'postgres://localhost/app', schemaName: 'tenant_a' });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class PgVector extends ClosableStore<SqlDatabase, ExistingIndex, object, PgQueryParams, PgRecords> {
  readonly databaseConfigKey = 'pgvector';
  readonly capabilities: VectorStoreCapabilities = nativeKeywordSearch;
  /** The table `quiver_derived` in the schema, created by `prepare()`. */
  readonly derived: DerivedData;
  readonly #database: SqlDatabase;
  readonly #context: PgContext;

  constructor(options: PgVectorOptions) {
    checkOptions('PgVector', options, optionChecks);
    const { id = 'pg-vector', schemaName = 'public', ...connection } = options;
    requireSchemaName(schemaName);
    const database = openDatabase(connection);
    const run = pgCalls(database);
    super(
      id,
      {
        name: 'PgVector',
        query: {
          minScore: minScoreValue,
          ef: anyValue,
          probes: anyValue,
          exact: booleanValue,
        },
        methods: {
          createIndex: createIndexChecks,
          buildIndex: { indexConfig: indexConfigValue, metric: anyValue },
        },
      },
      {
        run,
        requireName: (indexName) => requireIndexName(indexName, longestIndexName),
        find: (_database, indexName, signal) =>
          run(`looking up the index '${indexName}'`, signal, ({ query }) =>
            lookUpIndex((sql, values) => query(sql, values, signal), schemaName, indexName),
          ),
        list: ({ query }, signal) => listIndexNames((sql, values) => query(sql, values, signal), schemaName),
        mayBeStale,
      },
    );
    this.#database = database;
    this.#context = { schemaName, selectivity: filterSelectivity(() => performance.now()) };
    this.derived = derivedTable(
      schemaName,
      (params, work) => this.use(params, ({ query }) => work(query)),
      (work, signal) =>
        run('creating the table of derived data', signal, ({ transaction }) => transaction(work, signal)),
    );
  }

  /** The pool that was given, or the store's own, which opens at its first use. @throws `OPTIONS_INVALID` for a PGlite */
  get pool(): PgPool {
    if (!this.#database.pool) throw invalidOptions('This PgVector uses a PGlite, which has no pool.');
    return this.#database.pool;
  }

  async createIndex(params: PgCreateIndexParams): Promise<void> {
    this.check('createIndex', params);
    await this.indexes.create(params, (shape, { transaction }) =>
      transaction(async (query) => {
        await query(noTimeout);
        await createIndex(query, { ...params, ...shape, schemaName: this.#context.schemaName });
      }, params.signal),
    );
  }

  /**
   * Rebuilds the vector index; rows can be read meanwhile, not written.
   *
   * @param params - `metric`: that of the index, which cannot change
   * @throws `VECTOR_INDEX_TOO_EARLY` for ivfflat with too few rows; `OPTIONS_INVALID` where the type is not known;
   *   `VECTOR_VALIDATE_INDEX_DIMENSION_MISMATCH` for another metric
   */
  async buildIndex(params: IndexParams & { indexConfig?: PgIndexConfig; metric?: VectorMetric }): Promise<void> {
    this.check('buildIndex', params);
    await this.change(params, (index) => index.build(params.indexConfig, params.metric));
    this.indexes.forget(params.indexName);
  }

  override async describeIndex(params: IndexParams): Promise<PgIndexDescription> {
    this.check('describeIndex', params);
    this.indexes.forget(params.indexName);
    return this.use(params, (index) => index.describe());
  }

  async version(params: VersionParams): Promise<string | undefined> {
    this.check('version', params);
    return this.use(params, (index) => index.version(params));
  }

  /** Ends the pool if the store created it. The store can be used again afterwards. */
  async close(): Promise<void> {
    this.indexes.forget();
    await this.#database.close();
  }

  /** Runs in a transaction. */
  protected override change<Result>(params: IndexParams, work: (index: PgRecords) => Promise<Result>): Promise<Result> {
    return this.indexes.use(
      params,
      (index, database) =>
        database.transaction(
          (query) => work(new PgRecords(database, index, params, this.#context, query)),
          params.signal,
        ),
      `changing the index '${params.indexName}'`,
    );
  }

  protected open(index: ExistingIndex, database: SqlDatabase, params: IndexParams): PgRecords {
    return new PgRecords(database, index, params, this.#context);
  }
}
