import {
  checkUpsert,
  indexNotFound,
  invalidArgument,
  recordUpdate,
  requireFilter,
  requireIndexShape,
  requireOneSelection,
  requireSameShape,
  toFilter,
} from '../../store/check-arguments.js';
import { fuseSearches, runSearch } from '../../store/search.js';
import { serviceCalls, type ServiceCalls } from '../../store/store-call.js';
import type {
  Cancellable,
  CreateIndexParams,
  DeleteVectorsParams,
  GetParams,
  IndexDescription,
  IndexParams,
  QueryParams,
  ScanPage,
  ScanParams,
  UpdateVectorParams,
  UpsertParams,
  VectorFilter,
  VectorMatch,
  VectorMetric,
  VectorRecord,
  VectorStore,
  VectorStoreCapabilities,
} from '../../store/vector-store.js';
import { type ChromaConnectionOptions, type ChromaLikeClient, type ChromaWhere, openChroma } from './chroma-client.js';
import {
  deleteRecords,
  findCollection,
  idListings,
  type OpenCollection,
  readByIds,
  readShape,
  recordsPerRead,
  requireChromaName,
  scanCollection,
  selectIds,
  writeRecords,
  writeShape,
} from './chroma-collection.js';
import { findRecords } from './find-records.js';

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

export interface ChromaQueryParams extends QueryParams, ChromaConfig {
  /** The older name of `whereDocument`. */
  documentFilter?: ChromaWhere;
}

const spaces: Readonly<Record<VectorMetric, string>> = { cosine: 'cosine', euclidean: 'l2', dotproduct: 'ip' };

interface InCollection {
  readonly indexName: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A vector store in Chroma: a client of yours, a server, or Chroma Cloud.
 *
 * Metadata of any shape is kept as JSON; Chroma narrows the search by equality, and every filter is evaluated in full on what it
 * returns. Its index is approximate. Batches are as large as the server allows, and an `upsert` of several of them is not one
 * transaction. Empty documents count as none. In the modes `keyword` and `hybrid`, Chroma picks the documents that hold a word of the
 * question, and up to 10,000 of them are ordered outside of it.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `VECTOR_ARGUMENT_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`; `VECTOR_QUERY_UNSUPPORTED` when too many documents hold a word of the question; `VECTOR_STORE_FAILED` with the
 *   client's error as cause; `VECTOR_CLIENT_MISSING` without `chromadb`
 * @example
 * const store = new ChromaVector({ host: 'localhost', port: 8000 });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class ChromaVector implements VectorStore {
  readonly databaseConfigKey = 'chroma';
  readonly capabilities: VectorStoreCapabilities = {
    modes: ['vector', 'keyword', 'hybrid'],
    keywordRanking: 'native',
  };
  readonly id: string;
  readonly #listings = idListings(() => performance.now());
  readonly #run: ServiceCalls<ChromaLikeClient>;

  constructor({ id = 'chroma-vector', ...config }: ChromaVectorConfig = {}) {
    this.id = id;
    this.#run = serviceCalls('Chroma', (signal) => openChroma(config, signal));
  }

  async createIndex({ indexName, dimension, metric = 'cosine', signal }: CreateIndexParams): Promise<void> {
    requireChromaName(indexName);
    requireIndexShape({ dimension, metric });
    await this.#run(`creating the index '${indexName}'`, signal, async (client) => {
      try {
        await client.createCollection({
          name: indexName,
          configuration: { hnsw: { space: spaces[metric] } },
          metadata: writeShape({ dimension, metric }),
          embeddingFunction: null,
        });
      } catch (error) {
        // It exists, perhaps since a moment ago, or there is another reason, which the look tells.
        const existing = await findCollection(client, indexName);
        if (!existing) throw error;
        requireSameShape(indexName, existing, { dimension, metric });
      }
    });
  }

  async upsert(params: UpsertParams): Promise<string[]> {
    return this.#change(params, async ({ collection, dimension }, client) => {
      const { ids, records } = checkUpsert(params, dimension);
      await writeRecords(client, collection, records);
      return ids;
    });
  }

  async query(params: ChromaQueryParams): Promise<VectorMatch[]> {
    return runSearch(params, { name: 'ChromaVector', capabilities: this.capabilities }, (search) => {
      const filter = toFilter(bothOf(params.filter, params.where));
      const whereDocument = params.whereDocument ?? params.documentFilter;
      return this.#use(params, (open) =>
        fuseSearches(search, (part) => findRecords({ open, filter, whereDocument }, part)),
      );
    });
  }

  async get({ indexName, ids, includeVector = false, signal }: GetParams): Promise<VectorRecord[]> {
    return this.#use({ indexName, signal }, ({ collection }) => readByIds(collection, ids, includeVector));
  }

  async updateVector({ indexName, id, filter, update, signal }: UpdateVectorParams): Promise<void> {
    requireOneSelection('updateVector', id, filter);
    await this.#change({ indexName, signal }, async ({ collection, dimension }, client) => {
      const toUpdated = recordUpdate(update, dimension);
      const ids = id === undefined ? await selectIds(collection, toFilter(requireFilter(filter))) : [id];
      const records = await readByIds(collection, ids, true);
      if (id !== undefined && records.length === 0)
        throw invalidArgument(`The index '${indexName}' has no record '${id}' to update.`);
      await writeRecords(client, collection, records.map(toUpdated));
    });
  }

  async deleteVector({ id, ...params }: IndexParams & { id: string }): Promise<void> {
    await this.deleteVectors({ ...params, ids: [id] });
  }

  async deleteVectors({ indexName, ids, filter, signal }: DeleteVectorsParams): Promise<void> {
    requireOneSelection('deleteVectors', ids, filter);
    await this.#change({ indexName, signal }, async ({ collection }) => {
      await deleteRecords(collection, ids ?? (await selectIds(collection, toFilter(requireFilter(filter)))));
    });
  }

  /** The ids are asked for at the first page, and again after a minute; what this store writes meanwhile is seen, of others not all. */
  async scan(params: ScanParams): Promise<ScanPage> {
    return this.#use(params, ({ collection }) => scanCollection(collection, params, this.#listings));
  }

  async listIndexes({ signal }: Cancellable = {}): Promise<string[]> {
    return this.#run('listing indexes', signal, async (client) => {
      const names: string[] = [];
      for (let offset = 0; ; offset += recordsPerRead) {
        const page = await client.listCollections({ limit: recordsPerRead, offset });
        names.push(...page.filter(({ metadata }) => readShape(metadata)).map(({ name }) => name));
        if (page.length < recordsPerRead) return names.toSorted();
      }
    });
  }

  async describeIndex(params: IndexParams): Promise<IndexDescription> {
    return this.#use(params, async ({ collection, dimension, metric }) => ({
      dimension,
      metric,
      count: await collection.count(),
    }));
  }

  async truncateIndex(params: IndexParams): Promise<void> {
    await this.#change(params, async ({ collection }) =>
      deleteRecords(collection, await selectIds(collection, undefined)),
    );
  }

  async deleteIndex(params: IndexParams): Promise<void> {
    await this.#change(params, (_open, client) => client.deleteCollection({ name: params.indexName }));
  }

  async #change<Result>(
    target: InCollection,
    work: (open: OpenCollection, client: ChromaLikeClient) => Promise<Result>,
  ): Promise<Result> {
    return this.#use(target, work).finally(() => this.#listings.forgetAll());
  }

  async #use<Result>(
    { indexName, signal }: InCollection,
    work: (open: OpenCollection, client: ChromaLikeClient) => Promise<Result>,
  ): Promise<Result> {
    requireChromaName(indexName);
    return this.#run(`using the index '${indexName}'`, signal, async (client) => {
      const open = await findCollection(client, indexName);
      if (!open) throw indexNotFound(indexName, await this.listIndexes());
      return work(open, client);
    });
  }
}

function bothOf(filter: VectorFilter, where: VectorFilter): VectorFilter {
  if (filter === undefined || filter === null) return where;
  return where === undefined || where === null ? filter : { $and: [where, filter] };
}
