import {
  checkUpsert,
  indexNotFound,
  invalidArgument,
  recordUpdate,
  requireFilter,
  requireIndexName,
  requireIndexShape,
  requireOneSelection,
  requireSameShape,
  requireTopK,
  toFilter,
  toVector,
  type CheckedRecord,
  type IndexShape,
} from '../store/check-arguments.js';
import type {
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
} from '../store/index.js';
import { fuseSearches, nearestMatching, runSearch } from '../store/search.js';
import type { DatabaseConfig } from '../tools/database-config.js';
import { evaluateFilter, type Filter } from '../filter/index.js';

declare module '../tools/database-config.js' {
  interface DatabaseConfig {
    toy?: { largest?: number };
  }
}

interface ToyIndex extends IndexShape {
  readonly records: Map<string, CheckedRecord>;
}

/** A vector store in a map. Its checks, filters and hybrid searches are those of the folder `store`. */
export class ToyVector implements VectorStore {
  readonly databaseConfigKey = 'toy';
  readonly capabilities = { modes: ['vector'] as const };
  readonly #indexes = new Map<string, ToyIndex>();

  async createIndex({ indexName, dimension, metric = 'cosine', signal }: CreateIndexParams): Promise<void> {
    requireIndexName(indexName, 50);
    requireIndexShape({ dimension, metric });
    signal?.throwIfAborted();
    const existing = this.#indexes.get(indexName);
    if (existing) requireSameShape(indexName, existing, { dimension, metric });
    else this.#indexes.set(indexName, { dimension, metric, records: new Map() });
  }

  async upsert(params: UpsertParams): Promise<string[]> {
    const { dimension, records } = this.#open(params);
    const checked = checkUpsert(params, dimension);
    for (const record of checked.records) records.set(record.id, record);
    return checked.ids;
  }

  async query(params: QueryParams & NonNullable<DatabaseConfig['toy']>): Promise<VectorMatch[]> {
    return runSearch(params, { name: 'ToyVector', capabilities: this.capabilities }, (search) => {
      const { dimension, metric, records } = this.#open(params);
      const filter = toFilter(params.filter);
      return fuseSearches(search, async (part) => {
        if (part.mode !== 'vector') return [];
        const query = toVector(part.queryVector, dimension, 'The query vector');
        const find = async (): Promise<{ similarity: number; record: VectorRecord }[]> =>
          [...records.values()].map((record) => ({
            similarity: similarity(metric, query, record.vector),
            record: toRecord(record, part.includeVector),
          }));
        const wanted = Math.min(part.limit, params.largest ?? part.limit);
        return nearestMatching({ wanted, filter, metric, find });
      });
    });
  }

  async get({ ids, includeVector = false, ...params }: GetParams): Promise<VectorRecord[]> {
    const { records } = this.#open(params);
    return ids.flatMap((id) => {
      const record = records.get(id);
      return record ? [toRecord(record, includeVector)] : [];
    });
  }

  async updateVector({ id, filter, update, ...params }: UpdateVectorParams): Promise<void> {
    requireOneSelection('updateVector', id, filter);
    const { dimension, records } = this.#open(params);
    const toUpdated = recordUpdate(update, dimension);
    if (id !== undefined && !records.has(id)) throw invalidArgument(`There is no record '${id}' to update.`);
    for (const chosen of id === undefined ? select(records, toFilter(requireFilter(filter))) : [id])
      records.set(chosen, toUpdated(toRecord(records.get(chosen) as CheckedRecord, true)));
  }

  async deleteVector({ id, ...params }: IndexParams & { id: string }): Promise<void> {
    await this.deleteVectors({ ...params, ids: [id] });
  }

  async deleteVectors({ ids, filter, ...params }: DeleteVectorsParams): Promise<void> {
    requireOneSelection('deleteVectors', ids, filter);
    const { records } = this.#open(params);
    for (const id of ids ?? select(records, toFilter(requireFilter(filter)))) records.delete(id);
  }

  async scan({ cursor = '', limit = 1000, filter, includeVector = false, ...params }: ScanParams): Promise<ScanPage> {
    const { records } = this.#open(params);
    const size = requireTopK(limit, 'limit');
    const ids = select(records, toFilter(filter)).filter((id) => id > cursor);
    const page = ids.slice(0, size);
    const last = page.at(-1);
    return {
      records: page.map((id) => toRecord(records.get(id) as CheckedRecord, includeVector)),
      ...(last !== undefined && ids.length > size && { nextCursor: last }),
    };
  }

  async listIndexes({ signal }: { signal?: AbortSignal } = {}): Promise<string[]> {
    signal?.throwIfAborted();
    return [...this.#indexes.keys()].toSorted();
  }

  async describeIndex(params: IndexParams): Promise<IndexDescription> {
    const { dimension, metric, records } = this.#open(params);
    return { dimension, metric, count: records.size };
  }

  async truncateIndex(params: IndexParams): Promise<void> {
    this.#open(params).records.clear();
  }

  async deleteIndex(params: IndexParams): Promise<void> {
    this.#open(params);
    this.#indexes.delete(params.indexName);
  }

  #open({ indexName, signal }: IndexParams): ToyIndex {
    requireIndexName(indexName, 50);
    signal?.throwIfAborted();
    const index = this.#indexes.get(indexName);
    if (!index) throw indexNotFound(indexName, [...this.#indexes.keys()]);
    return index;
  }
}

function select(records: ReadonlyMap<string, CheckedRecord>, filter: Filter | undefined): string[] {
  const matching = [...records.values()].filter(({ metadata }) => !filter || evaluateFilter(filter, metadata));
  return matching.map(({ id }) => id).toSorted((a, b) => (a < b ? -1 : 1));
}

function toRecord({ vector, ...record }: CheckedRecord, includeVector: boolean): VectorRecord {
  return structuredClone({ ...record, ...(includeVector && { vector: [...vector] }) });
}

function similarity(metric: IndexShape['metric'], a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array): number => x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  if (metric === 'dotproduct') return dot(a, b);
  if (metric === 'euclidean') return -a.reduce((sum, value, at) => sum + (value - (b[at] ?? 0)) ** 2, 0);
  return dot(a, b) / (Math.sqrt(dot(a, a)) * Math.sqrt(dot(b, b)) || 1);
}
