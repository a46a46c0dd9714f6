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
import { languageOfAnalyzer } from '../../words/term-analyzer.js';
import { requireIndexName, requireSameShape } from '../../store/checks.js';
import { minScoreValue, objectValue } from '../../store/options.js';
import { nativeKeywordSearch, type OpenIndex } from '../../store/record-store.js';
import { ClosableStore } from '../../store/remote-store.js';
import type {
  CreateIndexParams,
  DerivedData,
  IndexDescription,
  IndexParams,
  UpdateVectorParams,
  VectorMetric,
  VectorStoreCapabilities,
  VersionParams,
} from '../../store/vector-store.js';
import { buildIndex, countRows, type PgIndexConfig } from './build-index.js';
import { createIndex, type PgCreateIndexParams } from './create-index.js';
import { openDatabase, type PgConnectionOptions, type PgPool, type SqlDatabase, type SqlQuery } from './database.js';
import { changeDerived, derivedTable } from './derived-table.js';
import { mayBeStale, pgCalls } from './failures.js';
import { filterSelectivity } from './filter-selectivity.js';
import {
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
  readRecords,
  readVersion,
  scanRecords,
  updateRecords,
  upsertRecords,
} from './records.js';
import { findByTerms, findNearest, type PgQueryParams } from './search.js';

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
export class PgVector extends ClosableStore<SqlDatabase, ExistingIndex, object, PgQueryParams, PgOpenIndex> {
  readonly databaseConfigKey = 'pgvector';
  readonly capabilities: VectorStoreCapabilities = nativeKeywordSearch;
  /** The table `quiver_derived` in the schema, created by `prepare()`. */
  readonly derived: DerivedData;
  readonly id: string;
  readonly #schemaName: string;
  readonly #database: SqlDatabase;
  readonly #selectivity = filterSelectivity(() => performance.now());

  constructor(options: PgVectorOptions) {
    checkOptions('PgVector', options, optionChecks);
    const { id = 'pg-vector', schemaName = 'public', ...connection } = options;
    requireSchemaName(schemaName);
    const database = openDatabase(connection);
    const run = pgCalls(database);
    super(
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
    this.id = id;
    this.#schemaName = schemaName;
    this.#database = database;
    this.derived = derivedTable(schemaName, {
      use: (params, work) => this.use(params, ({ query }) => work(query)),
      transaction: (work, signal) =>
        run('creating the table of derived data', signal, ({ transaction }) => transaction(work, signal)),
    });
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
        await createIndex(query, { ...params, ...shape, schemaName: this.#schemaName });
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
    const { indexName, metric, indexConfig } = params;
    const target = { indexName, schemaName: this.#schemaName, ...(indexConfig && { indexConfig }) };
    await this.#alter(params, async (index) => {
      if (metric !== undefined) requireSameShape(indexName, index, { dimension: index.dimension, metric });
      await buildIndex(index.query, index, target);
    });
  }

  /** In the database, which replaces only what changes. */
  override async updateVector(params: UpdateVectorParams): Promise<void> {
    this.check('updateVector', params);
    await this.change(params, (index) => updateRecords(index.query, index, this.#database, params));
  }

  override async describeIndex(params: IndexParams): Promise<PgIndexDescription> {
    this.check('describeIndex', params);
    this.indexes.forget(params.indexName);
    return this.use(params, async (index) => {
      const { dimension, metric, type, vectorType, elements, config } = index;
      const language = languageOfAnalyzer(index.analyzer);
      const count = await index.count();
      return { dimension, metric, count, type, vectorType, config, language, ...(elements && { elements }) };
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
    this.indexes.forget();
    await this.#database.close();
  }

  /** Runs in a transaction. */
  protected override change<Result>(
    params: IndexParams,
    work: (index: PgOpenIndex) => Promise<Result>,
  ): Promise<Result> {
    const { indexName, signal } = params;
    return this.indexes.use(
      params,
      (index, { transaction }) => transaction((query) => work(this.#openFor(query, index, indexName)), signal),
      `changing the index '${indexName}'`,
    );
  }

  /** Changes the table itself. */
  async #alter(params: IndexParams, work: (index: PgOpenIndex) => Promise<unknown>): Promise<void> {
    await this.change(params, async (index) => {
      await index.query(noTimeout);
      await work(index);
    });
    this.indexes.forget(params.indexName);
  }

  protected open(index: ExistingIndex, { query }: SqlDatabase, { indexName, signal }: IndexParams): PgOpenIndex {
    return this.#openFor((sql, values) => query(sql, values, signal), index, indexName);
  }

  #openFor(query: SqlQuery, index: ExistingIndex, indexName: string): PgOpenIndex {
    const { toVectorValue } = this.#database;
    const selectivity = this.#selectivity;
    return {
      ...index,
      query,
      count: () => countRows(query, index),
      read: (ids, includeVector) => readRecords(query, index, ids, includeVector),
      select: (filter) => lockIds(query, index, filter),
      listVectors: (params, filter) => scanRecords(query, index, params, filter),
      nearest: (search, params) => findNearest({ indexName, index, query, toVectorValue, selectivity }, search, params),
      byTerms: (search) => findByTerms({ indexName, index, query }, search),
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
}

/** An index, open for one call: its description, and how to run a statement. */
type PgOpenIndex = OpenIndex<PgQueryParams> & ExistingIndex & { readonly query: SqlQuery };

/** Long statements on large tables must not time out. */
const noTimeout = 'SET LOCAL statement_timeout = 0';
