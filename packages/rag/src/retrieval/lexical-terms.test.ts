import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lexicalTerms } from './lexical-terms.js';

describe('lexical terms', () => {
  it.each([
    ['The cats are sleeping on two sofas', ['cat', 'sleep', 'sofa']],
    ['Glass, classes and relational organization', ['glass', 'class', 'relat', 'organ']],
    ['file files, decide decided deciding', ['file', 'file', 'decid', 'decid', 'decid']],
    ['ship shipping, query queries', ['ship', 'ship', 'queri', 'queri']],
    ['E1042 v2.0 a', ['e1042', 'v2']],
    ['Café CAFÉ cafe', ['cafe', 'cafe', 'cafe']],
    ['Straße ﬁle', ['straße', 'file']],
    ['Поиск документов', ['поиск', 'документов']],
    ['日本', ['日', '日本', '本']],
    ['', []],
  ])('of %j', (text, terms) => {
    expect(lexicalTerms(text)).toEqual(terms);
  });

  it('are the same for English words among others of the world', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        expect(lexicalTerms(`${text} ы`)).toEqual([...lexicalTerms(text), 'ы']);
      }),
      { numRuns: 1000 },
    );
    const sentence = 'Internationalization of organizations, quickly and repeatedly: 12 THINGS_or 3x';
    expect(lexicalTerms(`${sentence} ы`)).toEqual([...lexicalTerms(sentence), 'ы']);
  });
});
