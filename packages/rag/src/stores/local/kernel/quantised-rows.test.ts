import { readFile } from 'node:fs/promises';
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import wabt from 'wabt';
import { int8DotsWasm } from './int8-dots.js';
import { QuantisedRows } from './quantised-rows.js';

describe('the kernel', () => {
  it('is what its text compiles to', async () => {
    const text = await readFile(new URL('int8-dots.wat', import.meta.url), 'utf8');
    const { buffer } = (await wabt()).parseWat('int8-dots.wat', text, { simd: true }).toBinary({});
    expect(int8DotsWasm).toBe(Buffer.from(buffer).toString('base64'));
  });

  it('is left out where WebAssembly is forbidden', async () => {
    vi.resetModules();
    vi.stubGlobal('WebAssembly', undefined);
    try {
      const fresh = await import('./quantised-rows.js');
      expect(fresh.QuantisedRows.create(8)).toBeUndefined();
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe('estimates of quantised rows', () => {
  const number = fc.oneof(
    fc.float({ min: -1, max: 1, noNaN: true }),
    fc.float({ min: -1e6, max: 1e6, noNaN: true }),
    fc.constantFrom(0, -0, 1e-20, 1e20, -1e20),
  );
  const vectors = fc
    .integer({ min: 1, max: 70 })
    .chain((dimension) =>
      fc.array(fc.array(number, { minLength: dimension, maxLength: dimension }), { minLength: 2, maxLength: 12 }),
    );

  it('never lie further from the exact product than they say', () => {
    fc.assert(
      fc.property(vectors, fc.constantFrom(1, 0.37, 1e-3), ([query, ...rows], factor) => {
        const exactQuery = Float32Array.from(query as number[]);
        const quantised = QuantisedRows.create(exactQuery.length) as QuantisedRows;
        expect(quantised.reserve(rows.length)).toBe(true);
        rows.forEach((values, row) => quantised.set(row, Float32Array.from(values), factor));
        for (const block of quantised.estimate(exactQuery, 1, rows.length)) {
          rows.forEach((values, row) => {
            const exact = Float32Array.from(values).reduce(
              (sum, value, position) => sum + value * factor * (exactQuery[position] as number),
              0,
            );
            // The exact sum rounds too; it is as large as its largest product at least.
            const rounding = Math.abs(exact) * 1e-12 + Number.MIN_VALUE;
            expect(Math.abs((block.estimates[row] as number) - exact)).toBeLessThanOrEqual(
              (block.errors[row] as number) + rounding,
            );
          });
        }
      }),
      { numRuns: 500 },
    );
  });

  it('survive the growth of their memory', () => {
    const dimension = 200;
    const quantised = QuantisedRows.create(dimension) as QuantisedRows;
    const rows = 20_000;
    for (let row = 0; row < rows; row += 1) {
      expect(quantised.reserve(row + 1)).toBe(true);
      quantised.set(row, new Float32Array(dimension).fill((row % 100) + 1), 1);
    }
    const query = new Float32Array(dimension).fill(1);
    let seen = 0;
    for (const block of quantised.estimate(query, 1, rows)) {
      for (let offset = 0; offset < block.rows; offset += 1) {
        expect(block.estimates[offset]).toBeCloseTo((((block.firstRow + offset) % 100) + 1) * dimension, 1);
        seen += 1;
      }
    }
    expect(seen).toBe(rows);
  });
});
