import { untilAborted } from '@quiver/core';
import { anyValue, unchecked, checkOptions, type OptionChecks, stringValue } from '@quiver/core/internal';
import { toFilter } from '../../filter/index.js';
import { requireIndexName } from '../../store/checks.js';
import { objectValue } from '../../store/options.js';
import { nativeKeywordSearch } from '../../store/record-store.js';
import { ClosableStore } from '../remote-store.js';
import { type LazyClient, lazyClient, serviceCalls } from '../store-call.js';
import type { IndexParams, QueryParams, VectorStoreCapabilities, VersionParams } from '../../store/vector-store.js';
import { type Lance, type LanceConnectionOptions, openLance, requireConnection } from './lance-client.js';
import {
  createTable,
  findIndex,
  type LanceCreateIndexParams,
  LanceIndex,
  type LanceShape,
  listIndexNames,
} from './lance-index.js';

/** Options of `LanceVectorStore`. */
export interface LanceVectorStoreOptions extends LanceConnectionOptions {
  /** For your own records. */
  id?: string;
}

const optionChecks: OptionChecks<LanceVectorStoreOptions> = {
  ...unchecked<LanceVectorStoreOptions>()('uri', 'connection'),
  connectionOptions: objectValue,
  id: stringValue,
};

/**
 * A vector store in LanceDB: a folder, object storage, or a connection of yours.
 *
 * A query compares all vectors that match the filter, so its result is exact. LanceDB narrows the search by equality conditions, and every
 * filter is evaluated in full on what it returns. Terms are split by Quiver, in any language, and ranked by LanceDB. Every `upsert` is
 * one version of the table. Call `optimize` after many changes.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `OPTIONS_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`; `VECTOR_STORE_FAILED` with the client's error as cause; `VECTOR_CLIENT_MISSING` without `@lancedb/lancedb`
 * @example
 * const store = new LanceVectorStore({ uri: './lance' });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class LanceVectorStore extends ClosableStore<Lance, LanceShape, object, QueryParams, LanceIndex> {
  readonly databaseConfigKey = 'lance';
  readonly capabilities: VectorStoreCapabilities = nativeKeywordSearch;
  readonly #lance: LazyClient<Lance>;
  /** The last change. Changes run one after the other, because LanceDB gives up after some conflicts. */
  #changes: Promise<unknown> = Promise.resolve();

  constructor(config: LanceVectorStoreOptions) {
    checkOptions('LanceVectorStore', config, optionChecks);
    const { id = 'lance-vector-store', ...options } = config;
    requireConnection(options);
    const lance = lazyClient(() => openLance(options));
    super(
      id,
      { name: 'LanceVectorStore', methods: { createIndex: { language: anyValue }, optimize: {} } },
      {
        run: serviceCalls('LanceDB', lance.open),
        requireName: (indexName) => requireIndexName(indexName, 100),
        find: findIndex,
        list: listIndexNames,
      },
    );
    this.#lance = lance;
  }

  /** The same as the constructor. @param options - options of `connect()` of the client */
  static async create(uri: string, options?: Readonly<Record<string, unknown>>): Promise<LanceVectorStore> {
    return new LanceVectorStore({ uri, ...(options && { connectionOptions: options }) });
  }

  /** @throws `VECTOR_INDEX_CONFIG_MISMATCH` for an index that exists with another language */
  async createIndex(params: LanceCreateIndexParams): Promise<void> {
    await this.#inTurn(params.signal, async () => {
      await this.createBy(params, createTable);
      await this.use(params, (index) => index.complete());
    });
  }

  /** The version of the whole table, for every filter. */
  async version(params: VersionParams): Promise<string | undefined> {
    this.check('version', params);
    const { filter, maxRecords = Infinity } = params;
    const parsed = toFilter(filter);
    // The version of an index that was recreated could be the one that is cached.
    this.indexes.forget(params.indexName);
    return this.indexes.use(params, async (shape, lance) => {
      // Before the count: a change in between gives another version next time.
      const version = `${shape.key}-${await shape.table.version()}`;
      if (maxRecords === Infinity) return version;
      const index = new LanceIndex(lance, shape, params);
      const count = parsed ? (await index.select(parsed)).length : await index.count();
      return count > maxRecords ? undefined : version;
    });
  }

  /** Adds new records to the full-text index and merges small files. Searches find all records without it, more slowly. */
  async optimize(params: IndexParams): Promise<void> {
    this.check('optimize', params);
    await this.#inTurn(params.signal, () => this.indexes.use(params, ({ table }) => table.optimize()));
  }

  /** Closes the connection if the store opened it. The store can be used again afterwards. */
  async close(): Promise<void> {
    await this.#changes;
    this.indexes.forget();
    (await this.#lance.release())?.close();
  }

  protected override change<Result>(
    params: IndexParams,
    work: (index: LanceIndex) => Promise<Result>,
  ): Promise<Result> {
    return this.#inTurn(params.signal, () => super.change(params, work));
  }

  protected open(index: LanceShape, lance: Lance, params: IndexParams): LanceIndex {
    return new LanceIndex(lance, index, params);
  }

  #inTurn<Result>(signal: AbortSignal | undefined, change: () => Promise<Result>): Promise<Result> {
    const result = this.#changes.then(() => {
      signal?.throwIfAborted();
      return change();
    });
    this.#changes = result.catch(() => undefined);
    return untilAborted(() => result, signal);
  }
}
