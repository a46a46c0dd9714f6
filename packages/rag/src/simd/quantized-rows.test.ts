import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { QuantizedRows } from './quantized-rows.js';

describe('the kernel', () => {
  it('is left out where WebAssembly is forbidden', async () => {
    vi.resetModules();
    vi.stubGlobal('WebAssembly', undefined);
    try {
      const fresh = await import('./quantized-rows.js');
      expect(fresh.QuantizedRows.create(8, { isUnit: true })).toBeUndefined();
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe('estimates of quantized rows', () => {
  const number = fc.oneof(
    fc.float({ min: -1, max: 1, noNaN: true }),
    fc.float({ min: -1e6, max: 1e6, noNaN: true }),
    fc.constantFrom(0, -0, 1e-44, 1e-37, 1e-20, 1e20, -1e20, 3e38),
  );
  const vectors = fc
    .integer({ min: 1, max: 70 })
    .chain((dimension) =>
      fc.array(fc.array(number, { minLength: dimension, maxLength: dimension }), { minLength: 2, maxLength: 12 }),
    );

  it('never lie further from the exact product than they say', () => {
    fc.assert(
      fc.property(vectors, fc.boolean(), ([query, ...rows], isUnit) => {
        const exactQuery = Float32Array.from(query as number[]);
        const quantized = QuantizedRows.create(exactQuery.length, { isUnit }) as QuantizedRows;
        expect(quantized.reserve(rows.length)).toBe(true);
        rows.forEach((values, row) => quantized.set(row, Float32Array.from(values)));
        for (const block of quantized.estimate(exactQuery, 1, rows.length)) {
          rows.forEach((values, row) => {
            const vector = Float32Array.from(values);
            const length = isUnit ? Math.hypot(...vector) || 1 : 1;
            const exact = vector.reduce(
              (sum, value, position) => sum + (value / length) * (exactQuery[position] as number),
              0,
            );
            // The exact sum rounds too; it is as large as its largest product at least.
            const rounding = Math.abs(exact) * 1e-12 + Number.MIN_VALUE;
            const { estimate, error } = block.estimate(row);
            expect(Math.abs(estimate - exact)).toBeLessThanOrEqual(error + rounding);
            expect(block.atMost[row]).toBeGreaterThanOrEqual(exact - rounding);
          });
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['numbers between -1 and 1', (place: number) => Math.sin(place), 0.5 / 119],
    ['zeros and ones, which lose nothing', (place: number) => place % 2, 1e-3],
  ])('have error bounds close to the true error: %s', (_kind, numberAt, lostByEach) => {
    const dimension = 384;
    const quantized = QuantizedRows.create(dimension, { isUnit: false }) as QuantizedRows;
    quantized.reserve(1);
    quantized.set(
      0,
      Float32Array.from({ length: dimension }, (_, place) => numberAt(place)),
    );
    const [block] = quantized.estimate(Float32Array.of(1, ...new Float32Array(dimension - 1)), 1, 1);
    expect(block?.estimate(0).error).toBeLessThan(lostByEach * Math.sqrt(dimension));
  });

  it('survive the growth of their memory', () => {
    const dimension = 200;
    const quantized = QuantizedRows.create(dimension, { isUnit: false }) as QuantizedRows;
    const rows = 20_000;
    for (let row = 0; row < rows; row += 1) {
      expect(quantized.reserve(row + 1)).toBe(true);
      quantized.set(row, new Float32Array(dimension).fill((row % 100) + 1));
    }
    const query = new Float32Array(dimension).fill(1);
    let seen = 0;
    for (const block of quantized.estimate(query, 1, rows)) {
      for (let offset = 0; offset < block.count; offset += 1) {
        expect(block.estimate(offset).estimate).toBeCloseTo(
          (((block.rows[offset] as number) % 100) + 1) * dimension,
          1,
        );
        seen += 1;
      }
    }
    expect(seen).toBe(rows);
  });

  it.each([32, 1536, 4384, 30_000])('do not overflow with the largest products, in %i dimensions', (dimension) => {
    const quantized = QuantizedRows.create(dimension, { isUnit: false }) as QuantizedRows;
    quantized.reserve(3);
    for (const [row, sign] of [1, -1, 1].entries()) quantized.set(row, new Float32Array(dimension).fill(sign));
    const [block] = quantized.estimate(new Float32Array(dimension).fill(1), 1, 3);
    for (const [row, sign] of [1, -1, 1].entries()) {
      expect(block?.estimate(row).estimate).toBeCloseTo(sign * dimension, 6);
    }
  });

  it('are not made where sums of products could need more than 32 bits', () => {
    expect(QuantizedRows.create(150_000, { isUnit: true })).toBeUndefined();
  });
});
