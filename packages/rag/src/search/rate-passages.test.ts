import { expect, it } from 'vitest';
import { Question } from './question.js';
import { ratePassages } from './rate-passages.js';

type Metadata = Record<string, unknown>;
const passage = (document: string, metadata: Metadata = {}): { id: string; document: string; metadata: Metadata } => ({
  id: document,
  document,
  metadata,
});

it('rates each passage with its title, file name and headings, and keeps the order', () => {
  const section = passage('Append and pop on either side take the same time.', {
    source: 'library/collections.html',
    headings: ['collections', 'deque objects'],
  });
  const { passages } = ratePassages([passage('A list is a sequence.'), section], {
    question: new Question('deque objects: append'),
  });
  expect(passages.map(({ document }) => document)).toEqual(['A list is a sequence.', section.document]);
  const [other, found] = passages.map(({ confidence }) => confidence);
  expect(other).toBeLessThan(0.1);
  expect(found).toBeGreaterThan(0.9);
});

it('compares with the words of the language of the passage', () => {
  const { passages } = ratePassages([passage('Die Häuser wurden verwaltet.', { language: 'de' })], {
    question: new Question('Verwaltung der Häuser'),
  });
  expect(passages[0]?.confidence).toBeGreaterThan(0.5);
});

it.each(['to be or not to be', 'The Who'])('rates a question of words without a subject: %s', (question) => {
  const given = [passage('The Who play: to be, or not to be?'), passage('A snapshot is a copy of all files.')];
  const { passages } = ratePassages(given, { question: new Question(question), minConfidence: 0.3 });
  expect(passages).toEqual([{ ...given[0], confidence: expect.closeTo(1, 1) }]);
});

it('removes passages below the least confidence, and names the topics of the nearest ones when none remains', () => {
  const question = new Question('opening hours of the library on Sunday');
  const metadata = { title: 'Collections', headings: ['Library', 'Opening a file'] };
  const given = [
    passage('The plot has two axes.', { source: 'docs/gnuplot.pdf' }),
    passage('The library opens files.', metadata),
    passage('A library of hours.', metadata),
    passage('Nothing names this text.'),
  ];
  const result = ratePassages(given, { question, minConfidence: 0.98 });
  expect(result).toEqual({
    passages: [],
    nothingFound: true,
    nearestTopics: ['Collections › Opening a file'],
  });
  const some = ratePassages(given, { question, minConfidence: 0.05 });
  expect(some.passages.map((one) => one.metadata['title'])).toEqual(['Collections', 'Collections']);
  expect(some).not.toHaveProperty('nothingFound');
});

it('reports that nothing was found for a search without a result', () => {
  expect(ratePassages([], { question: new Question('anything') })).toEqual({
    passages: [],
    nothingFound: true,
  });
});

it('reads each passage once for a question, also after it was ranked', () => {
  let reads = 0;
  const given = {
    id: 'a',
    metadata: {},
    get document(): string {
      reads += 1;
      return 'A snapshot is a copy.';
    },
  };
  const question = new Question('What is a snapshot?');
  const [first, second] = [question.findIn(given), question.findIn(given)];
  const readsOfOne = reads;
  expect(second).toBe(first);
  new Question('What is a snapshot?').findIn(given);
  expect(reads).toBe(2 * readsOfOne);
});
