import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import { evaluateFilter, parseFilter, type Filter } from '../../filter/index.js';
import {
  checkUpsert,
  indexNotFound,
  invalidArgument,
  requireTopK,
  toPlainMetadata,
  toVector,
} from '../../store/check-arguments.js';
import { requireIndexShape, requireSameShape, type IndexShape } from '../../store/index-options.js';
import type { VectorSearch } from '../../store/parse-search.js';
import { requireFilter } from '../../store/require-filter.js';
import { runSearch } from '../../store/run-search.js';
import { toScore } from '../../store/score.js';
import type {
  CreateIndexParams,
  DeleteVectorsParams,
  GetParams,
  IndexDescription,
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
import { filterToPinecone } from './filter-to-pinecone.js';
import {
  openPinecone,
  type PineconeConnectionOptions,
  type PineconeLikeClient,
  type PineconeLikeIndex,
  type PineconeRecord,
  type SparseVector,
} from './pinecone-client.js';
import { bytesOf, fromPineconeRecord, toPineconeRecord } from './pinecone-record.js';

export interface PineconeVectorConfig extends PineconeConnectionOptions {
  /** For your own records. */
  id?: string;
  /** Where new indexes are made. Default `aws`. */
  cloud?: string;
  /** Default `us-east-1`. */
  region?: string;
  /** The part of each index that is used, for example a tenant's. Default: Pinecone's default namespace. */
  namespace?: string;
}

interface InNamespace {
  /** Instead of the store's. */
  namespace?: string;
}

export type PineconeQueryParams = QueryParams & InNamespace & { sparseVector?: SparseVector };
export type PineconeUpsertParams = UpsertParams & InNamespace & { sparseVectors?: readonly SparseVector[] };

const longestIndexName = 45;
const idsPerCall = 100;
const recordsPerUpsert = 1000;
const bytesPerUpsert = 2_000_000;
const largestTopK = 10_000;
/** Fetched beyond what is wanted, so that equal scores at the end can be put in order. */
const reserve = 16;

interface OpenIndex extends IndexShape {
  readonly index: PineconeLikeIndex;
  readonly namespace: string;
}

/**
 * A vector store in Pinecone.
 *
 * What was written is found after some seconds: `waitUntilIndexed` waits for it. Metadata of any shape is kept, within 40 KB with
 * the document; Pinecone narrows the search by the parts it understands, and every filter is evaluated in full on what it
 * returns. An `upsert` above 1,000 records or 2 MB is several requests, and not one transaction.
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
  readonly capabilities: VectorStoreCapabilities<'vector'> = { modes: ['vector'] };
  readonly id: string;
  readonly #config: PineconeVectorConfig;
  #client: Promise<PineconeLikeClient> | undefined;

  constructor(config: PineconeVectorConfig) {
    this.id = config.id ?? 'pinecone-vector';
    this.#config = config;
  }

  async createIndex({ indexName, dimension, metric = 'cosine' }: CreateIndexParams): Promise<void> {
    requirePineconeName(indexName);
    requireIndexShape({ dimension, metric });
    await this.#run(`creating the index '${indexName}'`, async (client) => {
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
  }

  async upsert(params: PineconeUpsertParams): Promise<string[]> {
    return this.#use(params, async ({ index, dimension }) => {
      const { ids, records } = checkUpsert(params, dimension);
      const { sparseVectors } = params;
      if (sparseVectors && sparseVectors.length !== params.vectors.length)
        throw invalidArgument('upsert needs one sparse vector for each vector.');
      const sparse = new Map(ids.map((id, position) => [id, sparseVectors?.[position]]));
      // All are checked before the first is sent.
      await write(
        index,
        records.map((record) => toPineconeRecord(record, sparse.get(record.id))),
      );
      return ids;
    });
  }

  async query(params: PineconeQueryParams): Promise<VectorMatch[]> {
    return runSearch(params, { name: 'PineconeVector', capabilities: this.capabilities }, (search) =>
      this.#nearest(params, search),
    );
  }

  async #nearest(
    params: PineconeQueryParams,
    { queryVector, limit: wanted, includeVector }: VectorSearch,
  ): Promise<VectorMatch[]> {
    const { sparseVector } = params;
    if (wanted > largestTopK) throw invalidArgument(`Pinecone returns at most ${largestTopK} records, not ${wanted}.`);
    const filter = toFilter(params.filter);
    return this.#use(params, async ({ index, dimension, metric }) => {
      const vector = toVector(queryVector, dimension, 'The query vector');
      const native = filter && filterToPinecone(filter);
      for (let fetched = (filter ? wanted * 4 : wanted) + reserve; ; fetched *= 4) {
        const limit = Math.min(fetched, largestTopK);
        const { matches = [] } = await index.query({
          vector: [...vector],
          topK: limit,
          includeMetadata: true,
          includeValues: includeVector,
          ...(sparseVector && { sparseVector }),
          ...(native && { filter: native }),
        });
        const found = matches.map((match) => ({
          similarity: toSimilarity(metric, match.score ?? 0),
          record: fromPineconeRecord(match, includeVector),
        }));
        const last = found.at(-1);
        const matching = found
          .filter(({ record }) => !filter || evaluateFilter(filter, record.metadata))
          .toSorted((a, b) => b.similarity - a.similarity || (a.record.id < b.record.id ? -1 : 1));
        const worst = matching[wanted - 1];
        const isComplete = found.length < limit || (worst && last && last.similarity < worst.similarity);
        if (!isComplete && limit < largestTopK) continue;
        if (!isComplete && !worst) throw tooNarrow(matching.length, wanted);
        return matching
          .slice(0, wanted)
          .map(({ similarity, record }) => ({ ...record, score: toScore(metric, similarity) }));
      }
    });
  }

  async get({ ids, includeVector = false, ...params }: GetParams & InNamespace): Promise<VectorRecord[]> {
    return this.#use(params, async ({ index }) =>
      (await readByIds(index, ids)).map((record) => fromPineconeRecord(record, includeVector)),
    );
  }

  async updateVector({ indexName, id, filter, update, ...rest }: UpdateVectorParams & InNamespace): Promise<void> {
    await this.#use({ indexName, ...rest }, async ({ index, dimension }) => {
      const vector = update.vector && toVector(update.vector, dimension, 'The new vector');
      const ids = id === undefined ? await selectIds(index, toFilter(requireFilter(filter))) : [id];
      const records = await readByIds(index, ids);
      if (id !== undefined && records.length === 0)
        throw invalidArgument(`The index '${indexName}' has no record '${id}' to update.`);
      const updated = records.map((stored) => {
        const record = fromPineconeRecord(stored, true);
        return toPineconeRecord(
          {
            ...record,
            vector: vector ?? Float32Array.from(record.vector ?? []),
            metadata: update.metadata ? toPlainMetadata(update.metadata, record.id) : record.metadata,
            ...(update.document !== undefined && { document: update.document }),
          },
          stored.sparseValues?.indices?.length ? stored.sparseValues : undefined,
        );
      });
      await write(index, updated);
    });
  }

  async deleteVector({ id, ...params }: { indexName: string; id: string } & InNamespace): Promise<void> {
    await this.deleteVectors({ ...params, ids: [id] });
  }

  async deleteVectors({ ids, filter, ...params }: DeleteVectorsParams & InNamespace): Promise<void> {
    if (ids !== undefined && filter !== undefined)
      throw invalidArgument('deleteVectors takes ids or a filter, not both.');
    await this.#use(params, async ({ index }) => {
      const chosen = ids ?? (await selectIds(index, toFilter(requireFilter(filter))));
      for (const part of partsOf(chosen, recordsPerUpsert)) await index.deleteMany({ ids: [...part] });
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
        const page = await index.listPaginated({
          limit: Math.min(idsPerCall, size - records.length),
          ...(token !== undefined && { paginationToken: token }),
        });
        const read = await readByIds(index, idsOf(page));
        records.push(
          ...read
            .map((record) => fromPineconeRecord(record, includeVector))
            .filter((record) => !parsed || evaluateFilter(parsed, record.metadata)),
        );
        token = page.pagination?.next;
      } while (token && records.length < size);
      return { records, ...(token && { nextCursor: token }) };
    });
  }

  async listIndexes(): Promise<string[]> {
    return this.#run('listing indexes', async (client) =>
      ((await client.listIndexes()).indexes ?? []).map(({ name }) => name).toSorted(),
    );
  }

  /** The number of records may lag behind. */
  async describeIndex(params: { indexName: string } & InNamespace): Promise<IndexDescription> {
    return this.#use(params, async ({ index, namespace, dimension, metric }) => {
      const { namespaces = {} } = await index.describeIndexStats();
      const used = namespaces[namespace] ?? (namespace === defaultNamespace ? namespaces[''] : undefined);
      return { dimension, metric, count: used?.recordCount ?? 0 };
    });
  }

  async truncateIndex(params: { indexName: string } & InNamespace): Promise<void> {
    await this.#use(params, async ({ index }) => {
      // A namespace comes to be with its first record, and what is not there cannot be emptied.
      await index.deleteAll().catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    });
  }

  async deleteIndex({ indexName }: { indexName: string }): Promise<void> {
    await this.#use({ indexName }, (_open, client) => client.deleteIndex(indexName));
  }

  /**
   * Waits until records are found by their ids and counted.
   *
   * @param timeout - milliseconds, default 60,000
   * @throws `VECTOR_NOT_INDEXED` when the time is over; the reason of `signal`
   */
  async waitUntilIndexed(
    params: { indexName: string; ids: readonly string[]; timeout?: number; signal?: AbortSignal } & InNamespace,
  ): Promise<void> {
    const { ids, timeout = 60_000, signal } = params;
    const wanted = new Set(ids).size;
    const deadline = performance.now() + timeout;
    for (let delay = 100; ; delay = Math.min(delay * 2, 2000)) {
      signal?.throwIfAborted();
      const found = await this.#use(params, ({ index }) => readByIds(index, ids));
      if (found.length === wanted) return;
      if (performance.now() + delay > deadline) {
        throw new QuiverError(
          'VECTOR_NOT_INDEXED',
          `After ${timeout} ms, Pinecone finds ${found.length} of ${wanted} records of '${params.indexName}'.`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }

  async #use<Result>(
    { indexName, namespace = this.#config.namespace ?? '' }: { indexName: string } & InNamespace,
    work: (open: OpenIndex, client: PineconeLikeClient) => Promise<Result>,
  ): Promise<Result> {
    requirePineconeName(indexName);
    return this.#run(`using the index '${indexName}'`, async (client) => {
      const shape = await findShape(client, indexName);
      if (!shape) throw indexNotFound(indexName, await this.listIndexes());
      const used = namespace === '' ? defaultNamespace : namespace;
      const index = client.index({ host: shape.host, namespace: used }) as PineconeLikeIndex;
      return work({ ...shape, index, namespace: used }, client);
    });
  }

  async #run<Result>(what: string, work: (client: PineconeLikeClient) => Promise<Result>): Promise<Result> {
    this.#client ??= openPinecone(this.#config);
    try {
      return await work(await this.#client);
    } catch (error) {
      if (isQuiverError(error)) throw error;
      throw new QuiverError('VECTOR_STORE_FAILED', `Pinecone failed at ${what}: ${toErrorMessage(error)}`, {
        cause: error,
      });
    }
  }
}

const defaultNamespace = '__default__';

function requirePineconeName(indexName: string): void {
  const allowed = typeof indexName === 'string' && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(indexName);
  if (allowed && indexName.length <= longestIndexName) return;
  throw invalidArgument(
    `'${String(indexName)}' cannot name an index in Pinecone: use 1 to ${longestIndexName} small letters, digits and '-', with a letter or digit at both ends.`,
  );
}

async function findShape(
  client: PineconeLikeClient,
  indexName: string,
): Promise<(IndexShape & { host: string }) | undefined> {
  try {
    const description = (await client.describeIndex(indexName)) as {
      host: string;
      dimension?: number;
      metric?: VectorMetric;
      schema?: { fields?: Record<string, { dimension?: number; metric?: VectorMetric }> };
    };
    const field = description.schema?.fields?.['_values'];
    const dimension = field?.dimension ?? description.dimension;
    const metric = field?.metric ?? description.metric ?? 'cosine';
    if (dimension === undefined) throw invalidArgument(`The index '${indexName}' has no dense vectors.`);
    return { host: description.host, dimension, metric };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return (error as { name?: unknown } | null)?.name === 'PineconeNotFoundError';
}

function toFilter(filter: VectorFilter): Filter | undefined {
  return filter === undefined || filter === null ? undefined : parseFilter(filter);
}

/** Pinecone's euclidean score is the squared distance. */
function toSimilarity(metric: VectorMetric, score: number): number {
  return metric === 'euclidean' ? -score : score;
}

function tooNarrow(found: number, wanted: number): QuiverError {
  return new QuiverError(
    'FILTER_NOT_SUPPORTED',
    `Of the ${largestTopK} nearest records that Pinecone returns, only ${found} pass the filter, and ${wanted} are wanted. Add a condition that Pinecone can apply: equality, $in, or a comparison of numbers, on a field that is not nested.`,
  );
}

async function write(index: PineconeLikeIndex, records: readonly PineconeRecord[]): Promise<void> {
  let batch: PineconeRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    const size = bytesOf(record);
    if (batch.length === recordsPerUpsert || (batch.length > 0 && bytes + size > bytesPerUpsert)) {
      await index.upsert({ records: batch });
      batch = [];
      bytes = 0;
    }
    batch.push(record);
    bytes += size;
  }
  if (batch.length > 0) await index.upsert({ records: batch });
}

async function readByIds(index: PineconeLikeIndex, ids: readonly string[]): Promise<PineconeRecord[]> {
  const found: PineconeRecord[] = [];
  // Ids stand in the address of the request, whose length is limited too.
  for (const part of partsOf([...new Set(ids)], idsPerCall)) {
    const { records = {} } = await index.fetch({ ids: [...part] });
    found.push(...part.flatMap((id) => (Object.hasOwn(records, id) ? (records[id] as PineconeRecord) : [])));
  }
  return found;
}

async function selectIds(index: PineconeLikeIndex, filter: Filter | undefined): Promise<string[]> {
  const ids: string[] = [];
  let token: string | undefined;
  do {
    const page = await index.listPaginated({
      limit: idsPerCall,
      ...(token !== undefined && { paginationToken: token }),
    });
    const records = await readByIds(index, idsOf(page));
    ids.push(
      ...records
        .filter((record) => !filter || evaluateFilter(filter, fromPineconeRecord(record, false).metadata))
        .map(({ id }) => id),
    );
    token = page.pagination?.next;
  } while (token);
  return ids;
}

function idsOf({ vectors = [] }: { vectors?: { id?: string }[] }): string[] {
  return vectors.flatMap(({ id }) => id ?? []);
}

function partsOf<Item>(items: readonly Item[], size: number): (readonly Item[])[] {
  const parts: (readonly Item[])[] = [];
  for (let start = 0; start < items.length; start += size) parts.push(items.slice(start, start + size));
  return parts;
}
