import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maximalMarginalRelevance } from './search.js';

const candidates = [
  { id: 'best', score: 0.9, vector: [1, 0] },
  { id: 'copy', score: 0.89, vector: [2, 0] },
  { id: 'other', score: 0.5, vector: [0, 1] },
  { id: 'between', score: 0.6, vector: [1, 1] },
];
const choose = (lambda: number, topK: number): string[] =>
  maximalMarginalRelevance(candidates, { lambda, topK }).map(({ id }) => id);

describe('maximal marginal relevance', () => {
  it('takes the best first, then what is good and different', () => {
    expect(choose(0.5, 3)).toEqual(['best', 'other', 'between']);
  });

  it('is the order of relevance with λ = 1, for any vectors', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.array(fc.integer(), { minLength: 2, maxLength: 2 })),
        ),
        (rows) => {
          const sorted = rows.map(([score, vector]) => ({ score, vector })).toSorted((a, b) => b.score - a.score);
          expect(maximalMarginalRelevance(sorted, { lambda: 1, topK: sorted.length })).toEqual(sorted);
        },
      ),
    );
  });

  it('chooses by difference alone with λ = 0, beginning with the first', () => {
    expect(choose(0, 2)).toEqual(['best', 'other']);
  });

  it('takes every candidate once, and no more than there are', () => {
    expect(choose(0.3, 10).toSorted()).toEqual(['best', 'between', 'copy', 'other']);
    expect(maximalMarginalRelevance([], { lambda: 0.5, topK: 3 })).toEqual([]);
  });

  it('works without vectors, and with vectors of zeros', () => {
    const plain = [{ score: 0.5 }, { score: 0.4, vector: [0, 0] }, { score: 0.3, vector: [1, 2] }];
    expect(maximalMarginalRelevance(plain, { lambda: 0.5, topK: 3 })).toEqual(plain);
  });
});
