import { QuiverError, untilAborted } from '@quiver/core';
import {
  anyValue,
  checkOptions,
  ignoredOptions,
  numberIn,
  type OptionChecks,
  stringValue,
  valueThat,
} from '@quiver/core/internal';
import { objectValue, rejectBeside } from '../../store/options.js';
import { nativeKeywordSearch } from '../../store/record-store.js';
import { RemoteStore } from '../remote-store.js';
import { clientPerSignal, serviceCalls } from '../store-call.js';
import type { CreateIndexParams, IndexParams, VectorStoreCapabilities } from '../../store/vector-store.js';
import type { SparseEncoder } from '../../words/lexical-sparse-encoder.js';
import { openPinecone, type PineconeConnectionOptions, type PineconeLikeClient } from './pinecone-client.js';
import {
  findShape,
  type InNamespace,
  listIndexNames,
  type LocatedShape,
  PineconeIndex,
  type PineconeQueryParams,
  type PineconeUpsertParams,
  requirePineconeName,
  requireSparseMetric,
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
  PineconeIndex
> {
  readonly databaseConfigKey = 'pinecone';
  readonly capabilities: VectorStoreCapabilities;
  readonly #config: PineconeVectorConfig;

  constructor(config: PineconeVectorConfig) {
    checkOptions('PineconeVector', config, optionChecks);
    const { client, apiKey, controllerHostUrl } = config;
    if (client) rejectBeside('PineconeVector', 'client', { apiKey, controllerHostUrl });
    super(
      config.id ?? 'pinecone-vector',
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
    this.#config = config;
    const search = config.sparseEncoder ? nativeKeywordSearch : ({ modes: ['vector'] } as const);
    this.capabilities = { ...search, restrictions: ['namespace'] };
  }

  async createIndex(params: CreateIndexParams): Promise<void> {
    const { cloud = 'aws', region = 'us-east-1', sparseEncoder } = this.#config;
    if (sparseEncoder) requireSparseMetric(params.indexName, params.metric ?? 'cosine');
    const spec = { serverless: { cloud, region } };
    await this.createBy(params, (client, { name, dimension, metric }) =>
      client.createIndex({ name, dimension, metric, spec, waitUntilReady: true }),
    );
  }

  override async upsert(params: PineconeUpsertParams): Promise<string[]> {
    this.check('upsert', params);
    return this.use(params, (index) => index.upsert(params));
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
      const found = await this.use(params, (index) => index.read(ids, false));
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

  /** A recreated index has another host, and the former one rejects requests, so the description need not be read again. */
  protected override change<Result>(params: InIndex, work: (index: PineconeIndex) => Promise<Result>): Promise<Result> {
    return this.use(params, work);
  }

  protected open(shape: LocatedShape, client: PineconeLikeClient, params: InIndex): PineconeIndex {
    const { namespace = '', sparseEncoder } = this.#config;
    return new PineconeIndex(client, shape, { ...params, namespace: params.namespace ?? namespace }, sparseEncoder);
  }
}
