import type { QuiverError } from '@quiver/core';
import { isQuiverError, toErrorMessage } from '@quiver/core';
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
import { nativeKeywordSearch, type OpenIndex } from '../../store/record-store.js';
import { ClosableStore } from '../../store/remote-store.js';
import { type ServiceCalls, toStoreFailure } from '../../store/store-call.js';
import type {
  DerivedData,
  IndexParams,
  QueryParams,
  VectorStoreCapabilities,
  VersionParams,
} from '../../store/vector-store.js';
import { findByTerms, findNearest } from './find-records.js';
import {
  connect,
  isLocked,
  type LibSQLConnection,
  type LibSQLConnectionOptions,
  type LibSQLDatabase,
} from './libsql-database.js';
import {
  createIndex,
  derivedTable,
  dropIndex,
  findIndex,
  isMissingTable,
  type LibSQLCreateIndexParams,
  type LibSQLIndex,
  listIndexNames,
  readVersionNumber,
} from './libsql-index.js';
import {
  clearStatements,
  countRecords,
  readRecords,
  readVersion,
  removeStatements,
  scanRecords,
  selectIds,
  writeStatements,
} from './records.js';

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
export class LibSQLVector extends ClosableStore<LibSQLDatabase, LibSQLIndex, object, LibSQLQueryParams> {
  readonly databaseConfigKey = 'libsql';
  readonly capabilities: VectorStoreCapabilities = nativeKeywordSearch;
  /** The table `quiver_derived`. */
  readonly derived: DerivedData;
  readonly id: string;
  readonly #connection: LibSQLConnection;

  constructor(config: LibSQLVectorConfig) {
    checkOptions('LibSQLVector', config, optionChecks);
    const { id = 'libsql-vector', ...options } = config;
    const connection = connect(options);
    super(
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
    this.id = id;
    this.#connection = connection;
    this.derived = derivedTable(this.indexes);
  }

  /** @throws `VECTOR_INDEX_CONFIG_MISMATCH` for an index that exists with another language */
  async createIndex(params: LibSQLCreateIndexParams): Promise<void> {
    this.check('createIndex', params);
    await this.indexes.create(params, (shape, database) => createIndex(database, { ...params, ...shape }));
  }

  async version(params: VersionParams): Promise<string | undefined> {
    this.check('version', params);
    return this.indexes.use(params, (index, database) => readVersion(database, index, params));
  }

  /** Closes the client if the store opened it. The store can be used again afterwards; a database in memory is empty then. */
  async close(): Promise<void> {
    this.indexes.forget();
    await this.#connection.close();
  }

  protected open(index: LibSQLIndex, database: LibSQLDatabase): OpenIndex<LibSQLQueryParams> {
    return open(database, index);
  }

  protected override change<Result>(
    params: IndexParams,
    work: (index: OpenIndex<LibSQLQueryParams>) => Promise<Result>,
  ): Promise<Result> {
    return this.indexes.use(params, (index, database) => work(openForChange(database, index)));
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

/** @param versionRead - version of the index when records were read that a change depends on */
function open(
  database: LibSQLDatabase,
  index: LibSQLIndex,
  versionRead?: () => number | undefined,
): OpenIndex<LibSQLQueryParams> {
  return {
    ...index,
    count: () => countRecords(database, index),
    read: (ids, includeVector) => readRecords(database, index, ids, includeVector),
    select: (filter) => selectIds(database, index, filter),
    listVectors: (params, filter) => scanRecords(database, index, params, filter),
    nearest: (search) => findNearest(database, index, search),
    byTerms: (search) => findByTerms(database, index, search),
    write: async (records) => database.write(await writeStatements(index, records, versionRead?.())),
    remove: (ids) => database.write(removeStatements(index, ids, versionRead?.())),
    clear: () => database.write(clearStatements(index)),
    drop: () => database.write(dropIndex(index)),
  };
}

/** Opens an index for one change. It fails, and is repeated, if another one came between the records that it read and its own. */
function openForChange(database: LibSQLDatabase, index: LibSQLIndex): OpenIndex<LibSQLQueryParams> {
  let version: number | undefined;
  const opened = open(database, index, () => version);
  const afterVersion =
    <Args extends unknown[], Result>(read: (...args: Args) => Result | Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      version ??= await readVersionNumber(database, index);
      return read(...args);
    };
  return { ...opened, read: afterVersion(opened.read), select: afterVersion(opened.select) };
}
