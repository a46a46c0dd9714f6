import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { confidenceOf, weighTerms } from './confidence.js';

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
const rate = (question: string, passage: string): number =>
  confidenceOf({ question: weighTerms(question, wordsOf), passage: wordsOf(passage) });
const filler = ' filler'.repeat(30);

describe('the confidence of a passage', () => {
  it('grows with the share of the terms that the passage contains', () => {
    const passages = ['green apples', 'sort green apples', 'sort green apples by size'];
    const [one, two, three] = passages.map((passage) => rate('sort green apples by weight', passage));
    expect(two).toBeGreaterThan(one as number);
    expect(three).toBeGreaterThan(two as number);
  });

  it('is below .05 for a passage without a term, and above .9 for one with all terms of three near each other', () => {
    expect(rate('banana pancake recipe', 'terminal settings of the plot')).toBeLessThan(0.05);
    expect(rate('banana pancake recipe', 'the recipe of a banana pancake')).toBeGreaterThan(0.9);
  });

  it('is higher for terms near each other than for terms far apart', () => {
    expect(rate('stale lock file', `the stale lock file${filler}`)).toBeGreaterThan(
      rate('stale lock file', `stale${filler} lock${filler} file`),
    );
  });

  it('counts the number of terms as well as their share', () => {
    expect(rate('a b c d e f g h i j k l', 'a b c d e f')).toBeGreaterThan(rate('a b', 'a'));
  });

  it('counts a missing name more than a missing word', () => {
    const question = 'budget of the Tosca opera';
    expect(rate(question, 'budget of the tosca')).toBeGreaterThan(rate(question, 'budget of the opera'));
  });

  it('gives names, numbers and identifiers more weight, but not the first word of a question', () => {
    const weights = weighTerms('Does INV-2203 name parseDates in Rome', (text) => text.split(' '));
    expect(weights).toEqual([
      { term: 'Does', weight: 1 },
      { term: 'INV-2203', weight: 1.5 },
      { term: 'name', weight: 1 },
      { term: 'parseDates', weight: 1.5 },
      { term: 'in', weight: 1 },
      { term: 'Rome', weight: 1.5 },
    ]);
  });

  it('is a number between 0 and 1, which a longer passage never lowers', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 60 });
    fc.assert(
      fc.property(words, words, words, (question, passage, more) => {
        const terms = question.map((term) => ({ term, weight: 1 }));
        const confidence = confidenceOf({ question: terms, passage });
        expect(confidence).toBeGreaterThan(0);
        expect(confidence).toBeLessThan(1);
        expect(confidenceOf({ question: terms, passage: [...passage, ...more] })).toBeGreaterThanOrEqual(confidence);
      }),
    );
  });
});
