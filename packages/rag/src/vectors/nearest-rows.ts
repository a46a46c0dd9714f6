import { type Candidate, TopK } from '../store/top-k.js';
import type { QuantizedRows } from '../simd/quantized-rows.js';
import { dot, type VectorTable } from './vector-table.js';

/** So few rows are compared exactly at once. */
const fewRows = 64;

export interface NearestRowsOptions {
  table: VectorTable;
  query: Float32Array;
  k: number;
  /** The rows that may be found, in ascending order; default all. */
  rows?: Int32Array | undefined;
  /** Decides between rows of equal similarity. */
  idOf: (row: number) => string;
}

/**
 * Returns the `k` rows most similar to a query, best first, exactly.
 *
 * Many rows are first compared as small integers. A row is skipped only if its upper bound is less than the lower
 * bounds of `k` other rows; all others are compared exactly.
 */
export function nearestRows({ table, query, k, rows, idOf }: NearestRowsOptions): Candidate[] {
  const queryNorm = Math.sqrt(dot(query, 0, query, table.dimension));
  const count = rows ? rows.length : table.count;
  // With a query of zeros every row is equally similar, and no row can be skipped.
  const isDirect = queryNorm === 0 || (rows && count <= Math.max(fewRows, k));
  const bounded = isDirect ? undefined : table.bounded(rows?.length);
  const possible = bounded ? possibleRows({ table, query, k, rows }, bounded, queryNorm) : rows;
  const best = new TopK(k, idOf);
  if (possible) for (const row of possible) best.offer(row, table.similarity(row, query, queryNorm));
  else for (let row = 0; row < count; row += 1) best.offer(row, table.similarity(row, query, queryNorm));
  return best.toSorted();
}

function possibleRows(
  { table, query, k, rows: listed }: Omit<NearestRowsOptions, 'idOf'>,
  bounded: QuantizedRows,
  queryNorm: number,
): number[] {
  // The smallest values that the best rows can have. Their identity does not matter.
  const lowest = new TopK(k, () => '');
  let least = Number.NEGATIVE_INFINITY;
  const rows: number[] = [];
  const highest: number[] = [];
  const isEuclidean = table.metric === 'euclidean';
  const factor = table.metric === 'cosine' ? 1 / queryNorm : isEuclidean ? 2 : 1;
  for (const block of bounded.estimate(query, factor, table.count, listed)) {
    for (let place = 0; place < block.count; place += 1) {
      const row = block.rows[place] as number;
      // The negative squared distance is twice the product less both squares.
      const squares = isEuclidean ? table.norm(row) ** 2 + queryNorm ** 2 : 0;
      const rounding = bounded.rounding * squares;
      if ((block.atMost[place] as number) - squares + rounding < least) continue;
      const { estimate, error } = block.estimate(place);
      const atMost = estimate - squares + error + rounding;
      if (atMost < least) continue;
      lowest.offer(row, estimate - squares - error - rounding);
      least = Math.max(least, lowest.worst);
      rows.push(row);
      highest.push(atMost);
    }
  }
  return rows.filter((_row, position) => (highest[position] as number) >= least);
}
