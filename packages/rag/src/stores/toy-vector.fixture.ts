import { wholeNumber } from '@quiver/core/internal';
import { createFilterTest } from '../filter/index.js';
import {
  indexNotFound,
  type IndexShape,
  requireIndexName,
  requireIndexShape,
  requireSameShape,
  type CheckedRecord,
} from '../store/checks.js';
import type { Cancellable, CreateIndexParams, IndexParams, QueryParams, VectorRecord } from '../store/index.js';
import { type OpenIndex, RecordStore } from '../store/record-store.js';
import { nearestMatching } from '../store/paging.js';
import type { DatabaseConfig } from '../store/scope.js';

declare module '../store/scope.js' {
  interface DatabaseConfig {
    toy?: { largest?: number };
  }
}

type ToyQuery = QueryParams & NonNullable<DatabaseConfig['toy']>;

interface ToyIndex extends IndexShape {
  readonly records: Map<string, CheckedRecord>;
}

/** A vector store in a map. Its argument checks and its methods come from the folder `store`. */
export class ToyVector extends RecordStore<object, ToyQuery> {
  readonly databaseConfigKey = 'toy';
  readonly capabilities = { modes: ['vector'] as const };
  readonly #indexes = new Map<string, ToyIndex>();

  constructor() {
    super({ name: 'ToyVector', query: { largest: wholeNumber(1) } });
  }

  async createIndex(params: CreateIndexParams): Promise<void> {
    this.check('createIndex', params);
    const { indexName, signal } = params;
    requireIndexName(indexName, 50);
    const shape = requireIndexShape(params);
    signal?.throwIfAborted();
    const existing = this.#indexes.get(indexName);
    if (existing) requireSameShape(indexName, existing, shape);
    else this.#indexes.set(indexName, { ...shape, records: new Map() });
  }

  async listIndexes(params: Cancellable = {}): Promise<string[]> {
    this.check('listIndexes', params);
    params.signal?.throwIfAborted();
    return [...this.#indexes.keys()].toSorted();
  }

  protected async use<Result>(
    { indexName, signal }: IndexParams,
    work: (index: OpenIndex<ToyQuery>) => Promise<Result>,
  ): Promise<Result> {
    requireIndexName(indexName, 50);
    signal?.throwIfAborted();
    const index = this.#indexes.get(indexName);
    if (!index) throw indexNotFound(indexName, [...this.#indexes.keys()]);
    const { dimension, metric, records } = index;
    const recordsOf = (ids: Iterable<string>, includeVector: boolean): VectorRecord[] =>
      [...ids].flatMap((id) => {
        const record = records.get(id);
        return record ? [toRecord(record, includeVector)] : [];
      });
    return work({
      dimension,
      metric,
      count: () => records.size,
      read: recordsOf,
      select: (filter, after = '') => {
        const matches = createFilterTest(filter);
        return recordsOf(records.keys(), false)
          .filter(({ id, metadata }) => id > after && matches(metadata))
          .map(({ id }) => id)
          .toSorted((a, b) => (a < b ? -1 : 1));
      },
      nearest: async ({ vector, limit, includeVector, filter }, { largest = limit }) => {
        const find = async (): Promise<{ similarity: number; record: VectorRecord }[]> =>
          [...records.values()].map((record) => ({
            similarity: similarity(metric, vector, record.vector),
            record: toRecord(record, includeVector),
          }));
        return nearestMatching({ wanted: Math.min(limit, largest), filter, find });
      },
      write: async (written) => written.forEach((record) => records.set(record.id, record)),
      remove: async (ids) => ids.forEach((id) => records.delete(id)),
      clear: async () => records.clear(),
      drop: async () => this.#indexes.delete(indexName),
    });
  }
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
