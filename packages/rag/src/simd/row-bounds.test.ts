import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startNibbleDots } from './quantized-rows.js';
import { boundRow } from './row-bounds.js';

const kernel = startNibbleDots(32) as NonNullable<ReturnType<typeof startNibbleDots>>;

/** Rounds a row with the kernel. */
function quantize(vector: Float32Array): { sums: Float32Array; integers: number[]; high: Uint8Array; low: Uint8Array } {
  const stride = Math.ceil(vector.length / 32) * 16;
  const [codes, high] = [8 * stride, 16 * stride];
  const [low, out] = [17 * stride, 18 * stride];
  const { buffer } = kernel.memory;
  const row = new Float32Array(buffer, 0, 2 * stride);
  row.fill(0);
  row.set(vector);
  kernel.exports.quantize(0, codes, high, low, stride, out);
  return {
    sums: new Float32Array(buffer, out, 4),
    integers: Array.from(new Float32Array(buffer, codes, 2 * stride), (code) => code - 0xc0_00_88),
    high: new Uint8Array(buffer, high, stride),
    low: new Uint8Array(buffer, low, stride),
  };
}

const rows = fc
  .tuple(
    fc.constantFrom<fc.Arbitrary<number>>(
      fc.float({ min: -1, max: 1, noNaN: true }),
      fc.float({ noNaN: true, noDefaultInfinity: true }),
      fc.float({ min: Math.fround(-1e-37), max: Math.fround(1e-37), noNaN: true }),
      fc.constantFrom(0, 1),
      fc.constantFrom(0, 0.1, -0.3),
      fc.constantFrom(7.5, 8, -8, 0.5, 119, -119),
    ),
    fc.integer({ min: 1, max: 70 }),
  )
  .chain(([number, length]) => fc.array(number, { minLength: length, maxLength: length }))
  .map((numbers) => Float32Array.from(numbers));

describe('a row that the kernel has rounded', () => {
  it('is the nearest integers, those of the largest size 119, in halves that lie as the comparison reads them', () => {
    fc.assert(
      fc.property(rows, (vector) => {
        const { sums, integers, high, low } = quantize(vector);
        const largest = Math.max(...vector.map(Math.abs));
        for (const [place, integer] of integers.entries()) {
          expect(Math.abs(integer - (vector[place] ?? 0) * (sums[0] as number))).toBeLessThan(0.5001);
          if (Math.abs(vector[place] ?? 0) === largest && largest > 1e-35) expect(Math.abs(integer)).toBe(119);
          // 32 numbers in 16 bytes: the first eight in the even bytes, the next eight four bits higher, then the odd bytes.
          const inGroup = place % 32;
          const byte = 16 * Math.floor(place / 32) + 2 * (place % 8) + (inGroup < 16 ? 0 : 1);
          const shift = inGroup % 16 < 8 ? 0 : 4;
          const halves = [high, low].map((plane) => ((plane[byte] as number) >> shift) & 15) as [number, number];
          expect(16 * halves[0] + halves[1] - 136).toBe(integer);
        }
      }),
    );
  });

  describe.each([false, true])('as a unit vector: %s', (isUnit) => {
    /** Bounds of a row, each with the true value. */
    const judge = (vector: Float32Array): { scale: number; pairs: [bound: number, actual: number][] } => {
      const { sums, integers } = quantize(vector);
      const { scale, length, lost, lostWithoutLow } = boundRow(sums, { numbers: integers.length, isUnit });
      const divisor = (isUnit && lengthOf(vector)) || 1;
      const exact = integers.map((_, place) => (vector[place] ?? 0) / divisor);
      const distance = (step: (integer: number) => number): number =>
        lengthOf(integers.map((integer, place) => (exact[place] as number) - scale * step(integer)));
      const pairs: [number, number][] = [
        [length, lengthOf(exact)],
        [lost, distance((integer) => integer)],
        [lostWithoutLow, distance((integer) => 16 * Math.floor((integer + 8) / 16))],
      ];
      return { scale, pairs };
    };

    it('has lost at most what is said, and hardly less', () => {
      fc.assert(
        fc.property(rows, (vector) => {
          const { scale, pairs } = judge(vector);
          for (const [bound, actual] of pairs) {
            expect(bound).toBeGreaterThanOrEqual(actual * (1 - 1e-13));
            expect(bound).toBeLessThanOrEqual(actual + 0.005 * scale);
          }
        }),
        { numRuns: 500 },
      );
    });

    it.each([0.1, 0.7, 1])(
      'has lost at most what is said where 32-bit sums drift, as those of 100,000 times %f do',
      (value) => {
        const { pairs } = judge(new Float32Array(100_000).fill(value));
        for (const [bound, actual] of pairs) expect(bound).toBeGreaterThanOrEqual(actual * (1 - 1e-13));
      },
    );
  });
});

function lengthOf(numbers: Iterable<number>): number {
  let squares = 0;
  for (const number of numbers) squares += number * number;
  return Math.sqrt(squares);
}
