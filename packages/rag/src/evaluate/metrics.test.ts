import { assert, constantFrom, property, uniqueArray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allAt,
  hitRateAt,
  judgeIds,
  mrrAt,
  ndcgAt,
  parseMetric,
  precisionAt,
  recallAt,
  separation,
} from './metrics.js';

describe('the metrics of a ranking', () => {
  const judged = judgeIds(
    ['x', 'a', 'y', 'b'],
    new Map([
      ['a', 1],
      ['b', 3],
      ['c', 2],
    ]),
  );

  it('equal the values computed by hand', () => {
    expect(recallAt(judged, 2)).toBeCloseTo(1 / 3);
    expect(recallAt(judged, 10)).toBeCloseTo(2 / 3);
    expect(precisionAt(judged, 2)).toBe(0.5);
    expect(precisionAt(judged, 10)).toBe(0.2);
    expect(hitRateAt(judged, 1)).toBe(0);
    expect(hitRateAt(judged, 2)).toBe(1);
    expect(mrrAt(judged, 1)).toBe(0);
    expect(mrrAt(judged, 4)).toBe(0.5);
    expect(allAt(judged, 4)).toBe(0);
    const ideal = 3 + 2 / Math.log2(3) + 1 / 2;
    expect(ndcgAt(judged, 10)).toBeCloseTo((1 / Math.log2(3) + 3 / Math.log2(5)) / ideal);
    expect(ndcgAt(judged, 2)).toBeCloseTo(1 / Math.log2(3) / (3 + 2 / Math.log2(3)));
  });

  it('count a repeated result once', () => {
    const repeated = judgeIds(['a', 'a', 'a'], ['a', 'b']);
    expect(recallAt(repeated, 3)).toBe(0.5);
    expect(precisionAt(repeated, 3)).toBeCloseTo(1 / 3);
  });

  it('are 0 without results', () => {
    const none = judgeIds([], ['a']);
    expect([recallAt, precisionAt, hitRateAt, mrrAt, ndcgAt, allAt].map((metric) => metric(none, 5))).toEqual(
      Array(6).fill(0),
    );
  });

  it('are 1 for a perfect ranking, within [0, 1] for any, and never smaller for a larger k except precision', () => {
    const ids = uniqueArray(constantFrom(...'abcdefgh'), { maxLength: 8 });
    assert(
      property(ids, uniqueArray(constantFrom(...'abcdefgh'), { minLength: 1 }), (results, relevant) => {
        const ranking = judgeIds(results, relevant);
        for (const metric of [recallAt, hitRateAt, mrrAt, allAt]) {
          const values = [1, 2, 5, 10].map((k) => metric(ranking, k));
          expect(values).toEqual(values.toSorted((a, b) => a - b));
        }
        for (const metric of [recallAt, precisionAt, hitRateAt, mrrAt, ndcgAt, allAt]) {
          expect(metric(ranking, 5)).toBeGreaterThanOrEqual(0);
          expect(metric(ranking, 5)).toBeLessThanOrEqual(1);
        }
        const perfect = judgeIds(relevant, relevant);
        for (const metric of [recallAt, hitRateAt, mrrAt, ndcgAt, allAt]) expect(metric(perfect, 8)).toBe(1);
      }),
    );
  });

  it('stay at most 1 where one result contains several targets', () => {
    const both = { found: [[0, 1], []], relevant: [true, false], gains: [1, 1] };
    expect(ndcgAt(both, 5)).toBe(1);
    expect(recallAt(both, 5)).toBe(1);
  });

  it('reject an invalid k, no relevant ids, and invalid gains', () => {
    for (const k of [0, -1, 1.5, Number.NaN, Infinity, '5' as unknown as number]) {
      for (const metric of [recallAt, precisionAt, hitRateAt, mrrAt, ndcgAt, allAt])
        expect(() => metric(judged, k)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    }
    expect(() => judgeIds(['a'], 'abc')).toThrow(/a list/);
    expect(() => judgeIds(['a'], [])).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    expect(() => judgeIds(['a'], new Map([['a', Number.NaN]]))).toThrow(/gain of 'a'/);
    expect(() => judgeIds(['a'], new Map([['a', 0]]))).toThrow(/at least one relevant id/);
  });

  it('have names with their k', () => {
    expect(parseMetric('mrrAt4').measure(judged)).toBe(0.5);
    expect(parseMetric('recallAt2')).toMatchObject({ name: 'recallAt2', k: 2 });
    for (const name of [
      'recall',
      'recallAt',
      'recallAt0',
      'recallAt5.5',
      'toStringAt5',
      'constructorAt5',
      'recall@5',
      '',
    ])
      expect(() => parseMetric(name), name).toThrow(/There is no metric/);
  });
});

describe('the separation of questions', () => {
  it('is the share of pairs whose order is right, where equal confidences count half', () => {
    expect(separation([0.9, 0.7], [0.1, 0.7])).toBe(0.875);
    expect(separation([1, 1], [1])).toBe(0.5);
    expect(separation([0.2], [0.3])).toBe(0);
  });

  it('rejects an empty list', () => {
    expect(() => separation([], [0.1])).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
  });
});
