import {
  anyValue,
  booleanValue,
  checkOptions,
  stringValue,
  wholeNumber,
  type OptionChecks,
} from '@quiver/core/options';
import { createFilterTest, type Filter } from '../../filter/index.js';
import {
  indexNotFound,
  type IndexShape,
  invalidArgument,
  requireIndexName,
  requireIndexShape,
  requireSameShape,
  toFilter,
} from '../../store/check-arguments.js';
import { idListings } from '../../store/id-listings.js';
import { argumentSettings, objectValue } from '../../store/options.js';
import { nativeKeywordSearch, type OpenIndex, RecordStore } from '../../store/record-store.js';
import {
  clientPerSignal,
  createUnlessExists,
  partsOf,
  serviceCalls,
  type ServiceCalls,
} from '../../store/store-call.js';
import type {
  Cancellable,
  CreateIndexParams,
  GetParams,
  IndexParams,
  QueryParams,
  ScanPage,
  ScanParams,
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
} from './chroma-client.js';
import { readByIds, readPages, recordsPerRead, toChromaRecord } from './chroma-record.js';
import { findRecords } from './find-records.js';

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
  /** The older name of `whereDocument`. */
  documentFilter?: ChromaWhere;
}

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
 * query, and up to 10,000 of them are ordered outside of it. `scan` lists all ids for its first page, and again after a minute: it
 * includes what this store writes meanwhile, and not everything that others write.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `VECTOR_ARGUMENT_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`; `VECTOR_QUERY_UNSUPPORTED` when too many documents hold a word of the query; `VECTOR_STORE_FAILED` with the
 *   client's error as cause; `VECTOR_CLIENT_MISSING` without `chromadb`
 * @example
 * const store = new ChromaVector({ host: 'localhost', port: 8000 });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class ChromaVector extends RecordStore<object, ChromaQueryParams> {
  readonly databaseConfigKey = 'chroma';
  readonly capabilities: VectorStoreCapabilities = nativeKeywordSearch;
  readonly id: string;
  readonly #listings = idListings();
  readonly #run: ServiceCalls<ChromaLikeClient>;

  constructor(options: ChromaVectorConfig = {}) {
    super({
      name: 'ChromaVector',
      query: { where: anyValue, whereDocument: objectValue, documentFilter: objectValue },
    });
    checkOptions('ChromaVector', options, optionChecks, argumentSettings);
    const { id = 'chroma-vector', ...config } = options;
    this.id = id;
    const open = clientPerSignal((signal) => openChroma(config, signal));
    this.#run = serviceCalls('Chroma', open);
  }

  async createIndex(params: CreateIndexParams): Promise<void> {
    this.check('createIndex', params);
    const { indexName, signal } = params;
    requireChromaName(indexName);
    const shape = requireIndexShape(params);
    await this.#run(`creating the index '${indexName}'`, signal, async (client) => {
      const create = (): Promise<unknown> =>
        client.createCollection({
          name: indexName,
          configuration: { hnsw: { space: spaces[shape.metric] } },
          metadata: { quiver_dimension: shape.dimension, quiver_metric: shape.metric },
          embeddingFunction: null,
        });
      const existing = await createUnlessExists(create, () => findCollection(client, indexName));
      if (existing) requireSameShape(indexName, existing, shape);
    });
  }

  override async query(params: ChromaQueryParams): Promise<VectorMatch[]> {
    return super.query({ ...params, filter: bothConditions(params) });
  }

  override async scan(params: ScanParams & Pick<ChromaQueryParams, 'where'>): Promise<ScanPage> {
    return super.scan({ ...params, filter: bothConditions(params) });
  }

  override async get(params: GetParams & Pick<ChromaQueryParams, 'where'>): Promise<VectorRecord[]> {
    const records = await super.get(params);
    const matches = createFilterTest(toFilter(params.where));
    return records.filter(({ metadata }) => matches(metadata));
  }

  async listIndexes(params: Cancellable = {}): Promise<string[]> {
    this.check('listIndexes', params);
    return this.#run('listing indexes', params.signal, async (client) => {
      const names: string[] = [];
      for (let offset = 0; ; offset += recordsPerRead) {
        const page = await client.listCollections({ limit: recordsPerRead, offset });
        names.push(...page.filter(({ metadata }) => readShape(metadata)).map(({ name }) => name));
        if (page.length < recordsPerRead) return names.toSorted();
      }
    });
  }

  protected async use<Result>(
    { indexName, signal }: IndexParams,
    work: (index: OpenIndex<ChromaQueryParams>) => Promise<Result>,
  ): Promise<Result> {
    requireChromaName(indexName);
    return this.#run(`using the index '${indexName}'`, signal, async (client) => {
      const found = await findCollection(client, indexName);
      if (!found) throw indexNotFound(indexName, await this.listIndexes());
      const { collection, ...shape } = found;
      return work({
        ...shape,
        count: () => collection.count(),
        read: (ids, includeVector) => readByIds(collection, ids, includeVector),
        select: (filter, after) => this.#select(indexName, collection, filter, after),
        find: (search, filter, params) => findRecords({ ...found, filter, params }, search),
        write: async (records) => {
          for (const part of partsOf(records, await client.getMaxBatchSize())) {
            const rows = part.map(toChromaRecord);
            await collection.upsert({
              ids: rows.map(({ id }) => id),
              embeddings: rows.map(({ embedding }) => embedding),
              metadatas: rows.map(({ metadata }) => metadata),
              documents: rows.map(({ document }) => document),
            });
          }
        },
        remove: (ids) => deleteRecords(collection, ids),
        clear: async () => deleteRecords(collection, await this.#select(indexName, collection, undefined)),
        drop: () => client.deleteCollection({ name: indexName }),
      });
    });
  }

  protected override async change<Result>(
    params: IndexParams,
    work: (index: OpenIndex<ChromaQueryParams>) => Promise<Result>,
  ): Promise<Result> {
    return this.use(params, work).finally(() => this.#listings.clear());
  }

  async #select(
    indexName: string,
    collection: ChromaCollection,
    filter: Filter | undefined,
    after?: string,
  ): Promise<readonly string[]> {
    return this.#listings.select(JSON.stringify([indexName, filter]), after, async () => {
      const ids: string[] = [];
      const matches = createFilterTest(filter);
      for await (const page of readPages(collection, { include: filter ? ['metadatas'] : [] }, filter))
        for (const { id, metadata } of page) if (matches(metadata)) ids.push(id);
      return ids;
    });
  }
}

/** `where` of `databaseConfig` can separate tenants, so it applies to every read of a query tool. */
function bothConditions({ filter, where }: Pick<ChromaQueryParams, 'filter' | 'where'>): VectorFilter {
  return where && filter ? { $and: [where, filter] } : (filter ?? where);
}

/** Chroma requires three characters, and a letter or digit at the end. @throws `VECTOR_ARGUMENT_INVALID` */
function requireChromaName(indexName: string): void {
  requireIndexName(indexName, 100);
  if (indexName.length >= 3 && /[a-z0-9]$/i.test(indexName)) return;
  throw invalidArgument(
    `'${indexName}' cannot name an index in Chroma: at least 3 characters, with a letter or digit last.`,
  );
}

/** Returns a collection that this store created, as the server describes it now. */
async function findCollection(
  client: ChromaLikeClient,
  indexName: string,
): Promise<(IndexShape & { collection: ChromaCollection }) | undefined> {
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

async function deleteRecords(collection: ChromaCollection, ids: readonly string[]): Promise<void> {
  for (const part of partsOf(ids, recordsPerRead)) await collection.delete({ ids: part });
}
