import { type Candidate, TopK } from '../../retrieval/top-k.js';
import type { QuantizedRows } from '../../simd/quantized-rows.js';
import { dot, type VectorTable } from './vector-table.js';

/** Where a filter leaves less than this share of the rows, comparing those exactly is faster than estimating all. */
const fewRows = 1 / 16;

export interface NearestRowsOptions {
  table: VectorTable;
  query: Float32Array;
  k: number;
  /** 1 for each row that may be found; default all. */
  allowed?: Uint8Array | undefined;
  /** Decides between rows of equal similarity. */
  idOf: (row: number) => string;
}

/**
 * The `k` rows most similar to a query, best first, exactly.
 *
 * Large tables are first compared as small integers. A row is left out then only if even the most that it could reach is less
 * than what `k` others reach at least; all others are compared exactly.
 */
export function nearestRows({ table, query, k, allowed, idOf }: NearestRowsOptions): Candidate[] {
  const queryNorm = Math.sqrt(dot(query, 0, query, table.dimension));
  const best = new TopK(k, idOf);
  for (const row of rowsToCompare(table, query, queryNorm, k, allowed)) {
    best.offer(row, table.similarity(row, query, queryNorm));
  }
  return best.toSorted();
}

function rowsToCompare(
  table: VectorTable,
  query: Float32Array,
  queryNorm: number,
  k: number,
  allowed: Uint8Array | undefined,
): Iterable<number> {
  const few = allowed && listIfFew(allowed, table.count * fewRows);
  if (few) return few;
  // Without a direction every row is equally similar, and nothing can be left out.
  const quantized = queryNorm === 0 ? undefined : table.quantized();
  return quantized ? possibleRows({ table, query, k, allowed }, quantized, queryNorm) : allRows(table, allowed);
}

/** The rows that are allowed, `undefined` if there are many. */
function listIfFew(allowed: Uint8Array, most: number): number[] | undefined {
  const rows: number[] = [];
  for (let row = allowed.indexOf(1); row !== -1; row = allowed.indexOf(1, row + 1)) {
    if (rows.length >= most) return undefined;
    rows.push(row);
  }
  return rows;
}

function* allRows({ count }: VectorTable, allowed: Uint8Array | undefined): Generator<number> {
  for (let row = 0; row < count; row += 1) if (allowed?.[row] !== 0) yield row;
}

function possibleRows(
  { table, query, k, allowed }: Omit<NearestRowsOptions, 'idOf'>,
  quantized: QuantizedRows,
  queryNorm: number,
): number[] {
  const lowest = new LargestNumbers(k);
  let least = lowest.smallest;
  const rows: number[] = [];
  const highest: number[] = [];
  const isEuclidean = table.metric === 'euclidean';
  const factor = table.metric === 'cosine' ? 1 / queryNorm : isEuclidean ? 2 : 1;
  for (const block of quantized.estimate(query, factor, table.count)) {
    for (let offset = 0; offset < block.rows; offset += 1) {
      const row = block.firstRow + offset;
      // The negative squared distance is twice the product less both squares.
      const squares = isEuclidean ? table.norm(row) ** 2 + queryNorm ** 2 : 0;
      const rounding = quantized.rounding * squares;
      if ((block.atMost[offset] as number) - squares + rounding < least || allowed?.[row] === 0) continue;
      const { estimate, error } = block.estimate(offset);
      const atMost = estimate - squares + error + rounding;
      if (atMost < least) continue;
      lowest.offer(estimate - squares - error - rounding);
      least = lowest.smallest;
      rows.push(row);
      highest.push(atMost);
    }
  }
  return rows.filter((_row, position) => (highest[position] as number) >= least);
}

/** Keeps the `k` largest of many numbers and knows the smallest of them. */
class LargestNumbers {
  readonly #k: number;
  /** A heap with the smallest number at its root. */
  readonly #heap: Float64Array;
  #size = 0;

  constructor(k: number) {
    this.#k = k;
    this.#heap = new Float64Array(k);
  }

  /** The k-th largest number; −∞ while there are fewer. */
  get smallest(): number {
    return this.#size < this.#k ? Number.NEGATIVE_INFINITY : (this.#heap[0] as number);
  }

  offer(value: number): void {
    const heap = this.#heap;
    if (this.#size < this.#k) {
      let child = this.#size;
      this.#size += 1;
      while (child > 0) {
        const parent = (child - 1) >> 1;
        if ((heap[parent] as number) <= value) break;
        heap[child] = heap[parent] as number;
        child = parent;
      }
      heap[child] = value;
      return;
    }
    if (value <= (heap[0] as number)) return;
    let parent = 0;
    for (let child = 1; child < this.#k; child = 2 * parent + 1) {
      if (child + 1 < this.#k && (heap[child + 1] as number) < (heap[child] as number)) child += 1;
      if ((heap[child] as number) >= value) break;
      heap[parent] = heap[child] as number;
      parent = child;
    }
    heap[parent] = value;
  }
}
