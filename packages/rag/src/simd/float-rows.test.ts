import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { FloatRows } from './float-rows.js';
import type { BlockEstimate } from './quantized-rows.js';

/** Rows that follow each other. */
function create(rows: readonly Float32Array[], isUnit: boolean): FloatRows {
  const dimension = rows[0]?.length ?? 0;
  const all = Float32Array.from(rows.flatMap((row) => [...row]));
  const rowsAt = (first: number, count: number): Float32Array =>
    all.subarray(first * dimension, (first + count) * dimension);
  return FloatRows.create(dimension, { isUnit, rowsAt }) as FloatRows;
}

describe('estimates of rows of floats', () => {
  const number = fc.oneof(
    fc.float({ min: -1, max: 1, noNaN: true }),
    fc.float({ min: -1e6, max: 1e6, noNaN: true }),
    fc.constantFrom(0, -0, 1e-44, 1e-37, 1e-20, 1e-12, 1e12, 1e20, -1e20, 3e38),
  );
  const vectors = fc
    .integer({ min: 1, max: 70 })
    .chain((dimension) =>
      fc.array(fc.array(number, { minLength: dimension, maxLength: dimension }), { minLength: 2, maxLength: 12 }),
    );

  it('never lie further from the exact product than they say', () => {
    fc.assert(
      fc.property(vectors, fc.boolean(), ([first, ...others], isUnit) => {
        const query = Float32Array.from(first as number[]);
        fc.pre(query.some((value) => value !== 0));
        const rows = others.map((values) => Float32Array.from(values));
        const [block] = [...create(rows, isUnit).estimate(query, 2, rows.length)] as [BlockEstimate];
        for (const [place, row] of rows.entries()) {
          const length = isUnit ? Math.hypot(...row) || 1 : 1;
          const exact = 2 * row.reduce((sum, value, at) => sum + (value / length) * (query[at] as number), 0);
          const { estimate, error } = block.estimate(place);
          expect(Math.abs(estimate - exact)).toBeLessThanOrEqual(error);
          expect(block.atMost[place]).toBeGreaterThanOrEqual(exact);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are narrow, for every row of several blocks', () => {
    const rows = Array.from({ length: 150 }, (_, row) =>
      Float32Array.from({ length: 384 }, (_number, at) => Math.sin(row * 384 + at)),
    );
    const [query] = rows as [Float32Array];
    let seen = 0;
    for (const block of create(rows, true).estimate(query, 1 / Math.hypot(...query), rows.length)) {
      for (let place = 0; place < block.count; place += 1) {
        expect(block.rows[place]).toBe(seen);
        const row = rows[seen] as Float32Array;
        const exact = row.reduce((sum, value, at) => sum + value * (query[at] as number), 0);
        const { estimate, error } = block.estimate(place);
        expect(estimate).toBeCloseTo(exact / Math.hypot(...query) / Math.hypot(...row), 6);
        expect(error).toBeLessThan(2e-5);
        seen += 1;
      }
    }
    expect(seen).toBe(rows.length);
  });
});

it('are left out where WebAssembly is forbidden, and for more numbers than 32 bits can add up', async () => {
  const rowsAt = (): Float32Array => new Float32Array(0);
  expect(FloatRows.create(10_000_000, { isUnit: true, rowsAt })).toBeUndefined();
  vi.resetModules();
  vi.stubGlobal('WebAssembly', undefined);
  try {
    const fresh = await import('./float-rows.js');
    expect(fresh.FloatRows.create(8, { isUnit: true, rowsAt })).toBeUndefined();
  } finally {
    vi.unstubAllGlobals();
  }
});
