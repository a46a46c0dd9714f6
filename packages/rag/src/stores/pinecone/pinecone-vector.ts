import { QuiverError, untilAborted } from '@quiver/core';
import {
  anyValue,
  checkOptions,
  ignoredOptions,
  numberIn,
  type OptionChecks,
  stringValue,
  valueThat,
  invalidOptions,
} from '@quiver/core/internal';
import type { SparseEncoder, SparseVector } from '../../words/lexical-sparse-encoder.js';
import { requireSameShape, checkUpsert } from '../../store/checks.js';
import { keywordText } from '../../store/record-text.js';
import { objectValue, rejectBeside } from '../../store/options.js';
import { nativeKeywordSearch, type OpenIndex } from '../../store/record-store.js';
import { RemoteStore } from '../../store/remote-store.js';
import { clientPerSignal, createUnlessExists, serviceCalls } from '../../store/store-call.js';
import type {
  CreateIndexParams,
  IndexParams,
  QueryParams,
  UpsertParams,
  VectorRecord,
  VectorStoreCapabilities,
} from '../../store/vector-store.js';
import { findByTerms, findNearest, requireSparseMetric } from './find-records.js';
import {
  openPinecone,
  type PineconeConnectionOptions,
  type PineconeLikeClient,
  type PineconeLikeIndex,
  type PineconeRecord,
} from './pinecone-client.js';
import {
  deleteRecords,
  findShape,
  fromPineconeRecord,
  isNotFound,
  listIndexNames,
  type LocatedShape,
  readRecords,
  requirePineconeName,
  scanRecords,
  selectIds,
  toPineconeRecord,
  writeRecords,
} from './pinecone-index.js';

const namespaceValue = valueThat((value) => typeof value === 'string', 'a string');

/** Options of `PineconeVector`. */
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

/** Parameters of `query()` of `PineconeVector`. */
export type PineconeQueryParams = QueryParams & PineconeConfig;
/** Parameters of `upsert()` of `PineconeVector`. */
export type PineconeUpsertParams = UpsertParams &
  InNamespace & {
    /** One sparse vector per record, for hybrid search. */
    sparseVectors?: readonly SparseVector[];
  };

const optionChecks: OptionChecks<PineconeVectorConfig> = {
  apiKey: anyValue,
  cloud: stringValue,
  region: stringValue,
  // An empty name is the default namespace.
  namespace: namespaceValue,
  sparseEncoder: objectValue,
  controllerHostUrl: stringValue,
  client: anyValue,
  id: stringValue,
  ...ignoredOptions({ environment: 'serverless indexes have a cloud and a region.' }),
};

type InIndex = IndexParams & InNamespace;

/**
 * A vector store in Pinecone.
 *
 * Written records are found after some seconds: `waitUntilIndexed` waits for them. Host and dimension of an index are cached for a
 * minute. Metadata of any shape is kept, within 40 KB with
 * the document; Pinecone narrows the search by the parts it understands, and every filter is evaluated in full on what it
 * returns. An `upsert` above 1,000 records or 2 MB is several requests, and not one transaction. With a `sparseEncoder`, records are
 * also found by keyword search.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `OPTIONS_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`; `FILTER_NOT_SUPPORTED` when a filter leaves too few of the 10,000 nearest records to answer;
 *   `VECTOR_STORE_FAILED` with the client's error as cause; `VECTOR_CLIENT_MISSING` without the SDK
 * @example
 * const store = new PineconeVector({ apiKey: 'pc-…', namespace: 'production' });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class PineconeVector extends RemoteStore<
  PineconeLikeClient,
  LocatedShape,
  InNamespace,
  PineconeQueryParams,
  PineconeOpenIndex
> {
  readonly databaseConfigKey = 'pinecone';
  readonly capabilities: VectorStoreCapabilities;
  readonly id: string;
  readonly #config: PineconeVectorConfig;

  constructor(config: PineconeVectorConfig) {
    checkOptions('PineconeVector', config, optionChecks);
    const { client, apiKey, controllerHostUrl } = config;
    if (client) rejectBeside('PineconeVector', 'client', { apiKey, controllerHostUrl });
    super(
      {
        name: 'PineconeVector',
        target: { namespace: namespaceValue },
        query: { sparseVector: objectValue },
        methods: {
          upsert: { sparseVectors: anyValue },
          waitUntilIndexed: { ids: anyValue, timeout: numberIn({ least: 0 }) },
        },
      },
      {
        run: serviceCalls(
          'Pinecone',
          clientPerSignal((signal) => openPinecone(config, signal)),
        ),
        requireName: requirePineconeName,
        find: findShape,
        list: listIndexNames,
      },
    );
    this.id = config.id ?? 'pinecone-vector';
    this.#config = config;
    const search = config.sparseEncoder ? nativeKeywordSearch : ({ modes: ['vector'] } as const);
    this.capabilities = { ...search, restrictions: ['namespace'] };
  }

  async createIndex(params: CreateIndexParams): Promise<void> {
    this.check('createIndex', params);
    const { indexName } = params;
    await this.indexes.create(params, async (shape, client) => {
      if (this.#config.sparseEncoder) requireSparseMetric(indexName, shape.metric);
      const { cloud = 'aws', region = 'us-east-1' } = this.#config;
      const spec = { serverless: { cloud, region } };
      const existing = await createUnlessExists(
        () => client.createIndex({ name: indexName, ...shape, spec, waitUntilReady: true }),
        () => findShape(client, indexName),
      );
      if (existing) requireSameShape(indexName, existing, shape);
    });
  }

  override async upsert(params: PineconeUpsertParams): Promise<string[]> {
    this.check('upsert', params);
    const { sparseVectors } = params;
    return this.use(params, async ({ dimension, metric, client }) => {
      const { ids, records } = checkUpsert(params, { dimension, metric });
      if (sparseVectors && sparseVectors.length !== ids.length)
        throw invalidOptions('upsert needs one sparse vector for each vector.');
      if (this.#config.sparseEncoder) requireSparseMetric(params.indexName, metric);
      const sparse = new Map(ids.map((id, position) => [id, sparseVectors?.[position]]));
      // All are checked before the first is sent.
      const checked = records.map((record) => toPineconeRecord(record, sparse.get(record.id) ?? this.#encode(record)));
      await writeRecords(client, checked);
      return ids;
    });
  }

  /**
   * Waits until records are found by their ids and counted.
   *
   * @param params.timeout - milliseconds, default 60,000
   * @throws `VECTOR_NOT_INDEXED` after the timeout; the abort reason of `signal`
   */
  async waitUntilIndexed(params: InIndex & { ids: readonly string[]; timeout?: number }): Promise<void> {
    this.check('waitUntilIndexed', params);
    const { timeout = 60_000, signal } = params;
    const ids = [...new Set(params.ids)];
    const deadline = performance.now() + timeout;
    for (let delay = 100; ; delay = Math.min(delay * 2, 2000)) {
      const found = await this.use(params, ({ client }) => readRecords(client, ids));
      if (found.length === ids.length) return;
      if (performance.now() + delay > deadline) {
        throw new QuiverError(
          'VECTOR_NOT_INDEXED',
          `After ${timeout} ms, Pinecone finds ${found.length} of ${ids.length} records of '${params.indexName}'.`,
        );
      }
      await untilAborted(() => new Promise<void>((resolve) => setTimeout(resolve, delay)), signal);
    }
  }

  #encode(record: Pick<VectorRecord, 'document' | 'metadata'>): SparseVector | undefined {
    return this.#config.sparseEncoder?.encodeDocument(keywordText(record));
  }

  /** A recreated index has another host, and the former one rejects requests, so the description need not be read again. */
  protected override change<Result>(
    params: InIndex,
    work: (index: PineconeOpenIndex) => Promise<Result>,
  ): Promise<Result> {
    return this.use(params, work);
  }

  protected open(
    { host, ...shape }: LocatedShape,
    client: PineconeLikeClient,
    { indexName, namespace: named = this.#config.namespace ?? '' }: InIndex,
  ): PineconeOpenIndex {
    const namespace = named === '' ? defaultNamespace : named;
    const index = client.index({ host, namespace }) as PineconeLikeIndex;
    const { sparseEncoder } = this.#config;
    const stored = new Map<string, PineconeRecord>();
    // A namespace exists from its first record on; before that, Pinecone rejects a deletion.
    const ignoreMissing = (removal: Promise<unknown>): Promise<unknown> =>
      removal.catch(async (error: unknown) => {
        if (!isNotFound(error) || (await findShape(client, indexName))?.host !== host) throw error;
      });
    return {
      ...shape,
      client: index,
      async count() {
        const { namespaces = {} } = await index.describeIndexStats();
        const used = namespaces[namespace] ?? (namespace === defaultNamespace ? namespaces[''] : undefined);
        return used?.recordCount ?? 0;
      },
      async read(ids, includeVector) {
        const records = await readRecords(index, ids);
        for (const record of records) stored.set(record.id, record);
        return records.map((record) => fromPineconeRecord(record, includeVector));
      },
      select: (filter) => selectIds(index, filter),
      listVectors: (params, filter) => scanRecords(index, params, filter),
      nearest: (search, { sparseVector }) => findNearest({ ...shape, index }, search, sparseVector),
      async byTerms(search) {
        requireSparseMetric(indexName, shape.metric);
        const weights = sparseEncoder?.encodeQuery(search.queryText);
        return weights ? findByTerms({ ...shape, index }, search, weights) : [];
      },
      // Updated records keep their sparse vectors until their texts change.
      write: (records) =>
        writeRecords(
          index,
          records.map((record) => {
            const before = stored.get(record.id);
            const hasSameText = before && keywordText(fromPineconeRecord(before, false)) === keywordText(record);
            const kept = before?.sparseValues?.indices?.length ? before.sparseValues : undefined;
            return toPineconeRecord(record, hasSameText || !sparseEncoder ? kept : this.#encode(record));
          }),
        ),
      remove: (ids) => ignoreMissing(deleteRecords(index, ids)),
      clear: () => ignoreMissing(index.deleteAll()),
      drop: () => client.deleteIndex(indexName),
    };
  }
}

type PineconeOpenIndex = OpenIndex<PineconeQueryParams> & { readonly client: PineconeLikeIndex };

const defaultNamespace = '__default__';
