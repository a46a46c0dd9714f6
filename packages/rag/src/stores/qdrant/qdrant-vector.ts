import { anyValue, booleanValue, checkOptions, stringValue, type OptionChecks } from '@quiver/core/options';
import { requireIndexName } from '../../store/check-arguments.js';
import { idListings } from '../../store/id-listings.js';
import { indexCache, type IndexCache } from '../../store/index-cache.js';
import { nativeKeywordSearch, type OpenIndex, RecordStore } from '../../store/record-store.js';
import { argumentSettings } from '../../store/options.js';
import { lazyClient, serviceCalls, type ServiceCalls } from '../../store/store-call.js';
import type {
  Cancellable,
  IndexDescription,
  IndexParams,
  QueryParams,
  VectorStoreCapabilities,
} from '../../store/vector-store.js';
import { findRecords } from './find-records.js';
import {
  openQdrant,
  type QdrantConnectionOptions,
  type QdrantLikeClient,
  requireQdrantConnection,
  withReason,
} from './qdrant-client.js';
import {
  createIndex,
  findShape,
  listIndexNames,
  type QdrantCreateIndexParams,
  type QdrantIndex,
  type QdrantShape,
  readByIds,
  removeRecords,
  selectIds,
  writeRecords,
} from './qdrant-index.js';

/** Options of `QdrantVector`. */
export interface QdrantVectorConfig extends QdrantConnectionOptions {
  /** For your own records. */
  id?: string;
}

/** Block `qdrant` of a query tool's `databaseConfig`. */
export interface QdrantConfig {
  /** Whether to compare all vectors, which is slower and exact. Default `false`: through Qdrant's approximate index. */
  exact?: boolean;
}

/** Parameters of `query()` of `QdrantVector`. */
export interface QdrantQueryParams extends QueryParams, QdrantConfig {}

const optionChecks: OptionChecks<QdrantVectorConfig> = {
  url: anyValue,
  apiKey: anyValue,
  https: booleanValue,
  client: anyValue,
  id: stringValue,
};

function requireName(indexName: string): void {
  requireIndexName(indexName, 255);
}

/**
 * A vector store in Qdrant, 1.10 or later: a server, Qdrant Cloud, or a client of yours.
 *
 * A query goes through Qdrant's index (HNSW), which may miss some of the nearest vectors; `exact: true` compares all. Qdrant narrows the
 * search by equality conditions, and every filter is evaluated in full on what it returns. Quiver computes the terms in the language of the index,
 * and Qdrant ranks them. An `upsert` above 500 records or 10 MB is several requests, and not one transaction. `scan` lists all ids for its
 * first page, and again after a minute: it includes what this store writes meanwhile, and not everything that others write.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `VECTOR_ARGUMENT_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`; `VECTOR_STORE_FAILED` with the client's error as cause; `VECTOR_CLIENT_MISSING` without `@qdrant/js-client-rest`
 * @example
 * const store = new QdrantVector({ url: 'http://localhost:6333' });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class QdrantVector extends RecordStore<object, QdrantQueryParams> {
  readonly databaseConfigKey = 'qdrant';
  readonly capabilities: VectorStoreCapabilities = nativeKeywordSearch;
  readonly id: string;
  readonly #listings = idListings();
  readonly #run: ServiceCalls<QdrantLikeClient>;
  readonly #shapes: IndexCache<QdrantLikeClient, QdrantShape>;

  constructor(config: QdrantVectorConfig) {
    super({ name: 'QdrantVector', query: { exact: booleanValue }, methods: { createIndex: { language: anyValue } } });
    checkOptions('QdrantVector', config, optionChecks, argumentSettings);
    const { id = 'qdrant-vector', ...connection } = config;
    this.id = id;
    requireQdrantConnection(connection);
    // The client takes no signal, so all calls share one.
    const { open } = lazyClient(() => openQdrant(connection));
    this.#run = serviceCalls('Qdrant', open, withReason);
    this.#shapes = indexCache({ run: this.#run, requireName, find: findShape, list: listIndexNames });
  }

  /** @throws `VECTOR_INDEX_CONFIG_MISMATCH` for an index that exists with another language */
  async createIndex(params: QdrantCreateIndexParams): Promise<void> {
    this.check('createIndex', params);
    await this.#shapes.create(params, (shape, client) => createIndex(client, { ...params, ...shape }));
  }

  async listIndexes(params: Cancellable = {}): Promise<string[]> {
    this.check('listIndexes', params);
    return this.#run('listing indexes', params.signal, listIndexNames);
  }

  override async describeIndex(params: IndexParams): Promise<IndexDescription> {
    this.#shapes.forget(params.indexName);
    return super.describeIndex(params);
  }

  protected async use<Result>(
    params: IndexParams,
    work: (index: OpenIndex<QdrantQueryParams>) => Promise<Result>,
  ): Promise<Result> {
    const { indexName: name, signal } = params;
    return this.#shapes.use(params, (shape, client) => work(this.#open({ ...shape, client, name, signal })));
  }

  protected override async change<Result>(
    params: IndexParams,
    work: (index: OpenIndex<QdrantQueryParams>) => Promise<Result>,
  ): Promise<Result> {
    // Vectors scaled for another metric would stay in the index.
    this.#shapes.forget(params.indexName);
    return this.use(params, work).finally(() => this.#listings.clear());
  }

  #open(index: QdrantIndex): OpenIndex<QdrantQueryParams> {
    const { client, name, dimension, metric } = index;
    return {
      dimension,
      metric,
      count: async () => (await client.count(name, { exact: true })).count,
      read: (ids, includeVector) => readByIds(index, ids, includeVector),
      select: (filter, after) =>
        this.#listings.select(JSON.stringify([name, filter]), after, () => selectIds(index, filter)),
      find: (search, filter, { exact = false }) => findRecords(index, search, filter, exact),
      write: (records) => writeRecords(index, records),
      remove: (ids) => removeRecords(index, ids),
      // An empty filter matches all.
      clear: () => client.delete(name, { wait: true, filter: {} }),
      drop: () => client.deleteCollection(name).finally(() => this.#shapes.forget(name)),
    };
  }
}
