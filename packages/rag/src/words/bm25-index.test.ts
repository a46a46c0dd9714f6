import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { referenceBm25 } from '../../../devtools/src/stores/reference-rankings.ts';
import { Bm25Index } from './bm25-index.js';
import { englishAnalysis, termsOf } from './analysis.js';
import { english } from './languages.js';
import { queryTermsIn, type QueryTerm } from './query-terms.js';

const idOf = (doc: number): string => String(doc).padStart(6, '0');
const word = fc.constantFrom('red', 'green', 'blue', 'grey', 'lila', 'gold', 'black', 'white');
const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '));

function toQuery(...terms: string[]): QueryTerm[] {
  return terms.map((term) => ({ forms: [term], weight: 1, isQuestionWord: false }));
}

/** Compares with the definition. */
function expectReference(index: Bm25Index, texts: ReadonlyMap<number, string>, question: string): void {
  const expected = referenceBm25(new Map([...texts].map(([doc, value]) => [idOf(doc), value])), question);
  const found = index.search(queryTermsIn(question, [english]), { limit: 5, idOf });
  expect(found.map(({ doc }) => idOf(doc))).toEqual(expected.slice(0, 5).map(({ id }) => id));
  found.forEach(({ score }, place) => expect(score).toBeCloseTo(expected[place]?.score ?? 0, 12));
}

describe('Bm25Index', () => {
  it('agrees with the definition through thousands of changes', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 30, maxLength: 30 }), fc.nat(), text, (samples, seed, question) => {
        fc.pre(question !== '');
        const index = new Bm25Index();
        const texts = new Map<number, string>();
        for (let change = 0; change < 3000; change += 1) {
          const mixed = Math.imul(change + seed, 2_654_435_761) >>> 0;
          const doc = mixed % 150;
          const sample = samples[(mixed >>> 8) % samples.length] as string;
          if (mixed % 11 === 0) {
            index.delete(doc);
            texts.delete(doc);
          } else if (mixed % 13 === 0 && texts.has(doc)) {
            // To a number that is free.
            index.move(doc, 1000 + change);
            texts.set(1000 + change, texts.get(doc) as string);
            texts.delete(doc);
          } else {
            index.set(doc, termsOf(sample, englishAnalysis()));
            texts.set(doc, sample);
          }
          if (change % 400 === 7) expectReference(index, texts, question);
        }
        expect(index.count).toBe(texts.size);
        expectReference(index, texts, question);
      }),
      { numRuns: 25 },
    );
  });

  it('finds only accepted texts, and counts all of them', () => {
    const index = new Bm25Index();
    ['red', 'red red', 'red blue'].forEach((value, doc) => index.set(doc, value.split(' ')));
    const all = index.search(toQuery('red'), { limit: 3, idOf });
    const some = index.search(toQuery('red'), { limit: 3, idOf, accept: (doc) => doc !== 1 });
    expect(some).toEqual(all.filter(({ doc }) => doc !== 1));
  });

  it('orders equal texts by id, also where some of them came later', () => {
    const index = new Bm25Index();
    const terms = ['red', 'house', 'blue', 'lake'];
    for (let doc = 0; doc < 3000; doc += 1) index.set(doc, terms);
    index.search(toQuery('red', 'lake'), { limit: 1, idOf });
    index.set(7, terms);
    index.set(5000, terms);
    const found = index.search(toQuery('red', 'blue', 'lake'), { limit: 4000, idOf });
    expect(found.map(({ doc }) => doc)).toEqual([...Array.from({ length: 3000 }, (_, doc) => doc), 5000]);
    expect(new Set(found.map(({ score }) => score)).size).toBe(1);
  });

  it('frees replaced texts, also without a search', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const bytes = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const index = new Bm25Index();
    const words = Array.from({ length: 300 }, (_, n) => `word${n}`);
    const before = bytes();
    for (let change = 0; change < 6000; change += 1) index.set(change % 100, words);
    // All of them together take 29 MB, those that are left and may be removed 6 MB.
    expect(bytes() - before).toBeLessThan(16e6);
    expect(index.count).toBe(100);
  });

  it('finds nothing for words that no text holds, or for none', () => {
    const index = new Bm25Index();
    expect(index.search(toQuery('red'), { limit: 3, idOf })).toEqual([]);
    index.set(0, ['red']);
    for (const terms of [['purple'], []]) expect(index.search(toQuery(...terms), { limit: 3, idOf })).toEqual([]);
  });
});
