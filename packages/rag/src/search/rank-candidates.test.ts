import { describe, expect, it } from 'vitest';
import { cpuTimeRatio } from '../../../../scripts/test-cpu-time.ts';
import type { VectorMatch } from '../store/index.js';
import { Question } from './question.js';
import { rankedDepth } from '../store/depths.js';
import { rankCandidates } from './rank-candidates.js';

function match(id: string, score: number, document: string, metadata: VectorMatch['metadata'] = {}): VectorMatch {
  return { id, score, document, metadata };
}

const rank = (question: string, matches: readonly VectorMatch[]): string[] =>
  rankCandidates(new Question(question), matches).map(({ id }) => id);

describe('rankCandidates', () => {
  it('prefers the text whose headings are about the question', () => {
    const matches = [
      match('aside', 0.5, 'The timer of the stove rings after the time to bake bread.'),
      match('section', 0.45, 'Set it to one hour, then wait.', {
        headings: ['Baking bread'],
        source: 'kitchen/stove.md',
      }),
    ];
    expect(rank('How long do I bake bread?', matches)).toEqual(['section', 'aside']);
  });

  it('prefers the text whose folder or file names the subject', () => {
    const matches = [
      match('other', 0.5, 'Sort a list with sort().', { source: 'perl-doc/lists.html' }),
      match('named', 0.48, 'Sort a list with sorted().', { source: 'python-doc/howto/lists.html' }),
    ];
    expect(rank('sort a list in Python', matches)).toEqual(['named', 'other']);
  });

  it('prefers a long text with one line that answers to a text with scattered words', () => {
    const filler = Array.from({ length: 30 }, (_, line) => `Line ${line} is about gardens and trees.`);
    const matches = [
      match(
        'scattered',
        0.5,
        'The lock is new.\nA password is long.\nForgotten things are in the box.\nReset the clock.',
      ),
      match('line', 0.45, [...filler, 'Reset a forgotten password with the key of the lock.', ...filler].join('\n')),
    ];
    expect(rank('reset forgotten password', matches)).toEqual(['line', 'scattered']);
  });

  it('gives no text more than 1, however the shares of its trigrams round', () => {
    const words = 'many customers share one index without seeing documents of each other'.split(' ');
    for (const start of words.keys()) {
      const question = words.slice(start).join(' ');
      const headings = [question.split(' ').toReversed().join(' ')];
      const others = words.map((word, at) => match(word, 0.5, words.slice(at).join(' ')));
      const [best] = rankCandidates(new Question(question), [match('same', 1, '', { headings }), ...others]);
      expect(best?.score).toBeLessThanOrEqual(1);
      expect(best?.score).toBeGreaterThan(0.7);
    }
  });

  it('finds words of the same family', () => {
    const matches = [
      match('other', 0.5, 'Delete a cell.', { headings: ['Cells'] }),
      match('family', 0.49, 'Add a tag.', { headings: ['Hidden cells'] }),
    ];
    expect(rank('hide a cell', matches)).toEqual(['family', 'other']);
    const russian = [match('другое', 0.5, 'Цены на хлеб.'), match('семья', 0.49, 'Правила перевозки собак.')];
    expect(rank('перевозить собаку', russian)).toEqual(['семья', 'другое']);
  });

  it('keeps the order of the search where texts contain equally much', () => {
    const matches = [0.5, 0.4, 0.3].map((score, place) => match(`text ${place}`, score, 'the same text'));
    expect(rank('same text', matches)).toEqual(['text 0', 'text 1', 'text 2']);
    expect(rank('the of and', matches)).toEqual(['text 0', 'text 1', 'text 2']);
    expect(rank('', matches)).toEqual(['text 0', 'text 1', 'text 2']);
    expect(rank('same', [])).toEqual([]);
  });

  it('returns scores from 0 to 1, best first, and keeps the order behind the candidates', () => {
    const texts = Array.from({ length: rankedDepth + 5 }, (_, place) =>
      match(`${place}`, 1 / (place + 1), place % 3 === 0 ? 'all the words' : 'nothing', { title: 'all the words' }),
    );
    const ranked = rankCandidates(new Question('all the words'), texts);
    const scores = ranked.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
    expect(ranked.slice(rankedDepth).map(({ id }) => id)).toEqual(texts.slice(rankedDepth).map(({ id }) => id));
    expect(texts[0]?.score).toBe(1);
  });

  it('reads the beginning of a long text', async () => {
    const ranking = (count: number) => {
      const matches = Array.from({ length: 50 }, (_, place) => match(`${place}`, 1, 'word '.repeat(count)));
      return () => rank('word '.repeat(10_000), matches);
    };
    // All of the texts would take ten times as long.
    expect(await cpuTimeRatio(ranking(200_000), ranking(20_000))).toBeLessThan(4);
  });
});
