import { anyValue, checkOptions, type OptionChecks, stringValue } from '@quiver/core/internal';
import { requireSameLanguage, toAnalyzerId } from '../../words/term-analyzer.js';
import { toFilter } from '../../filter/index.js';
import { indexNotFound, requireIndexName, requireIndexShape, requireSameShape } from '../../store/checks.js';
import { type OpenIndex, RecordStore } from '../../store/record-store.js';
import { searchModes } from '../../store/options.js';
import { toStoreFailure } from '../store-call.js';
import type {
  Cancellable,
  CreateIndexParams,
  DerivedData,
  IndexParams,
  VectorStore,
  VectorStoreCapabilities,
  VersionParams,
} from '../../store/vector-store.js';
import { copyRecord, createMemoryHolder, type IndexHolder, type StoredIndex, toUpsert } from './local-index.js';

/** Options of `LocalVector`. */
export interface LocalVectorOptions {
  /**
   * A folder for the indexes, one file each; it is created at the first write. Without it, indexes live in memory.
   *
   * Any number of processes may read a folder, one at a time may write it.
   */
  path?: string;
}

const optionChecks: OptionChecks<LocalVectorOptions> = { path: stringValue };

/** Parameters of `createIndex()` of `LocalVector`. */
export interface LocalCreateIndexParams extends CreateIndexParams {
  /**
   * Language of the texts, for keyword and hybrid search: a code such as `de`, a language tag such as `de-AT`, or an English name.
   * Default `auto`: the language that the metadata of a record names as `language`, otherwise the detected one. An existing index
   * keeps its language.
   */
  language?: string;
}

/** Leaves room for an ending in file systems that allow 255 bytes. */
const longestIndexName = 100;

/**
 * A vector store inside your process: no server, no dependency, exact results.
 *
 * With a `path` it is durable: when `upsert` or `delete` returns, the change is on the disk; after a crash it is there as a
 * whole or not at all. A query compares every vector, which is fast up to some hundred thousand of them.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `OPTIONS_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`; with a `path` also `VECTOR_STORE_LOCKED`, `VECTOR_STORE_LOCK_LOST`, `VECTOR_STORE_CORRUPT`, and
 *   `VECTOR_STORE_FAILED` with the error of the file system as cause, for example when the disk is full
 * @example
 * await using store = new LocalVector({ path: './index' });
 * await store.createIndex({ indexName: 'guides', dimension: 1024 });
 */
export class LocalVector extends RecordStore implements VectorStore, AsyncDisposable {
  readonly databaseConfigKey = 'local';
  readonly capabilities: VectorStoreCapabilities = { modes: searchModes, keywordRanking: 'bm25' };
  /** Files in the folder; absent in memory. */
  readonly derived: DerivedData | undefined;
  readonly #options: LocalVectorOptions;
  #holder: Promise<IndexHolder> | undefined;
  /** Queue of changes, which run one after another. */
  #changes: Promise<unknown> = Promise.resolve();

  constructor(options: LocalVectorOptions = {}) {
    super({ name: 'LocalVector', methods: { createIndex: { language: anyValue } } });
    checkOptions('LocalVector', options, optionChecks);
    this.#options = options;
    this.derived = options.path === undefined ? undefined : this.#derivedData();
  }

  /** @throws `VECTOR_INDEX_CONFIG_MISMATCH` for an index that exists with another language */
  async createIndex(params: LocalCreateIndexParams): Promise<void> {
    this.check('createIndex', params);
    const { indexName, language, signal } = params;
    requireIndexName(indexName, longestIndexName);
    const shape = requireIndexShape(params);
    const analyzer = toAnalyzerId(language === undefined ? 'auto' : language);
    await this.#change(async (holder) => {
      const existing = (await holder.find(indexName))?.index.header;
      if (!existing) return holder.create({ name: indexName, ...shape, analyzer });
      requireSameShape(indexName, existing, shape);
      requireSameLanguage(indexName, existing.analyzer, language);
    }, signal);
  }

  async listIndexes(params: Cancellable = {}): Promise<string[]> {
    this.check('listIndexes', params);
    const { signal } = params;
    signal?.throwIfAborted();
    return (await this.#guard('listing indexes', (holder) => holder.list())).toSorted();
  }

  async version(params: VersionParams): Promise<string | undefined> {
    this.check('version', params);
    const { filter, maxRecords = Infinity } = params;
    const { index, version } = await this.#require(params);
    const parsed = toFilter(filter);
    const isWithin = index.count <= maxRecords || (parsed && index.countOf(parsed) <= maxRecords);
    return isWithin ? version : undefined;
  }

  /** Waits for pending changes, closes the files and releases the lock. The store can be used again afterwards. */
  async close(): Promise<void> {
    await this.#changes;
    const holder = this.#holder;
    // An index in memory stays: closing must not lose data.
    if (this.#options.path === undefined || !holder) return;
    this.#holder = undefined;
    await (await holder).close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #derivedData(): DerivedData {
    const use = async <Result>(
      params: IndexParams & { name: string },
      work: (derived: DerivedData) => Promise<Result>,
    ): Promise<Result> => {
      await this.#require(params);
      const doing = `using '${params.name}' of the index '${params.indexName}'`;
      return this.#guard(doing, ({ derived }) => work(derived as DerivedData), params.signal);
    };
    return {
      read: (params) => use(params, (derived) => derived.read(params)),
      write: (params) => use(params, (derived) => derived.write(params)),
      prepare: async () => {},
    };
  }

  #open(): Promise<IndexHolder> {
    this.#holder ??= openHolder(this.#options);
    return this.#holder;
  }

  async #require({ indexName, signal }: IndexParams): Promise<StoredIndex> {
    requireIndexName(indexName, longestIndexName);
    signal?.throwIfAborted();
    const stored = await this.#guard(`opening the index '${indexName}'`, async (holder) => {
      const found = await holder.find(indexName);
      if (!found) throw indexNotFound(indexName, await holder.list());
      return found;
    });
    signal?.throwIfAborted();
    return stored;
  }

  protected async use<Result>(params: IndexParams, work: (index: OpenIndex) => Promise<Result>): Promise<Result> {
    return work(openIndex(await this.#require(params)));
  }

  protected override async change<Result>(
    { indexName, signal }: IndexParams,
    work: (index: OpenIndex) => Promise<Result>,
  ): Promise<Result> {
    requireIndexName(indexName, longestIndexName);
    return this.#change(async (holder) => {
      const stored = await holder.findToWrite(indexName);
      if (!stored) throw indexNotFound(indexName, await holder.list());
      signal?.throwIfAborted();
      return work(openIndex(stored, holder));
    }, signal);
  }

  /** Runs a change. The signal can cancel it until it starts. */
  #change<Result>(change: (holder: IndexHolder) => Promise<Result>, signal?: AbortSignal | undefined): Promise<Result> {
    const done = this.#changes.then(async () => {
      signal?.throwIfAborted();
      return this.#guard('changing', change, signal);
    });
    this.#changes = done.catch(() => undefined);
    return done;
  }

  /** Converts file system errors to `QuiverError`s. */
  async #guard<Result>(
    doing: string,
    work: (holder: IndexHolder) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const { path } = this.#options;
    try {
      return await work(await this.#open());
    } catch (error) {
      if (path === undefined) throw error;
      throw toStoreFailure(error, { store: 'LocalVector', what: `${doing} in the folder ${path}`, signal }, { path });
    }
  }
}

/** @param holder - present for a call that writes */
function openIndex(stored: StoredIndex, holder?: IndexHolder): OpenIndex {
  const { index } = stored;
  const { name, dimension, metric } = index.header;
  return {
    dimension,
    metric,
    count: () => index.count,
    read: (ids, includeVector) => index.get(ids, includeVector),
    select: (filter, after, limit) => index.select(filter, after, limit),
    nearest: (search) => index.nearest(search),
    byTerms: (search) => index.byTerms(search),
    copyFound: copyRecord,
    write: (records) => stored.append(toUpsert(records)),
    remove: async (ids) => {
      const existing = index.existing(ids);
      if (existing.length === 0) return;
      // First: derived data may contain parts of deleted records, also after a crash.
      await holder?.derived?.emptyOf(name);
      await stored.append({ type: 'delete', ids: existing });
    },
    clear: async () => {
      await holder?.derived?.emptyOf(name);
      await stored.append({ type: 'truncate' });
    },
    drop: async () => holder?.delete(name),
  };
}

async function openHolder({ path }: LocalVectorOptions): Promise<IndexHolder> {
  if (path === undefined) return createMemoryHolder();
  // Loaded here, so that a store in memory also works where there is no file system.
  const { IndexFolder } = await import('./durable/index-folder.js');
  return new IndexFolder(path);
}
