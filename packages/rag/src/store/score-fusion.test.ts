import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fusedDepth } from './depths.js';
import { fuseScores, type Ranking } from './score-fusion.js';
import type { VectorMatch } from './vector-store.js';

type Match = Pick<VectorMatch, 'id' | 'score' | 'foundBy'>;

function ranking(mode: 'vector' | 'keyword', scores: Record<string, number>, weight = 1): Ranking<Match> {
  return { mode, weight, matches: Object.entries(scores).map(([id, score]) => ({ id, score })) };
}

/** A full list: its scores fall from `first` to `last`. */
function full(
  mode: 'vector' | 'keyword',
  prefix: string,
  [first, last]: [number, number],
  count = fusedDepth,
): Ranking<Match> {
  const step = (first - last) / (count - 1);
  return ranking(
    mode,
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, first - at * step])),
  );
}

const idsOf = (matches: readonly Match[]): string[] => matches.map(({ id }) => id);
const scoreOf = (matches: readonly Match[], id: string): number =>
  matches.find((one) => one.id === id)?.score ?? Number.NaN;

describe('fuseScores', () => {
  it('gives 1 to the first result of every ranking, and adds the scores of the others', () => {
    const fused = fuseScores([full('vector', 'r', [0.9, 0.5]), full('keyword', 'r', [0.3, 0.1])]);
    expect(fused).toHaveLength(fusedDepth);
    expect(fused[0]).toMatchObject({ id: 'r0', score: 1 });
    expect(fused.at(-1)?.id).toBe(`r${fusedDepth - 1}`);
    expect(fused.at(-1)?.score).toBeLessThan(0.3);
  });

  it('ends a keyword ranking at 0 where it holds every record with a word, and at its last score where it is full', () => {
    const rare = fuseScores([ranking('keyword', { first: 0.5, second: 0.4 }), full('vector', 'v', [0.9, 0.5])]);
    // The second exact match counts almost as much as the first one.
    expect(scoreOf(rare, 'second') / scoreOf(rare, 'first')).toBeCloseTo(0.8, 9);
    const long = fuseScores([full('keyword', 'k', [0.5, 0.4])]);
    expect(scoreOf(long, `k${fusedDepth - 1}`)).toBeCloseTo(0.8, 9);
    expect(scoreOf(fuseScores([ranking('vector', { a: 0.9, b: 0.8 })]), 'b')).toBe(0);
  });

  it('leaves a ranking alone whose other one is empty or has equal scores only', () => {
    const words = ranking('keyword', { a: 3, b: 2, c: 1 });
    const alone = fuseScores([words]);
    expect(alone).toEqual([
      { id: 'a', score: 1 },
      { id: 'b', score: expect.closeTo(2 / 3, 9) },
      { id: 'c', score: expect.closeTo(1 / 3, 9) },
    ]);
    expect(fuseScores([words, ranking('vector', {})])).toEqual(alone);
    const same = fuseScores([words, full('vector', 'v', [0.7, 0.7])]);
    expect(same.slice(0, 3)).toEqual(alone);
    expect(same.slice(3).every(({ score }) => score === 0)).toBe(true);
    expect(idsOf(fuseScores([full('vector', 'v', [0.7, 0.7])]))).toEqual(
      idsOf(full('vector', 'v', [1, 0]).matches as Match[]),
    );
  });

  it('counts all records with a word where their scores are equal: other records have none', () => {
    const fused = fuseScores([ranking('keyword', { a: 2, b: 2 }), full('vector', 'v', [0.9, 0.1])]);
    expect(idsOf(fused).slice(0, 2)).toEqual(['a', 'b']);
  });

  it('returns numbers from 0 to 1 for any scores and weights', () => {
    const score = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Infinity, -Infinity, 0, -0, 5e-324, 1e308, -1e308));
    const list = fc.record({
      matches: fc.uniqueArray(fc.record({ id: fc.string({ maxLength: 2 }), score }), { selector: ({ id }) => id }),
      weight: fc.constantFrom(0, 1, 0.25, 1e308, 5e-324),
      mode: fc.constantFrom('vector', 'keyword', 'hybrid'),
    });
    fc.assert(
      fc.property(fc.array(list, { maxLength: 4 }), (rankings) => {
        const fused = fuseScores<Match>(rankings);
        for (const match of fused) expect(match.score).toSatisfy((value: number) => value >= 0 && value <= 1);
        expect(idsOf(fused).toSorted()).toEqual(
          [...new Set(rankings.flatMap(({ matches, weight }) => (weight > 0 ? idsOf(matches) : [])))].toSorted(),
        );
      }),
    );
    expect(fuseScores([ranking('vector', { a: 0.5, b: 0.4 }), ranking('keyword', { c: 1 }, 0)])).toEqual([
      { id: 'a', score: 1 },
      { id: 'b', score: 0 },
    ]);
    expect(fuseScores([ranking('vector', { a: 1 }, 0)])).toEqual([]);
    expect(fuseScores([])).toEqual([]);
  });

  it('gives the best record no more than 1, for any rounding of the weights', () => {
    const records = fc.uniqueArray(fc.integer({ min: 1, max: 1e6 }), { minLength: 3, maxLength: 60 });
    fc.assert(
      fc.property(records, records, fc.integer({ min: 1, max: 9 }), (relevance, similarity, weight) => {
        const list = (mode: 'vector' | 'keyword', scores: number[], share: number): Ranking<Match> => ({
          ...ranking(mode, Object.fromEntries(scores.toSorted((a, b) => b - a).map((score, at) => [`r${at}`, score]))),
          weight: share,
        });
        const fused = fuseScores([list('vector', similarity, 1), list('keyword', relevance, weight)]);
        expect(fused[0]?.score).toSatisfy((best: number) => best <= 1 && best > 1 - 1e-9);
      }),
      { numRuns: 1000 },
    );
  });

  it('gives the same first results for any number of results', () => {
    const fuse = (count: number): Match[] =>
      fuseScores([
        {
          ...full('vector', 'r', [0.9, 0.1], 400),
          matches: full('vector', 'r', [0.9, 0.1], 400).matches.slice(0, count),
        },
        {
          ...full('keyword', 'r', [30, 1], 400),
          matches: full('keyword', 'r', [30, 1], 400)
            .matches.map((match, at) => ({ ...match, id: `r${(at * 7) % 400}` }))
            .slice(0, count),
        },
      ]);
    expect(fuse(100).slice(0, fusedDepth)).toEqual(fuse(fusedDepth).slice(0, fusedDepth));
    expect(fuse(400).slice(0, fusedDepth)).toEqual(fuse(fusedDepth).slice(0, fusedDepth));
    expect(fuse(400)).toHaveLength(400);
  });

  it('lets few vectors count little, because each record of a small index is a neighbor', () => {
    const share = (count: number): number => {
      const scores = Object.fromEntries(Array.from({ length: count }, (_, at) => [`v${at}`, at === 0 ? 0.9 : 0.1]));
      return scoreOf(fuseScores([ranking('vector', scores), ranking('keyword', { a: 2, b: 1 })]), 'v0');
    };
    const shares = [2, 3, 10, 20, 40].map(share);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares[0]).toBeLessThan(0.15);
    expect(shares[3]).toBeGreaterThan(0.3);
  });

  it('counts a ranking more whose first result is far ahead', () => {
    const clear = ranking('keyword', { a: 10, b: 1, c: 1, d: 1 });
    const vague = full('vector', 'v', [0.9, 0.8]);
    const fused = fuseScores([vague, clear]);
    expect(scoreOf(fused, 'a')).toBeGreaterThan(scoreOf(fused, 'v0'));
  });

  it('multiplies the weights of the user, and merges any number of rankings', () => {
    const lists = (weight: number): Ranking<Match>[] => [
      full('keyword', 'a', [5, 1]),
      full('keyword', 'b', [5, 1]),
      { ...full('keyword', 'c', [5, 1]), weight },
    ];
    const [equal, more] = [1, 2].map((weight) => fuseScores(lists(weight)));
    for (const id of ['a0', 'b0', 'c0']) expect(scoreOf(equal as Match[], id)).toBeCloseTo(0.2 + 0.8 / 3, 9);
    expect(scoreOf(more as Match[], 'c0')).toBeCloseTo(0.2 + 0.8 / 2, 9);
  });

  it('names the searches that found a record', () => {
    const found = (mode: 'vector' | 'keyword', ids: string[]): Ranking<Match> => ({
      mode,
      weight: 1,
      matches: ids.map((id, at) => ({ id, score: 9 - at, foundBy: [mode] })),
    });
    const fused = fuseScores([found('vector', ['a', 'b']), found('keyword', ['a', 'c'])]);
    expect(Object.fromEntries(fused.map(({ id, foundBy }) => [id, foundBy]))).toEqual({
      a: ['vector', 'keyword'],
      b: ['vector'],
      c: ['keyword'],
    });
  });
});
