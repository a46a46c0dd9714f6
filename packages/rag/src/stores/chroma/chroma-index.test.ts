import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { englishAnalysis, termsOf } from '../../words/analysis.js';
import { beginningOf } from './chroma-index.js';

const endings =
  ' s y ies e es ed ing able ably ability ible ibly ibility al ally ality ate ated ation ational ator ative ence ency ent ently er ful fulness fully ical icate icity ism ity ive ively iveness ivity ize izer ization ment ness ous ously ousness ology ologist'.split(
    ' ',
  );

it('the beginning of a term is one of every word that becomes the term', () => {
  const word = fc
    .tuple(fc.stringMatching(/^[a-z]{2,7}$/), fc.constantFrom(...endings), fc.constantFrom(...endings))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(word, (text) => {
      for (const term of termsOf(text, englishAnalysis()))
        expect(text.startsWith(beginningOf(term)), `${text}, ${term}`).toBe(true);
    }),
    { numRuns: 5000 },
  );
  for (const text of ['library', 'libraries', 'sensibility', 'possibly', 'filing', 'activity'])
    expect(text.startsWith(beginningOf(String(termsOf(text, englishAnalysis())[0])))).toBe(true);
});
