import { QuiverError, untilAborted } from '@quiver/core';
import {
  checkUpsert,
  indexNotFound,
  type IndexShape,
  invalidArgument,
  recordText,
  recordUpdate,
  requireFilter,
  requireIndexShape,
  requireOneSelection,
  requireSameShape,
  requireTopK,
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
  VectorMatch,
  VectorRecord,
  VectorStore,
  VectorStoreCapabilities,
} from '../../store/vector-store.js';
import { findRecords, requireSparseMetric } from './find-records.js';
import {
  openPinecone,
  type PineconeConnectionOptions,
  type PineconeLikeClient,
  type PineconeLikeIndex,
  type SparseVector,
} from './pinecone-client.js';
import {
  deleteRecords,
  findShape,
  knownShapes,
  type LocatedShape,
  readByIds,
  readPage,
  removeIfThere,
  requirePineconeName,
  selectIds,
  writeRecords,
} from './pinecone-index.js';
import { fromPineconeRecord, toPineconeRecord } from './pinecone-record.js';
import type { SparseEncoder } from './sparse-encoder.js';

export interface PineconeVectorConfig extends PineconeConnectionOptions {
  /** For your own records. */
  id?: string;
  /** Cloud of new indexes. Default `aws`. */
  cloud?: string;
  /** Default `us-east-1`. */
  region?: string;
  /** The part of each index that is used, for example a tenant's. Default: Pinecone's default namespace. */
  namespace?: string;
  /**
   * Stores the weights of terms with each vector, which keyword and hybrid search need: `createLexicalSparseEncoder()`, or one of
   * yours. Its indexes have the metric `dotproduct`; no other takes such weights.
   */
  sparseEncoder?: SparseEncoder;
}

interface InNamespace {
  /** Instead of the store's. */
  namespace?: string;
}

/** Block `pinecone` of a query tool's `databaseConfig`. */
export interface PineconeConfig extends InNamespace {
  /** Weights of words, for an index that stores them next to the vectors. */
  sparseVector?: SparseVector;
}

export type PineconeQueryParams = QueryParams & PineconeConfig;
export type PineconeUpsertParams = UpsertParams & InNamespace & { sparseVectors?: readonly SparseVector[] };

interface OpenIndex extends IndexShape {
  readonly index: PineconeLikeIndex;
  readonly namespace: string;
  /** Asks the service whether the index is still the same. */
  readonly isThere: () => Promise<boolean>;
}

type InIndex = IndexParams & InNamespace;

/**
 * A vector store in Pinecone.
 *
 * What was written is found after some seconds: `waitUntilIndexed` waits for it. Host and dimension of an index are asked for once a
 * minute. Metadata of any shape is kept, within 40 KB with
 * the document; Pinecone narrows the search by the parts it understands, and every filter is evaluated in full on what it
 * returns. An `upsert` above 1,000 records or 2 MB is several requests, and not one transaction. With a `sparseEncoder`, records are
 * also found by keyword search.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `VECTOR_ARGUMENT_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`; `FILTER_NOT_SUPPORTED` when a filter leaves too few of the 10,000 nearest records to answer;
 *   `VECTOR_STORE_FAILED` with the client's error as cause; `VECTOR_CLIENT_MISSING` without the SDK
 * @example
 * const store = new PineconeVector({ apiKey: 'pc-…', namespace: 'production' });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class PineconeVector implements VectorStore {
  readonly databaseConfigKey = 'pinecone';
  readonly capabilities: VectorStoreCapabilities;
  readonly id: string;
  readonly #config: PineconeVectorConfig;
  readonly #shapes = knownShapes(() => performance.now());
  readonly #run: ServiceCalls<PineconeLikeClient>;

  constructor(config: PineconeVectorConfig) {
    this.id = config.id ?? 'pinecone-vector';
    this.#config = config;
    this.#run = serviceCalls('Pinecone', (signal) => openPinecone(config, signal));
    this.capabilities = config.sparseEncoder
      ? { modes: ['vector', 'keyword', 'hybrid'], keywordRanking: 'native' }
      : { modes: ['vector'] };
  }

  async createIndex({ indexName, dimension, metric = 'cosine', signal }: CreateIndexParams): Promise<void> {
    requirePineconeName(indexName);
    requireIndexShape({ dimension, metric });
    if (this.#config.sparseEncoder) requireSparseMetric(indexName, metric);
    await this.#run(`creating the index '${indexName}'`, signal, async (client) => {
      const { cloud = 'aws', region = 'us-east-1' } = this.#config;
      const spec = { serverless: { cloud, region } };
      try {
        await client.createIndex({ name: indexName, dimension, metric, spec, waitUntilReady: true });
      } catch (error) {
        // It exists, perhaps since a moment ago, or there is another reason, which the look tells.
        const existing = await findShape(client, indexName);
        if (!existing) throw error;
        requireSameShape(indexName, existing, { dimension, metric });
      }
    });
    this.#shapes.forget(indexName);
  }

  async upsert(params: PineconeUpsertParams): Promise<string[]> {
    return this.#use(params, async ({ index, dimension, metric }) => {
      const { ids, records } = checkUpsert(params, dimension);
      const { sparseVectors } = params;
      if (sparseVectors && sparseVectors.length !== params.vectors.length)
        throw invalidArgument('upsert needs one sparse vector for each vector.');
      if (this.#config.sparseEncoder) requireSparseMetric(params.indexName, metric);
      const sparse = new Map(ids.map((id, position) => [id, sparseVectors?.[position]]));
      // All are checked before the first is sent.
      await writeRecords(
        index,
        records.map((record) => toPineconeRecord(record, sparse.get(record.id) ?? this.#encode(record))),
      );
      return ids;
    });
  }

  async query(params: PineconeQueryParams): Promise<VectorMatch[]> {
    const { sparseEncoder } = this.#config;
    return runSearch(params, { name: 'PineconeVector', capabilities: this.capabilities }, (search) => {
      const filter = toFilter(params.filter);
      return this.#use(params, (open) =>
        fuseSearches(search, (part) => findRecords({ params, open, sparseEncoder, filter }, part)),
      );
    });
  }

  async get({ ids, includeVector = false, ...params }: GetParams & InNamespace): Promise<VectorRecord[]> {
    return this.#use(params, async ({ index }) =>
      (await readByIds(index, ids)).map((record) => fromPineconeRecord(record, includeVector)),
    );
  }

  async updateVector({ id, filter, update, ...params }: UpdateVectorParams & InNamespace): Promise<void> {
    requireOneSelection('updateVector', id, filter);
    await this.#use(params, async ({ index, dimension }) => {
      const toUpdated = recordUpdate(update, dimension);
      const ids = id === undefined ? await selectIds(index, toFilter(requireFilter(filter))) : [id];
      const records = await readByIds(index, ids);
      if (id !== undefined && records.length === 0)
        throw invalidArgument(`The index '${params.indexName}' has no record '${id}' to update.`);
      const updated = records.map((stored) => {
        const before = fromPineconeRecord(stored, true);
        const after = toUpdated(before);
        const kept = stored.sparseValues?.indices?.length ? stored.sparseValues : undefined;
        const hasNewText = this.#config.sparseEncoder && recordText(after) !== recordText(before);
        return toPineconeRecord(after, hasNewText ? this.#encode(after) : kept);
      });
      await writeRecords(index, updated);
    });
  }

  async deleteVector({ id, ...params }: InIndex & { id: string }): Promise<void> {
    await this.deleteVectors({ ...params, ids: [id] });
  }

  async deleteVectors({ ids, filter, ...params }: DeleteVectorsParams & InNamespace): Promise<void> {
    requireOneSelection('deleteVectors', ids, filter);
    await this.#use(params, async ({ index, isThere }) => {
      const chosen = ids ?? (await selectIds(index, toFilter(requireFilter(filter))));
      await removeIfThere(() => deleteRecords(index, chosen), isThere);
    });
  }

  /** A page with a filter may hold fewer records than its limit, and not be the last. */
  async scan({
    cursor,
    limit = 1000,
    filter,
    includeVector = false,
    ...params
  }: ScanParams & InNamespace): Promise<ScanPage> {
    const size = requireTopK(limit);
    const parsed = toFilter(filter);
    return this.#use(params, async ({ index }) => {
      const records: VectorRecord[] = [];
      let token = cursor;
      do {
        const page = await readPage(index, { filter: parsed, limit: size - records.length, token });
        records.push(...page.records.map((record) => fromPineconeRecord(record, includeVector)));
        token = page.nextToken;
      } while (token !== undefined && records.length < size);
      return { records, ...(token !== undefined && { nextCursor: token }) };
    });
  }

  async listIndexes({ signal }: Cancellable = {}): Promise<string[]> {
    return this.#run('listing indexes', signal, async (client) =>
      ((await client.listIndexes()).indexes ?? []).map(({ name }) => name).toSorted(),
    );
  }

  /** The number of records may lag behind. */
  async describeIndex(params: InIndex): Promise<IndexDescription> {
    this.#shapes.forget(params.indexName);
    return this.#use(params, async ({ index, namespace, dimension, metric }) => {
      const { namespaces = {} } = await index.describeIndexStats();
      const used = namespaces[namespace] ?? (namespace === defaultNamespace ? namespaces[''] : undefined);
      return { dimension, metric, count: used?.recordCount ?? 0 };
    });
  }

  async truncateIndex(params: InIndex): Promise<void> {
    await this.#use(params, ({ index, isThere }) => removeIfThere(() => index.deleteAll(), isThere));
  }

  async deleteIndex(params: IndexParams): Promise<void> {
    await this.#use(params, (_open, client) => client.deleteIndex(params.indexName));
    this.#shapes.forget(params.indexName);
  }

  /**
   * Waits until records are found by their ids and counted.
   *
   * @param timeout - milliseconds, default 60,000
   * @throws `VECTOR_NOT_INDEXED` after the timeout; the abort reason of `signal`
   */
  async waitUntilIndexed(params: InIndex & { ids: readonly string[]; timeout?: number }): Promise<void> {
    const { ids, timeout = 60_000, signal } = params;
    const wanted = new Set(ids).size;
    const deadline = performance.now() + timeout;
    for (let delay = 100; ; delay = Math.min(delay * 2, 2000)) {
      const found = await this.#use(params, ({ index }) => readByIds(index, ids));
      if (found.length === wanted) return;
      if (performance.now() + delay > deadline) {
        throw new QuiverError(
          'VECTOR_NOT_INDEXED',
          `After ${timeout} ms, Pinecone finds ${found.length} of ${wanted} records of '${params.indexName}'.`,
        );
      }
      await untilAborted(() => new Promise<void>((resolve) => setTimeout(resolve, delay)), signal);
    }
  }

  #encode(record: Pick<VectorRecord, 'document' | 'metadata'>): SparseVector | undefined {
    return this.#config.sparseEncoder?.encodeDocument(recordText(record));
  }

  async #use<Result>(
    { indexName, namespace = this.#config.namespace ?? '', signal }: InIndex,
    work: (open: OpenIndex, client: PineconeLikeClient) => Promise<Result>,
  ): Promise<Result> {
    requirePineconeName(indexName);
    const used = namespace === '' ? defaultNamespace : namespace;
    return this.#run(`using the index '${indexName}'`, signal, (client) => {
      const find = async (): Promise<LocatedShape> => {
        const shape = await findShape(client, indexName);
        if (!shape) throw indexNotFound(indexName, await this.listIndexes());
        return shape;
      };
      return this.#shapes.use(indexName, find, (shape) => {
        const index = client.index({ host: shape.host, namespace: used }) as PineconeLikeIndex;
        const isThere = async (): Promise<boolean> => (await findShape(client, indexName))?.host === shape.host;
        return work({ ...shape, index, namespace: used, isThere }, client);
      });
    });
  }
}

const defaultNamespace = '__default__';
