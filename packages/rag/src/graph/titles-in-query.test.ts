import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexTitles, titlesInQuery } from './titles-in-query.js';

const titles = {
  wood: 'Ed Wood (film)',
  man: 'Ed Wood',
  plan: 'Plan 9 from Outer Space',
  gate: 'Gate',
  film: 'Which film',
  exies: 'The Exies',
  store: 'LocalVector',
  year: '1984',
  russian: 'Анна Каренина',
};
const index = indexTitles(Object.entries(titles));
const named = (query: string): string[] => titlesInQuery(query, index).map(({ id }) => id);

describe('titlesInQuery', () => {
  it('finds titles in any case and with other punctuation, without their parentheses', () => {
    expect(titlesInQuery('Who directed “Plan 9, From Outer Space”?', index)).toEqual([
      { id: 'plan', name: 'Plan 9, From Outer Space' },
    ]);
    expect(named('When was Ed Wood born?')).toEqual(['wood', 'man']);
    expect(named('Когда вышла Анна Каренина?')).toEqual(['russian']);
    expect(named('Is it by the Exies or The Exies?')).toEqual(['exies']);
  });

  it('finds no title without a capital letter of its own', () => {
    expect(named('what does the gate of ed wood do')).toEqual([]);
    expect(named('Gate keepers: who are they? Gate keepers work at doors.')).toEqual([]);
    expect(named('Which film is it?')).toEqual([]);
    expect(named('What happened in 1984?')).toEqual([]);
    expect(named('WHO DIRECTED ED WOOD?')).toEqual([]);
    expect(named('What does the Gate do?')).toEqual(['gate']);
    expect(named('LocalVector stores what?')).toEqual(['store']);
  });

  it('finds whole words only', () => {
    expect(named('Who built Gateshead?')).toEqual([]);
  });

  it('prefers the longest of overlapping names, and returns six titles at most, the longest first', () => {
    const many = indexTitles([
      ['york', 'York'],
      ['new', 'New York'],
      ['times', 'New York Times'],
      ...Array.from('ABCDEFG', (letter, n): [string, string] => [letter, `${letter}nna${'x'.repeat(n)}`]),
    ]);
    expect(titlesInQuery('who owns the New York Times', many).map(({ id }) => id)).toEqual(['times']);
    const query = `who met ${Array.from('ABCDEFG', (letter, n) => `${letter}nna${'x'.repeat(n)}`).join(' and ')}`;
    expect(titlesInQuery(query, many).map(({ id }) => id)).toEqual(['G', 'F', 'E', 'D', 'C', 'B']);
  });

  it('counts only passages that are allowed', () => {
    const many = indexTitles([
      ...Array.from({ length: 9 }, (_, n): [string, string] => [`other${n}`, 'Ed Wood (film)']),
      ['mine', 'Ed Wood'],
    ]);
    expect(titlesInQuery('Who directed Ed Wood?', many, (id) => id === 'mine').map(({ id }) => id)).toEqual(['mine']);
  });

  it('finds every title that has a name inside a question', () => {
    const word = fc.stringMatching(/^[A-Z][a-z]{3,8}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        const title = words.join(' ');
        const found = titlesInQuery(`what became of ${title} later`, indexTitles([['it', title]]));
        expect(found.length === 1 || /^(?:The|And|Its?|[A-Z][a-z]{0,4})\b/.test(title)).toBe(true);
        for (const { name } of found) expect(title.endsWith(name)).toBe(true);
      }),
    );
  });

  it('reads long queries and titles in linear time', () => {
    const long = indexTitles([
      ['a', 'Aa '.repeat(100_000)],
      ['b', 'Aa '.repeat(16)],
    ]);
    expect(titlesInQuery(`who ${'Aa '.repeat(100_000)}`, long)).toEqual([{ id: 'b', name: 'Aa '.repeat(16).trim() }]);
  });
});
