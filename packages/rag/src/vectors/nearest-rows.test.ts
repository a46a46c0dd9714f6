import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomFrom } from '../../../../scripts/test-random.ts';
import { type Candidate, TopK } from '../store/top-k.js';
import { QuantizedRows } from '../simd/quantized-rows.js';
import type { VectorMetric } from '../store/vector-store.js';
import { nearestRows } from './nearest-rows.js';
import { dot, VectorTable } from './vector-table.js';

const dimension = 24;

/** A table large enough to be compared as small integers first: clusters, duplicates, zeros and outliers. */
function fill(metric: VectorMetric, seed: number, rows: number): VectorTable {
  const random = randomFrom(seed);
  const table = new VectorTable(dimension, metric);
  const centers = Array.from({ length: 12 }, () => Float32Array.from({ length: dimension }, () => random() - 0.5));
  for (let row = 0; row < rows; row += 1) {
    const center = centers[row % centers.length] as Float32Array;
    const spread = row % 7 === 0 ? 0 : 0.05;
    const size = row % 501 === 0 ? 0 : row % 97 === 0 ? 1000 : 1;
    table.set(
      table.count,
      center.map((value) => size * (value + spread * (random() - 0.5))),
    );
  }
  return table;
}

/** Numbers that are hard on rounding, each kind in its way. */
const kinds: Record<string, (random: () => number) => number> = {
  spread: (random) => random() - 0.5,
  positive: (random) => 1 + random() / 1000,
  zerosAndOnes: (random) => Math.round(random()),
  // Half a step of the high halves, and the ends of their range.
  halfSteps: (random) => [0, 7.5, 8, -8, 119, -119][Math.floor(random() * 6)] as number,
  constant: () => 0.1,
  sparse: (random) => (random() < 0.1 ? (random() - 0.5) / random() : 0),
  heavyTails: (random) => Math.tan(3.14 * (random() - 0.5)),
  huge: (random) => 3e38 * (random() - 0.5),
  denormal: (random) => 1e-44 * (random() - 0.5),
  ofAllSizes: (random) => (random() - 0.5) * 10 ** Math.floor(60 * random() - 30),
};

const idOf = (row: number): string => `id-${(row * 7919) % 10_007}`;

function list({ count }: VectorTable, accept: (row: number) => boolean): Int32Array {
  return Int32Array.from({ length: count }, (_, row) => row).filter(accept);
}

function byHand(table: VectorTable, query: Float32Array, k: number, accept: (row: number) => boolean): Candidate[] {
  const norm = Math.sqrt(dot(query, 0, query, query.length));
  const best = new TopK(k, idOf);
  for (let row = 0; row < table.count; row += 1) if (accept(row)) best.offer(row, table.similarity(row, query, norm));
  return best.toSorted();
}

describe.each(['cosine', 'euclidean', 'dotproduct'] as const)('nearest rows by %s', (metric) => {
  it('are those of an exact comparison of every row, with any filter', () => {
    const table = fill(metric, 1, 5000);
    table.bounded();
    expect(table.bounded()).toBeInstanceOf(QuantizedRows);
    fc.assert(
      fc.property(
        fc.nat(4999),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 50 }),
        fc.nat(),
        (row, k, every, seed) => {
          const random = randomFrom(seed);
          const query = table.row(row).map((value) => value + 0.02 * (random() - 0.5));
          const accept = (candidate: number): boolean => candidate % every === 0;
          const found = nearestRows({ table, query, k, rows: list(table, accept), idOf });
          expect(found).toEqual(byHand(table, query, k, accept));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('follow every change of the table', () => {
    const table = fill(metric, 2, 3000);
    const random = randomFrom(3);
    table.bounded();
    table.bounded();
    for (let change = 0; change < 2000; change += 1) {
      const row = Math.floor(random() * table.count);
      const vector = Float32Array.from({ length: dimension }, () => random() - 0.5);
      if (change % 3 === 0) table.remove(row);
      else if (change % 3 === 1) table.set(row, vector);
      else table.set(table.count, vector);
    }
    for (const row of [0, 17, table.count - 1]) {
      const query = Float32Array.from(table.row(row));
      const found = nearestRows({ table, query, k: 10, idOf });
      expect(found).toEqual(byHand(table, query, 10, () => true));
    }
  });

  it('are exact where 8 bits lose nothing, and only the rounding of sums tells two calculations apart', () => {
    const random = randomFrom(5);
    const createVector = (): Float32Array => {
      const size = Math.fround(Math.ceil(random() * 9) / 7);
      return Float32Array.from({ length: dimension }, () => (random() < 0.3 ? size : 0));
    };
    const table = new VectorTable(dimension, metric);
    for (let row = 0; row < 3000; row += 1) table.set(table.count, createVector());
    for (let round = 0; round < 100; round += 1) {
      const query = round % 2 === 0 ? createVector() : createVector().map(Math.sign);
      const found = nearestRows({ table, query, k: 10, idOf });
      expect(found).toEqual(byHand(table, query, 10, () => true));
    }
  });

  it('are exact for vectors of any kind and dimension', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(kinds)),
        fc.constantFrom(1, 2, 15, 16, 17, 31, 32, 33, 63, 100),
        fc.integer({ min: 1, max: 30 }),
        fc.nat(),
        (createNumber, length, k, seed) => {
          const random = randomFrom(seed);
          const createVector = (): Float32Array => Float32Array.from({ length }, () => createNumber(random));
          const table = new VectorTable(length, metric);
          for (let row = 0; row < 2100; row += 1) table.set(table.count, createVector());
          const first = createVector();
          // The second query makes the small integers.
          expect(nearestRows({ table, query: first, k, idOf })).toEqual(byHand(table, first, k, () => true));
          table.bounded();
          expect(table.bounded()).toBeInstanceOf(QuantizedRows);
          for (const query of [createVector(), table.row(7), table.row(8).map(Math.sign)]) {
            expect(nearestRows({ table, query, k, idOf })).toEqual(byHand(table, query, k, () => true));
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it('of a query without direction are ordered by id, or by length', () => {
    const table = fill(metric, 4, 2500);
    const query = new Float32Array(dimension);
    const found = nearestRows({ table, query, k: 5, idOf });
    expect(found).toEqual(byHand(table, query, 5, () => true));
  });
});
