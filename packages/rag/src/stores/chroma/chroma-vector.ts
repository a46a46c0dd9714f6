import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import { evaluateFilter, parseFilter, type Filter } from '../../filter/index.js';
import {
  checkUpsert,
  indexNotFound,
  invalidArgument,
  requireTopK,
  toPlainMetadata,
  toVector,
  type CheckedRecord,
} from '../../store/check-arguments.js';
import { requireIndexName } from '../../store/index-name.js';
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
import {
  openChroma,
  type ChromaCollection,
  type ChromaConnectionOptions,
  type ChromaLikeClient,
  type ChromaWhere,
} from './chroma-client.js';
import { fromChromaMetadata, toChromaMetadata } from './chroma-record.js';
import { filterToWhere } from './filter-to-where.js';

export interface ChromaVectorConfig extends ChromaConnectionOptions {
  /** For your own records. */
  id?: string;
}

export interface ChromaQueryParams extends QueryParams {
  /** A further filter on metadata, in the same language; both must hold. */
  where?: VectorFilter;
  /** A condition on the documents in Chroma's language, such as `{ $contains: 'API' }`. */
  whereDocument?: ChromaWhere;
  /** The older name of `whereDocument`. */
  documentFilter?: ChromaWhere;
}

interface OpenCollection extends IndexShape {
  readonly collection: ChromaCollection;
}

const longestIndexName = 100;
const spaces: Readonly<Record<VectorMetric, string>> = { cosine: 'cosine', euclidean: 'l2', dotproduct: 'ip' };
/** What Chroma Cloud allows at most. */
const recordsPerRead = 300;
/** Fetched beyond what is wanted, so that equal distances at the end can be put in order. */
const reserve = 16;

/**
 * A vector store in Chroma: a client of yours, a server, or Chroma Cloud.
 *
 * Metadata of any shape is kept as JSON; Chroma narrows the search by equality, and every filter is evaluated in full on what it
 * returns. Its index is approximate. Batches are as large as the server allows, and an `upsert` of several of them is not one
 * transaction. Empty documents count as none.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `VECTOR_ARGUMENT_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`; `VECTOR_STORE_FAILED` with the client's error as cause; `VECTOR_CLIENT_MISSING` without `chromadb`
 * @example
 * const store = new ChromaVector({ host: 'localhost', port: 8000 });
 * await store.createIndex({ indexName: 'guides', dimension: 1536 });
 */
export class ChromaVector implements VectorStore {
  readonly databaseConfigKey = 'chroma';
  readonly capabilities: VectorStoreCapabilities<'vector'> = { modes: ['vector'] };
  readonly id: string;
  readonly #config: ChromaConnectionOptions;
  #client: Promise<ChromaLikeClient> | undefined;

  constructor({ id = 'chroma-vector', ...config }: ChromaVectorConfig = {}) {
    this.id = id;
    this.#config = config;
  }

  async createIndex({ indexName, dimension, metric = 'cosine' }: CreateIndexParams): Promise<void> {
    requireChromaName(indexName);
    requireIndexShape({ dimension, metric });
    await this.#run(`creating the index '${indexName}'`, async (client) => {
      try {
        await client.createCollection({
          name: indexName,
          configuration: { hnsw: { space: spaces[metric] } },
          metadata: { quiver_dimension: dimension, quiver_metric: metric },
          embeddingFunction: null,
        });
      } catch (error) {
        // It exists, perhaps since a moment ago, or there is another reason, which the look tells.
        const existing = await this.#find(client, indexName);
        if (!existing) throw error;
        requireSameShape(indexName, existing, { dimension, metric });
      }
    });
  }

  async upsert(params: UpsertParams): Promise<string[]> {
    return this.#use(params.indexName, async ({ collection, dimension }, client) => {
      const { ids, records } = checkUpsert(params, dimension);
      await write(client, collection, records);
      return ids;
    });
  }

  async query(params: ChromaQueryParams): Promise<VectorMatch[]> {
    return runSearch(params, { name: 'ChromaVector', capabilities: this.capabilities }, (search) =>
      this.#nearest(params, search),
    );
  }

  async #nearest(
    params: ChromaQueryParams,
    { queryVector, limit: wanted, includeVector }: VectorSearch,
  ): Promise<VectorMatch[]> {
    const { indexName, whereDocument = params.documentFilter } = params;
    const filter = toFilter(bothOf(params.filter, params.where));
    return this.#use(indexName, async ({ collection, dimension, metric }) => {
      const vector = toVector(queryVector, dimension, 'The query vector');
      const where = filter && filterToWhere(filter);
      for (let fetched = (filter ? wanted * 4 : wanted) + reserve; ; fetched *= 4) {
        const answer = await collection.query({
          queryEmbeddings: [[...vector]],
          nResults: fetched,
          include: ['metadatas', 'documents', 'distances', ...(includeVector ? (['embeddings'] as const) : [])],
          ...(where && { where }),
          ...(whereDocument && { whereDocument }),
        });
        const found = (answer.ids[0] ?? []).map((id, row) => ({
          similarity: toSimilarity(metric, answer.distances[0]?.[row] ?? Number.NaN),
          record: toRecord(id, answer.metadatas[0]?.[row], answer.documents[0]?.[row], answer.embeddings?.[0]?.[row]),
        }));
        const last = found.at(-1);
        const matching = found
          .filter(({ record }) => !filter || evaluateFilter(filter, record.metadata))
          .toSorted((a, b) => b.similarity - a.similarity || (a.record.id < b.record.id ? -1 : 1));
        const worst = matching[wanted - 1];
        const isComplete = found.length < fetched || (worst && last && last.similarity < worst.similarity);
        if (!isComplete) continue;
        return matching
          .slice(0, wanted)
          .map(({ similarity, record }) => ({ ...record, score: toScore(metric, similarity) }));
      }
    });
  }

  async get({ indexName, ids, includeVector = false }: GetParams): Promise<VectorRecord[]> {
    return this.#use(indexName, ({ collection }) => readByIds(collection, ids, includeVector));
  }

  async updateVector({ indexName, id, filter, update }: UpdateVectorParams): Promise<void> {
    await this.#use(indexName, async ({ collection, dimension }, client) => {
      const vector = update.vector && toVector(update.vector, dimension, 'The new vector');
      const ids = id === undefined ? await selectIds(collection, toFilter(requireFilter(filter))) : [id];
      const records = (await readByIds(collection, ids, true)).map((record): CheckedRecord => ({
        ...record,
        vector: vector ?? Float32Array.from(record.vector ?? []),
        metadata: update.metadata ? toPlainMetadata(update.metadata, record.id) : record.metadata,
        ...(update.document !== undefined && { document: update.document }),
      }));
      if (id !== undefined && records.length === 0)
        throw invalidArgument(`The index '${indexName}' has no record '${id}' to update.`);
      await write(client, collection, records);
    });
  }

  async deleteVector({ indexName, id }: { indexName: string; id: string }): Promise<void> {
    await this.deleteVectors({ indexName, ids: [id] });
  }

  async deleteVectors({ indexName, ids, filter }: DeleteVectorsParams): Promise<void> {
    if (ids !== undefined && filter !== undefined)
      throw invalidArgument('deleteVectors takes ids or a filter, not both.');
    await this.#use(indexName, async ({ collection }) => {
      const chosen = ids ?? (await selectIds(collection, toFilter(requireFilter(filter))));
      for (const part of partsOf(chosen, recordsPerRead)) await collection.delete({ ids: [...part] });
    });
  }

  /** Each page asks for all ids, since Chroma has no order of its own. */
  async scan({ indexName, cursor, limit = 1000, filter, includeVector = false }: ScanParams): Promise<ScanPage> {
    const size = requireTopK(limit);
    const parsed = toFilter(filter);
    return this.#use(indexName, async ({ collection }) => {
      const ids = (await selectIds(collection, parsed)).filter((id) => cursor === undefined || id > cursor);
      const page = ids.slice(0, size);
      const last = page.at(-1);
      return {
        records: await readByIds(collection, page, includeVector),
        ...(last !== undefined && ids.length > size && { nextCursor: last }),
      };
    });
  }

  async listIndexes(): Promise<string[]> {
    return this.#run('listing indexes', async (client) => {
      const names: string[] = [];
      for (let offset = 0; ; offset += recordsPerRead) {
        const page = await client.listCollections({ limit: recordsPerRead, offset });
        names.push(...page.filter(({ metadata }) => toShape(metadata)).map(({ name }) => name));
        if (page.length < recordsPerRead) return names.toSorted();
      }
    });
  }

  async describeIndex({ indexName }: { indexName: string }): Promise<IndexDescription> {
    return this.#use(indexName, async ({ collection, dimension, metric }) => ({
      dimension,
      metric,
      count: await collection.count(),
    }));
  }

  async truncateIndex({ indexName }: { indexName: string }): Promise<void> {
    await this.#use(indexName, async ({ collection }) => {
      for (const part of partsOf(await selectIds(collection, undefined), recordsPerRead))
        await collection.delete({ ids: [...part] });
    });
  }

  async deleteIndex({ indexName }: { indexName: string }): Promise<void> {
    await this.#use(indexName, (_open, client) => client.deleteCollection({ name: indexName }));
  }

  async #use<Result>(
    indexName: string,
    work: (open: OpenCollection, client: ChromaLikeClient) => Promise<Result>,
  ): Promise<Result> {
    requireChromaName(indexName);
    return this.#run(`using the index '${indexName}'`, async (client) => {
      const open = await this.#find(client, indexName);
      if (!open) throw indexNotFound(indexName, await this.listIndexes());
      return work(open, client);
    });
  }

  /** A collection that this store made, as the server knows it now. */
  async #find(client: ChromaLikeClient, indexName: string): Promise<OpenCollection | undefined> {
    let collection: ChromaCollection;
    try {
      collection = (await client.getCollection({ name: indexName, embeddingFunction: null })) as ChromaCollection;
    } catch (error) {
      if ((error as { name?: unknown } | null)?.name === 'ChromaNotFoundError') return undefined;
      throw error;
    }
    const shape = toShape(collection.metadata);
    return shape && { collection, ...shape };
  }

  async #run<Result>(what: string, work: (client: ChromaLikeClient) => Promise<Result>): Promise<Result> {
    this.#client ??= openChroma(this.#config);
    try {
      return await work(await this.#client);
    } catch (error) {
      if (isQuiverError(error)) throw error;
      throw new QuiverError('VECTOR_STORE_FAILED', `Chroma failed at ${what}: ${toErrorMessage(error)}`, {
        cause: error,
      });
    }
  }
}

/** Chroma wants three characters, and a letter or digit at the end. */
function requireChromaName(indexName: string): void {
  requireIndexName(indexName, longestIndexName);
  if (indexName.length >= 3 && /[a-z0-9]$/i.test(indexName)) return;
  throw invalidArgument(
    `'${indexName}' cannot name an index in Chroma: at least 3 characters, with a letter or digit last.`,
  );
}

function toShape(metadata: unknown): IndexShape | undefined {
  const { quiver_dimension: dimension, quiver_metric: metric } = (metadata ?? {}) as Record<string, unknown>;
  return typeof dimension === 'number' && typeof metric === 'string'
    ? { dimension, metric: metric as VectorMetric }
    : undefined;
}

function bothOf(filter: VectorFilter, where: VectorFilter): VectorFilter {
  if (filter === undefined || filter === null) return where;
  return where === undefined || where === null ? filter : { $and: [where, filter] };
}

function toFilter(filter: VectorFilter): Filter | undefined {
  return filter === undefined || filter === null ? undefined : parseFilter(filter);
}

/** Chroma gives squared distances, and 1 minus the product. A vector of zeros is similar to nothing. */
function toSimilarity(metric: VectorMetric, distance: number): number {
  if (metric === 'euclidean') return -distance;
  return Number.isFinite(distance) ? 1 - distance : 0;
}

function toRecord(
  id: string,
  metadata: ChromaWhere | null | undefined,
  document: string | null | undefined,
  vector: number[] | null | undefined,
): VectorRecord {
  return {
    id,
    metadata: fromChromaMetadata(metadata ?? null),
    ...(document && { document }),
    ...(vector && { vector: Array.from(vector) }),
  };
}

async function write(
  client: ChromaLikeClient,
  collection: ChromaCollection,
  records: readonly CheckedRecord[],
): Promise<void> {
  if (records.length === 0) return;
  for (const part of partsOf(records, await client.getMaxBatchSize())) {
    await collection.upsert({
      ids: part.map(({ id }) => id),
      embeddings: part.map(({ vector }) => [...vector]),
      metadatas: part.map(toChromaMetadata),
      documents: part.map(({ document = '' }) => document),
    });
  }
}

async function readByIds(
  collection: ChromaCollection,
  ids: readonly string[],
  includeVector: boolean,
): Promise<VectorRecord[]> {
  const records = new Map<string, VectorRecord>();
  for (const part of partsOf([...new Set(ids)], recordsPerRead)) {
    const rows = await collection.get({
      ids: [...part],
      include: ['metadatas', 'documents', ...(includeVector ? (['embeddings'] as const) : [])],
    });
    rows.ids.forEach((id, row) =>
      records.set(id, toRecord(id, rows.metadatas[row], rows.documents[row], rows.embeddings?.[row])),
    );
  }
  return ids.flatMap((id) => records.get(id) ?? []);
}

/** Ids of all records that pass a filter, in order. */
async function selectIds(collection: ChromaCollection, filter: Filter | undefined): Promise<string[]> {
  const where = filter && filterToWhere(filter);
  const ids: string[] = [];
  for (let offset = 0; ; offset += recordsPerRead) {
    const page = await collection.get({
      limit: recordsPerRead,
      offset,
      include: filter ? ['metadatas'] : [],
      ...(where && { where }),
    });
    page.ids.forEach((id, row) => {
      if (!filter || evaluateFilter(filter, fromChromaMetadata(page.metadatas[row] ?? null))) ids.push(id);
    });
    if (page.ids.length < recordsPerRead) return ids.toSorted((a, b) => (a < b ? -1 : 1));
  }
}

function partsOf<Item>(items: readonly Item[], size: number): (readonly Item[])[] {
  const parts: (readonly Item[])[] = [];
  for (let start = 0; start < items.length; start += size) parts.push(items.slice(start, start + size));
  return parts;
}
