import {
  anyValue,
  booleanValue,
  checkOptions,
  type OptionChecks,
  resolveAliases,
  stringValue,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import { bothFilters, createFilterTest, toFilter } from '../../filter/index.js';
import { requireIndexName } from '../../store/checks.js';
import { objectValue } from '../../store/options.js';
import { nativeKeywordSearch } from '../../store/record-store.js';
import { RemoteStore } from '../remote-store.js';
import { clientPerSignal, serviceCalls } from '../store-call.js';
import type {
  CreateIndexParams,
  GetParams,
  IndexParams,
  QueryParams,
  VectorPage,
  ListVectorsParams,
  VectorFilter,
  VectorMatch,
  VectorRecord,
  VectorStoreCapabilities,
} from '../../store/vector-store.js';
import {
  type ChromaConnectionOptions,
  type ChromaLikeClient,
  type ChromaWhere,
  openChroma,
  requireConnection,
} from './chroma-client.js';
import { ChromaIndex, type ChromaShape, createCollection, findCollection, listIndexNames } from './chroma-index.js';

/** Options of `ChromaVector`. */
export interface ChromaVectorConfig extends ChromaConnectionOptions {
  /** For your own records. */
  id?: string;
}

/** Block `chroma` of a query tool's `databaseConfig`. */
export interface ChromaConfig {
  /** A further filter on metadata, in the same language; both must hold. */
  where?: VectorFilter;
  /** A condition on the documents in Chroma's language, such as `{ $contains: 'API' }`. */
  whereDocument?: ChromaWhere;
}

/** Parameters of `query()` of `ChromaVector`. */
export interface ChromaQueryParams extends QueryParams, ChromaConfig {
  /** Alias of `whereDocument`. */
  documentFilter?: ChromaWhere;
}

type ReadConditions = Pick<ChromaQueryParams, 'where' | 'whereDocument' | 'documentFilter'>;

const optionChecks: OptionChecks<ChromaVectorConfig> = {
  host: stringValue,
  port: wholeNumber(0),
  ssl: booleanValue,
  tenant: stringValue,
  database: stringValue,
  headers: objectValue,
  apiKey: stringValue,
  client: anyValue,
  id: stringValue,
};

/**
 * A vector store in Chroma: a client of yours, a server, or Chroma Cloud.
 *
 * Metadata of any shape is kept as JSON; Chroma narrows the search by equality, and every filter is evaluated in full on what it
 * returns. Its index is approximate. Batches are as large as the server allows, and an `upsert` of several of them is not one
 * transaction. Empty documents count as none. In the modes `keyword` and `hybrid`, Chroma picks the documents that hold a word of the
 * query, and up to 10,000 of them are ordered outside of it. `listVectors` lists all ids for its first page, and again after a minute: it
 * includes what this store writes meanwhile, and not everything that others write.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `OPTIONS_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`; `VECTOR_QUERY_UNSUPPORTED` when too many documents hold a word of the query; `VECTOR_STORE_FAILED` with the
 *   client's error as cause; `VECTOR_CLIENT_MISSING` without `chromadb`
 * @example
 * const store = new ChromaVector({ host: 'localhost', port: 8000 });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class ChromaVector extends RemoteStore<ChromaLikeClient, ChromaShape, object, ChromaQueryParams> {
  readonly databaseConfigKey = 'chroma';
  readonly capabilities: VectorStoreCapabilities = { ...nativeKeywordSearch, restrictions: ['where'] };

  constructor(options: ChromaVectorConfig = {}) {
    checkOptions('ChromaVector', options, optionChecks);
    const { id = 'chroma-vector', ...config } = options;
    requireConnection(config);
    const open = clientPerSignal((signal) => openChroma(config, signal));
    super(
      id,
      { name: 'ChromaVector', query: { where: anyValue, whereDocument: objectValue, documentFilter: objectValue } },
      {
        run: serviceCalls('Chroma', open),
        requireName: requireChromaName,
        find: findCollection,
        list: listIndexNames,
        // A collection sends its requests with the signal of the call that has found it.
        maxAge: 0,
      },
    );
  }

  async createIndex(params: CreateIndexParams): Promise<void> {
    await this.createBy(params, createCollection);
  }

  override async query(params: ChromaQueryParams): Promise<VectorMatch[]> {
    return super.query({ ...params, filter: bothFilters(params.where, params.filter) });
  }

  override async listVectors(params: ListVectorsParams & ReadConditions): Promise<VectorPage> {
    return super.listVectors({ ...params, filter: bothFilters(params.where, params.filter) });
  }

  override async get(params: GetParams & ReadConditions): Promise<VectorRecord[]> {
    const records = await super.get(params);
    const matches = createFilterTest(toFilter(params.where));
    return records.filter(({ metadata }) => matches(metadata));
  }

  protected open(shape: ChromaShape, client: ChromaLikeClient, params: IndexParams & ReadConditions): ChromaIndex {
    const { whereDocument } = resolveAliases('ChromaVector', params);
    return new ChromaIndex(client, shape, params, whereDocument);
  }
}

/** Chroma requires three characters, and a letter or digit at the end. @throws `OPTIONS_INVALID` */
function requireChromaName(indexName: string): void {
  requireIndexName(indexName, 100);
  if (indexName.length >= 3 && /[a-z0-9]$/i.test(indexName)) return;
  throw invalidOptions(
    `'${indexName}' cannot name an index in Chroma: at least 3 characters, with a letter or digit last.`,
  );
}
