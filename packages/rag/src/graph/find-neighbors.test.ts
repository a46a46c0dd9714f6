import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { findNeighbors, UnitRows, type NeighborLists, type NeighborSearch } from './find-neighbors.js';

function unitsOf(vectors: readonly (readonly number[] | Float32Array)[]): UnitRows {
  const rows = vectors.map((vector) => Float32Array.from(vector));
  return new UnitRows(rows, rows[0]?.length ?? 1);
}

function find(units: UnitRows, options: Partial<NeighborSearch> = {}): NeighborLists {
  const steps = findNeighbors({ units, limit: 3, threshold: 0, ...options });
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

function toPairs({ limit, counts, rows, scores }: NeighborLists): [number, number][][] {
  return Array.from(counts, (count, row) =>
    Array.from({ length: count }, (_, place) => [
      rows[row * limit + place] as number,
      scores[row * limit + place] as number,
    ]),
  );
}

/** Compares every pair, in the plainest way. */
function compareAll(units: UnitRows, limit: number, threshold: number): [number, number][][] {
  return Array.from({ length: units.vectors.length }, (_, row) =>
    Array.from({ length: units.vectors.length }, (_unused, other): [number, number] => [
      other,
      units.similarity(row, other),
    ])
      .filter(([other, similarity]) => other !== row && similarity > threshold)
      .sort(([a, toA], [b, toB]) => toB - toA || a - b)
      .slice(0, limit),
  );
}

/** Groups of vectors around common centers; the same numbers on every machine. */
function clusters(count: number, dimension: number, size: number, spread: number): Float32Array[] {
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
  const centers = Array.from({ length: Math.ceil(count / size) }, () =>
    Float32Array.from({ length: dimension }, random),
  );
  return Array.from({ length: count }, (_, row) =>
    (centers[row % centers.length] as Float32Array).map((value) => value + spread * random()),
  );
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('findNeighbors', () => {
  const number = fc.oneof(
    fc.float({ min: -1, max: 1, noNaN: true }),
    // Few values make many equal vectors and equal similarities.
    fc.constantFrom(0, 1, -1, 0.5),
    fc.constantFrom(1e-20, 1e20, 1e-4),
  );
  const vectors = fc
    .integer({ min: 1, max: 20 })
    .chain((dimension) =>
      fc.array(fc.array(number, { minLength: dimension, maxLength: dimension }), { minLength: 1, maxLength: 40 }),
    );

  it('finds what comparing every pair finds', () => {
    fc.assert(
      fc.property(
        vectors,
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom(0, 0.3, 0.7, 0.999),
        (rows, limit, threshold) => {
          const units = unitsOf(rows);
          expect(toPairs(find(units, { limit, threshold }))).toEqual(compareAll(units, limit, threshold));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('finds the same in many rows, among them groups that rounding cannot tell apart', () => {
    const rows = clusters(700, 40, 35, 1e-5);
    rows.push(...clusters(200, 40, 20, 0.5));
    const units = unitsOf(rows);
    expect(toPairs(find(units, { limit: 10, threshold: 0.2 }))).toEqual(compareAll(units, 10, 0.2));
  });

  it('finds the same, bit by bit, where WebAssembly is forbidden', async () => {
    const rows = clusters(300, 33, 15, 0.5);
    const expected = find(unitsOf(rows), { limit: 5 });
    vi.stubGlobal('WebAssembly', undefined);
    expect(find(unitsOf(rows), { limit: 5 })).toEqual(expected);
  });

  it('ends soon for equal vectors, vectors without direction and thresholds 0 and 1', () => {
    const equal = unitsOf(Array.from({ length: 3000 }, (_, row) => (row < 2000 ? [1, 2, 3] : [0, 0, 0])));
    const lists = find(equal, { threshold: 0 });
    expect(toPairs(lists)[0]?.map(([row]) => row)).toEqual([1, 2, 3]);
    expect(toPairs(lists)[1999]?.map(([row]) => row)).toEqual([0, 1, 2]);
    expect(toPairs(lists)[2500]).toEqual([]);
    expect(find(equal, { threshold: 1 }).counts.every((count) => count === 0)).toBe(true);
  });
});
