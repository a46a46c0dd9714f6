import type { QuantisedRows } from './kernel/quantised-rows.js';
import { LargestNumbers } from './largest-numbers.js';
import { TopK, type Candidate } from '../../retrieval/top-k.js';
import { dot, type VectorTable } from './vector-table.js';

export interface NearestRowsOptions {
  table: VectorTable;
  query: Float32Array;
  k: number;
  /** Rows that may be found; default all. */
  accept?: ((row: number) => boolean) | undefined;
  /** Decides between rows of equal similarity. */
  idOf: (row: number) => string;
}

/**
 * The `k` rows most similar to a query, best first, exactly.
 *
 * Large tables are first compared as small integers. A row is left out then only if even the most that it could reach is less
 * than what `k` others reach at least; all others are compared exactly.
 */
export function nearestRows({ table, query, k, accept, idOf }: NearestRowsOptions): Candidate[] {
  const queryNorm = Math.sqrt(dot(query, 0, query, table.dimension));
  const best = new TopK(k, idOf);
  // Without a direction every row is equally similar, and nothing can be left out.
  const quantised = queryNorm === 0 ? undefined : table.quantised();
  const rows = quantised ? possibleRows({ table, query, k, accept }, quantised, queryNorm) : allRows(table, accept);
  for (const row of rows) best.offer(row, table.similarity(row, query, queryNorm));
  return best.toSorted();
}

function* allRows({ count }: VectorTable, accept: NearestRowsOptions['accept']): Generator<number> {
  for (let row = 0; row < count; row += 1) if (!accept || accept(row)) yield row;
}

function possibleRows(
  { table, query, k, accept }: Omit<NearestRowsOptions, 'idOf'>,
  quantised: QuantisedRows,
  queryNorm: number,
): number[] {
  const lowest = new LargestNumbers(k);
  const rows: number[] = [];
  const highest: number[] = [];
  const isEuclidean = table.metric === 'euclidean';
  for (const block of quantised.estimate(query, table.metric === 'cosine' ? 1 / queryNorm : 1, table.count)) {
    for (let offset = 0; offset < block.rows; offset += 1) {
      const row = block.firstRow + offset;
      let estimate = block.estimate(offset);
      let error = block.error(offset);
      if (isEuclidean) {
        estimate = 2 * estimate - table.norm(row) ** 2 - queryNorm ** 2;
        error *= 2;
      }
      if (estimate + error < lowest.smallest) continue;
      if (accept && !accept(row)) continue;
      lowest.offer(estimate - error);
      rows.push(row);
      highest.push(estimate + error);
    }
  }
  return rows.filter((_row, position) => (highest[position] as number) >= lowest.smallest);
}
