import { describe, expect, it } from 'vitest';
import { fusionDepth, reciprocalRankFusion } from './reciprocal-rank-fusion.js';

describe('reciprocal rank fusion', () => {
  it('gives 1 to what every ranking puts first, and less to the others', () => {
    const fused = reciprocalRankFusion([
      { ids: ['a', 'b', 'c'], weight: 1 },
      { ids: ['a', 'c'], weight: 1 },
    ]);
    expect(fused).toEqual([
      { id: 'a', score: 1 },
      { id: 'c', score: expect.closeTo((1 / 63 + 1 / 62) / (2 / 61), 12) },
      { id: 'b', score: expect.closeTo(1 / 62 / (2 / 61), 12) },
    ]);
  });

  it('lets weights decide, and leaves out a ranking without weight', () => {
    const rankings = (weight: number) => [
      { ids: ['a', 'b'], weight: 1 },
      { ids: ['b', 'c', 'a'], weight },
    ];
    expect(reciprocalRankFusion(rankings(0.2)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(reciprocalRankFusion(rankings(5)).map(({ id }) => id)).toEqual(['b', 'a', 'c']);
    expect(reciprocalRankFusion(rankings(0)).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('orders equal scores by id, for any order of the rankings', () => {
    const one = { ids: ['x', 'b'], weight: 1 };
    const two = { ids: ['a', 'c'], weight: 1 };
    for (const rankings of [
      [one, two],
      [two, one],
    ])
      expect(reciprocalRankFusion(rankings).map(({ id }) => id)).toEqual(['a', 'x', 'b', 'c']);
  });

  it('is empty without rankings, and looks deeper than the results that are wanted', () => {
    expect(reciprocalRankFusion([])).toEqual([]);
    expect(fusionDepth(10)).toBe(100);
    expect(fusionDepth(1000)).toBe(4000);
  });
});
