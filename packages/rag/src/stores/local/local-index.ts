import { evaluateFilter, parseFilter } from '../../filter/index.js';
import type { CheckedRecord } from '../../store/check-arguments.js';
import { toScore } from '../../store/score.js';
import type {
  VectorFilter,
  VectorMatch,
  VectorMetadata,
  VectorMetric,
  VectorRecord,
} from '../../store/vector-store.js';
import { nearestRows } from './nearest-rows.js';
import { VectorTable } from './vector-table.js';

/** What an index is, as written at the head of its log. */
export interface IndexHeader {
  readonly name: string;
  readonly dimension: number;
  readonly metric: VectorMetric;
}

/** A change of an index. Indexes change in no other way, so replaying the changes gives the index. */
export type IndexOperation =
  | { readonly type: 'upsert'; readonly records: readonly CheckedRecord[] }
  | { readonly type: 'delete'; readonly ids: readonly string[] }
  | { readonly type: 'truncate' };

interface Row {
  readonly id: string;
  readonly metadata: VectorMetadata;
  readonly document?: string;
}

/** One index in memory. */
export class LocalIndex {
  readonly header: IndexHeader;
  #vectors: VectorTable;
  #rows: Row[] = [];
  #rowOfId = new Map<string, number>();

  constructor(header: IndexHeader) {
    this.header = header;
    this.#vectors = new VectorTable(header.dimension, header.metric);
  }

  get count(): number {
    return this.#rows.length;
  }

  apply(operation: IndexOperation): void {
    if (operation.type === 'upsert') this.#upsert(operation.records);
    else if (operation.type === 'delete') this.#delete(operation.ids);
    else this.#truncate();
  }

  #upsert(records: readonly CheckedRecord[]): void {
    for (const { vector, ...row } of records) {
      const existing = this.#rowOfId.get(row.id);
      if (existing === undefined) {
        this.#rowOfId.set(row.id, this.#vectors.append(vector));
        this.#rows.push(row);
      } else {
        this.#vectors.set(existing, vector);
        this.#rows[existing] = row;
      }
    }
  }

  /** Ids that do not exist are ignored. */
  #delete(ids: readonly string[]): void {
    for (const id of ids) {
      const row = this.#rowOfId.get(id);
      if (row === undefined) continue;
      const moved = this.#vectors.remove(row);
      const last = this.#rows.pop() as Row;
      this.#rowOfId.delete(id);
      if (moved === undefined) continue;
      this.#rows[row] = last;
      this.#rowOfId.set(last.id, row);
    }
  }

  #truncate(): void {
    this.#vectors = new VectorTable(this.header.dimension, this.header.metric);
    this.#rows = [];
    this.#rowOfId.clear();
  }

  query(queryVector: Float32Array, topK: number, filter: VectorFilter, includeVector: boolean): VectorMatch[] {
    if (this.count === 0) return [];
    const nearest = nearestRows({
      table: this.#vectors,
      query: queryVector,
      k: Math.min(topK, this.count),
      accept: this.#accept(filter),
      idOf: (row) => this.#row(row).id,
    });
    return nearest.map(({ row, similarity }) => ({
      score: toScore(this.header.metric, similarity),
      ...this.#toRecord(row, includeVector),
    }));
  }

  get(ids: readonly string[], includeVector: boolean): VectorRecord[] {
    return ids.flatMap((id) => {
      const row = this.#rowOfId.get(id);
      return row === undefined ? [] : [this.#toRecord(row, includeVector)];
    });
  }

  /** Ids of all records that pass the filter, in order. */
  select(filter: VectorFilter): string[] {
    const accept = this.#accept(filter);
    return this.#rows.flatMap(({ id }, row) => (accept && !accept(row) ? [] : [id])).toSorted(byCodeUnits);
  }

  /** What it takes to write the index anew. */
  *records(): Generator<CheckedRecord> {
    for (const [position, row] of this.#rows.entries()) yield { ...row, vector: this.#vectors.row(position) };
  }

  #accept(filter: VectorFilter): ((row: number) => boolean) | undefined {
    if (filter === null || filter === undefined) return undefined;
    const parsed = parseFilter(filter);
    return (row) => evaluateFilter(parsed, this.#row(row).metadata);
  }

  #row(row: number): Row {
    return this.#rows[row] as Row;
  }

  /** A copy: what the caller does with it must not change the index. */
  #toRecord(position: number, includeVector: boolean): VectorRecord {
    const { id, metadata, document } = this.#row(position);
    return {
      id,
      metadata: structuredClone(metadata),
      ...(document !== undefined && { document }),
      ...(includeVector && { vector: Array.from(this.#vectors.row(position)) }),
    };
  }
}

/** Independent of locale and language. */
function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
