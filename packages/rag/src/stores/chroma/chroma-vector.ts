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
import { type IndexShape, requireIndexName, requireSameShape } from '../../store/checks.js';
import { objectValue } from '../../store/options.js';
import { nativeKeywordSearch, type OpenIndex } from '../../store/record-store.js';
import { RemoteStore } from '../../store/remote-store.js';
import { clientPerSignal, createUnlessExists, serviceCalls } from '../../store/store-call.js';
import type {
  CreateIndexParams,
  GetParams,
  IndexParams,
  QueryParams,
  VectorPage,
  ListVectorsParams,
  VectorFilter,
  VectorMatch,
  VectorMetric,
  VectorRecord,
  VectorStoreCapabilities,
} from '../../store/vector-store.js';
import {
  type ChromaCollection,
  type ChromaConnectionOptions,
  type ChromaLikeClient,
  type ChromaWhere,
  openChroma,
  requireConnection,
} from './chroma-client.js';
import { deleteRecords, readRecords, recordsPerRead, selectIds, writeRecords } from './chroma-record.js';
import { findByTerms, findNearest } from './find-records.js';

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

/** Conditions of every call that reads: they can separate tenants. */
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

const spaces: Readonly<Record<VectorMetric, string>> = { cosine: 'cosine', euclidean: 'l2', dotproduct: 'ip' };

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
  readonly id: string;

  constructor(options: ChromaVectorConfig = {}) {
    checkOptions('ChromaVector', options, optionChecks);
    const { id = 'chroma-vector', ...config } = options;
    requireConnection(config);
    const open = clientPerSignal((signal) => openChroma(config, signal));
    super(
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
    this.id = id;
  }

  async createIndex(params: CreateIndexParams): Promise<void> {
    this.check('createIndex', params);
    const { indexName: name } = params;
    await this.indexes.create(params, async (shape, client) => {
      const create = (): Promise<unknown> =>
        client.createCollection({
          name,
          configuration: { hnsw: { space: spaces[shape.metric] } },
          metadata: { quiver_dimension: shape.dimension, quiver_metric: shape.metric },
          embeddingFunction: null,
        });
      const existing = await createUnlessExists(create, () => findCollection(client, name));
      if (existing) requireSameShape(name, existing, shape);
    });
  }

  override async query(params: ChromaQueryParams): Promise<VectorMatch[]> {
    return super.query({ ...params, filter: bothConditions(params) });
  }

  override async listVectors(params: ListVectorsParams & ReadConditions): Promise<VectorPage> {
    return super.listVectors({ ...params, filter: bothConditions(params) });
  }

  override async get(params: GetParams & ReadConditions): Promise<VectorRecord[]> {
    const records = await super.get(params);
    const matches = createFilterTest(toFilter(params.where));
    return records.filter(({ metadata }) => matches(metadata));
  }

  protected open(
    { collection, dimension, metric }: ChromaShape,
    client: ChromaLikeClient,
    params: IndexParams & ReadConditions,
  ): OpenIndex<ChromaQueryParams> {
    const { indexName: name } = params;
    const { whereDocument } = resolveAliases('ChromaVector', params);
    const index = { collection, dimension, metric, whereDocument };
    return {
      dimension,
      metric,
      count: () => collection.count(),
      read: (ids, includeVector) => readRecords(index, ids, includeVector),
      select: (filter, after) =>
        this.listings.select(JSON.stringify([name, filter, whereDocument]), after, () => selectIds(index, filter)),
      nearest: (search) => findNearest(index, search),
      byTerms: (search) => findByTerms(index, search),
      write: async (records) => writeRecords(collection, records, await client.getMaxBatchSize()),
      remove: (ids) => deleteRecords(collection, ids),
      clear: async () => deleteRecords(collection, await selectIds(index, undefined)),
      drop: () => client.deleteCollection({ name }),
    };
  }
}

function bothConditions({ filter, where }: Pick<ChromaQueryParams, 'filter' | 'where'>): VectorFilter {
  return bothFilters(where, filter);
}

/** Chroma requires three characters, and a letter or digit at the end. @throws `OPTIONS_INVALID` */
function requireChromaName(indexName: string): void {
  requireIndexName(indexName, 100);
  if (indexName.length >= 3 && /[a-z0-9]$/i.test(indexName)) return;
  throw invalidOptions(
    `'${indexName}' cannot name an index in Chroma: at least 3 characters, with a letter or digit last.`,
  );
}

/** A collection that this store created. */
interface ChromaShape extends IndexShape {
  readonly collection: ChromaCollection;
}

/** Returns a collection as the server describes it now; `undefined` if this store did not create it. */
async function findCollection(client: ChromaLikeClient, indexName: string): Promise<ChromaShape | undefined> {
  let collection: ChromaCollection;
  try {
    collection = (await client.getCollection({ name: indexName, embeddingFunction: null })) as ChromaCollection;
  } catch (error) {
    if ((error as { name?: unknown } | null)?.name === 'ChromaNotFoundError') return undefined;
    throw error;
  }
  const shape = readShape(collection.metadata);
  return shape && { collection, ...shape };
}

/** Returns the shape in the metadata of a collection of Quiver. */
function readShape(metadata: unknown): IndexShape | undefined {
  const { quiver_dimension: dimension, quiver_metric: metric } = (metadata ?? {}) as Record<string, unknown>;
  return typeof dimension === 'number' && typeof metric === 'string'
    ? { dimension, metric: metric as VectorMetric }
    : undefined;
}

async function listIndexNames(client: ChromaLikeClient): Promise<string[]> {
  const names: string[] = [];
  for (let offset = 0; ; offset += recordsPerRead) {
    const page = await client.listCollections({ limit: recordsPerRead, offset });
    names.push(...page.filter(({ metadata }) => readShape(metadata)).map(({ name }) => name));
    if (page.length < recordsPerRead) return names.toSorted();
  }
}
