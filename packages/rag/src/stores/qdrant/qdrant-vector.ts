import { anyValue, unchecked, booleanValue, checkOptions, type OptionChecks, stringValue } from '@quiver/core/internal';
import { requireIndexName } from '../../store/checks.js';
import { nativeKeywordSearch } from '../../store/record-store.js';
import { RemoteStore } from '../remote-store.js';
import { lazyClient, serviceCalls } from '../store-call.js';
import type { IndexParams, VectorStoreCapabilities } from '../../store/vector-store.js';
import {
  openQdrant,
  type QdrantConnectionOptions,
  type QdrantLikeClient,
  requireQdrantConnection,
  withReason,
} from './qdrant-client.js';
import {
  createCollection,
  findShape,
  listIndexNames,
  type QdrantCreateIndexParams,
  QdrantIndex,
  type QdrantQueryParams,
  type QdrantShape,
} from './qdrant-index.js';

/** Options of `QdrantVector`. */
export interface QdrantVectorConfig extends QdrantConnectionOptions {
  /** For your own records. */
  id?: string;
}

const optionChecks: OptionChecks<QdrantVectorConfig> = {
  ...unchecked<QdrantVectorConfig>()('url', 'apiKey'),
  https: booleanValue,
  client: anyValue,
  id: stringValue,
};

/**
 * A vector store in Qdrant, 1.10 or later: a server, Qdrant Cloud, or a client of yours.
 *
 * A query goes through Qdrant's index (HNSW), which may miss some of the nearest vectors; `exact: true` compares all. Qdrant narrows the
 * search by equality conditions, and every filter is evaluated in full on what it returns. Quiver computes the terms in the language of the index,
 * and Qdrant ranks them. An `upsert` above 500 records or 10 MB is several requests, and not one transaction. `listVectors` lists all ids for its
 * first page, and again after a minute: it includes what this store writes meanwhile, and not everything that others write.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `OPTIONS_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`; `VECTOR_STORE_FAILED` with the client's error as cause; `VECTOR_CLIENT_MISSING` without `@qdrant/js-client-rest`
 * @example
 * const store = new QdrantVector({ url: 'http://localhost:6333' });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class QdrantVector extends RemoteStore<QdrantLikeClient, QdrantShape, object, QdrantQueryParams, QdrantIndex> {
  readonly databaseConfigKey = 'qdrant';
  readonly capabilities: VectorStoreCapabilities = nativeKeywordSearch;

  constructor(config: QdrantVectorConfig) {
    checkOptions('QdrantVector', config, optionChecks);
    const { id = 'qdrant-vector', ...connection } = config;
    requireQdrantConnection(connection);
    // The client takes no signal, so all calls share one.
    const { open } = lazyClient(() => openQdrant(connection));
    super(
      id,
      { name: 'QdrantVector', query: { exact: booleanValue }, methods: { createIndex: { language: anyValue } } },
      {
        run: serviceCalls('Qdrant', open, withReason),
        requireName: (indexName) => requireIndexName(indexName, 255),
        find: findShape,
        list: listIndexNames,
      },
    );
  }

  /** @throws `VECTOR_INDEX_CONFIG_MISMATCH` for an index that exists with another language */
  async createIndex(params: QdrantCreateIndexParams): Promise<void> {
    await this.createBy(params, createCollection);
    await this.use(params, (index) => index.complete());
  }

  protected open(shape: QdrantShape, client: QdrantLikeClient, params: IndexParams): QdrantIndex {
    return new QdrantIndex(client, shape, params);
  }
}
