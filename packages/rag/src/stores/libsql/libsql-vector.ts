import { isQuiverError, toErrorMessage, type QuiverError } from '@quiver/core';
import {
  anyValue,
  unchecked,
  checkOptions,
  ignoredOptions,
  numberIn,
  type OptionChecks,
  stringValue,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import { requireIndexName } from '../../store/checks.js';
import { minScoreValue } from '../../store/options.js';
import { nativeKeywordSearch } from '../../store/record-store.js';
import { ClosableStore } from '../remote-store.js';
import { type ServiceCalls, toStoreFailure } from '../store-call.js';
import type {
  DerivedData,
  IndexParams,
  QueryParams,
  VectorStoreCapabilities,
  VersionParams,
} from '../../store/vector-store.js';
import {
  connect,
  isLocked,
  type LibSQLConnection,
  type LibSQLConnectionOptions,
  type LibSQLDatabase,
} from './libsql-database.js';
import {
  createTables,
  derivedTable,
  findIndex,
  isMissingTable,
  type LibSQLCreateIndexParams,
  type LibSQLIndex,
  listIndexNames,
} from './libsql-index.js';
import { LibSQLRecords } from './libsql-records.js';

/** Options of `LibSQLVector`. */
export interface LibSQLVectorConfig extends LibSQLConnectionOptions {
  /** For your own records. */
  id?: string;
}

/** Block `libsql` of a query tool's `databaseConfig`. */
export interface LibSQLConfig {
  /** Only results with a score above this. */
  minScore?: number;
}

/** Parameters of `query()` of `LibSQLVector`. */
export interface LibSQLQueryParams extends QueryParams, LibSQLConfig {}

const optionChecks: OptionChecks<LibSQLVectorConfig> = {
  ...unchecked<LibSQLVectorConfig>()('url', 'authToken', 'syncUrl'),
  syncInterval: numberIn({ above: 0 }),
  encryptionKey: anyValue,
  maxRetries: wholeNumber(0),
  initialBackoffMs: numberIn({ least: 0 }),
  client: anyValue,
  id: stringValue,
  ...ignoredOptions({ disableInit: 'a store creates no tables before its first index.' }),
};

/** Errors of an index that another process may have recreated. */
const staleErrors: ReadonlySet<string> = new Set(['VECTOR_DIMENSION_MISMATCH', 'VECTOR_INDEX_NOT_FOUND']);

/**
 * A vector store in libSQL: a file, memory, a Turso database, or a client of yours.
 *
 * A query compares all vectors that match the filter, so its result is exact. Terms are the same in every store that counts them
 * itself, in any language, and ranked by `bm25()` of FTS5. Every change is one transaction. In a file, a statement runs in the thread of the caller; an
 * abort ends the wait between statements.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `OPTIONS_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`; `VECTOR_STORE_FAILED` with the client's error as cause; `VECTOR_CLIENT_MISSING` without `@libsql/client`
 * @example
 * const store = new LibSQLVector({ url: 'file:app.db' });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class LibSQLVector extends ClosableStore<LibSQLDatabase, LibSQLIndex, object, LibSQLQueryParams, LibSQLRecords> {
  readonly databaseConfigKey = 'libsql';
  readonly capabilities: VectorStoreCapabilities = nativeKeywordSearch;
  /** The table `quiver_derived`. */
  readonly derived: DerivedData;
  readonly #connection: LibSQLConnection;

  constructor(config: LibSQLVectorConfig) {
    checkOptions('LibSQLVector', config, optionChecks);
    const { id = 'libsql-vector', ...options } = config;
    const connection = connect(options);
    super(
      id,
      {
        name: 'LibSQLVector',
        query: { minScore: minScoreValue },
        methods: { createIndex: { language: anyValue } },
      },
      {
        run: libsqlCalls(connection),
        requireName: (indexName) => requireIndexName(indexName, 100),
        find: findIndex,
        list: listIndexNames,
        mayBeStale: (error) => isMissingTable(error) || (isQuiverError(error) && staleErrors.has(error.code)),
      },
    );
    this.#connection = connection;
    this.derived = derivedTable(this.indexes);
  }

  /** @throws `VECTOR_INDEX_CONFIG_MISMATCH` for an index that exists with another language */
  async createIndex(params: LibSQLCreateIndexParams): Promise<void> {
    await this.createBy(params, createTables);
  }

  async version(params: VersionParams): Promise<string | undefined> {
    this.check('version', params);
    return this.use(params, (index) => index.version(params));
  }

  /** Closes the client if the store opened it. The store can be used again afterwards; a database in memory is empty then. */
  async close(): Promise<void> {
    this.indexes.forget();
    await this.#connection.close();
  }

  protected open(index: LibSQLIndex, database: LibSQLDatabase): LibSQLRecords {
    return new LibSQLRecords(database, index);
  }

  protected override change<Result>(
    params: IndexParams,
    work: (index: LibSQLRecords) => Promise<Result>,
  ): Promise<Result> {
    return this.indexes.use(params, (index, database) => work(new LibSQLRecords(database, index, { isChange: true })));
  }
}

/** Converts the errors of the client. */
function libsqlCalls(connection: LibSQLConnection): ServiceCalls<LibSQLDatabase> {
  return async (what, signal, work) => {
    try {
      return await connection.run(work, signal);
    } catch (error) {
      if (/malformed JSON/.test(toErrorMessage(error))) throw tooDeep(what, error);
      throw toStoreFailure(error, { store: 'libSQL', what, signal }, { isTransient: isLocked(error) });
    }
  };
}

/** SQLite reads JSON of up to 1,000 levels. The metadata are valid JSON otherwise. */
function tooDeep(what: string, cause: unknown): QuiverError {
  return invalidOptions(
    `libSQL failed at ${what}: metadata are nested deeper than 1,000 levels, which SQLite cannot read. Nothing was changed.`,
    { cause },
  );
}
