import { array, assert, double, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bootstrapMean, compareMeans } from './intervals.js';

/** 100 values with the mean 0.3. */
const values = Array.from({ length: 100 }, (_, index) => (index % 10 < 3 ? 1 : 0));

describe('the bootstrap', () => {
  it('returns the mean and an interval like that of the normal distribution', () => {
    const { mean, low, high } = bootstrapMean(values);
    const error = 1.96 * Math.sqrt((0.3 * 0.7) / 100);
    expect(mean).toBeCloseTo(0.3, 10);
    expect(Math.abs(low - (0.3 - error))).toBeLessThan(0.015);
    expect(Math.abs(high - (0.3 + error))).toBeLessThan(0.015);
  });

  it('returns the same interval again', () => {
    expect(bootstrapMean(values)).toEqual(bootstrapMean(values));
  });

  it('contains the mean within bounds of the values', () => {
    assert(
      property(array(double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 30 }), (list) => {
        const { mean, low, high } = bootstrapMean(list);
        expect(low).toBeLessThanOrEqual(high);
        for (const value of [mean, low, high]) {
          expect(value).toBeGreaterThanOrEqual(Math.min(...list) - 1e-9);
          expect(value).toBeLessThanOrEqual(Math.max(...list) + 1e-9);
        }
      }),
    );
  });

  it('detects a small difference between paired values that separate intervals hide', () => {
    const better = values.map((value, index) => (index % 10 === 5 ? 1 : value));
    const comparison = compareMeans(values, better);
    expect(comparison).toMatchObject({ wins: 10, losses: 0, isSignificant: true });
    expect(comparison.difference.mean).toBeCloseTo(0.1, 10);
    expect(bootstrapMean(values).high).toBeGreaterThan(bootstrapMean(better).low);
  });

  it('reports no significant difference between equal systems, nor for one changed question', () => {
    expect(compareMeans(values, values)).toMatchObject({ wins: 0, losses: 0, isSignificant: false });
    expect(compareMeans(values, [...values.slice(0, 99), 1]).isSignificant).toBe(false);
  });

  it('calls no difference significant when fewer than six questions differ', () => {
    const zeros = Array<number>(8).fill(0);
    const changed = (count: number): number[] => zeros.map((_, index) => (index < count ? 1 : 0));
    expect(compareMeans(zeros, changed(5))).toMatchObject({ wins: 5, isSignificant: false });
    expect(compareMeans(zeros, changed(5)).difference.low).toBeGreaterThan(0);
    expect(compareMeans(zeros, changed(6))).toMatchObject({ wins: 6, isSignificant: true });
  });

  it('rejects lists that do not fit, and other values than finite numbers', () => {
    const code = expect.objectContaining({ code: 'OPTIONS_INVALID' });
    expect(() => bootstrapMean([])).toThrow(code);
    expect(() => bootstrapMean([1, Number.NaN])).toThrow(code);
    expect(() => bootstrapMean([1, '1' as unknown as number])).toThrow(code);
    expect(() => compareMeans([1], [1, 2])).toThrow(/not 1 and 2/);
  });
});
