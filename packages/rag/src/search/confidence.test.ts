import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { confidenceOf, ratePassages } from './confidence.js';
import { Question } from './question.js';

function rate(text: string, document: string, metadata: Record<string, unknown> = {}): number {
  const question = new Question(text);
  return confidenceOf(question, question.findIn({ id: 'passage', document, metadata }));
}
const filler = ' A bridge was built.'.repeat(30);

describe('the confidence of a passage', () => {
  it('grows with the share of the words that the passage contains', () => {
    const passages = ['green apples', 'sort green apples', 'sort green apples by size'];
    const [one, two, three] = passages.map((passage) => rate('sort green apples of a size by weight', passage));
    expect(two).toBeGreaterThan(one as number);
    expect(three).toBeGreaterThan(two as number);
  });

  it('is below .05 for a passage with none of the words, and above .9 for one with all of three near each other', () => {
    expect(rate('banana pancake recipe', 'terminal settings of the plot')).toBeLessThan(0.05);
    expect(rate('banana pancake recipe', 'the recipe of a banana pancake')).toBeGreaterThan(0.9);
  });

  it('is higher for words near each other than for words far apart', () => {
    expect(rate('stale lock file', `the stale lock file.${filler}`)).toBeGreaterThan(
      rate('stale lock file', `It is stale.${filler} A lock.${filler} A file.`),
    );
  });

  it('counts words above the text as near each of its lines', () => {
    const metadata = { source: 'library/collections.html', headings: ['deque objects'] };
    expect(rate('append to a deque', 'Append takes little time.', metadata)).toBeGreaterThan(0.9);
    expect(rate('append to a deque', 'Append takes little time.')).toBeLessThan(0.6);
  });

  it('counts the number of words as well as their share', () => {
    expect(rate('apple bridge candle dragon engine forest', 'apple bridge candle')).toBeGreaterThan(
      rate('apple bridge', 'apple'),
    );
  });

  it('counts a missing name, number or identifier more than a missing word', () => {
    const question = 'budget of the Tosca opera';
    expect(rate(question, 'budget of the tosca')).toBeGreaterThan(rate(question, 'budget of the opera'));
    expect(rate('invoice 2203', 'number 2203')).toBeGreaterThan(rate('invoice 2203', 'the invoice'));
  });

  it('counts words of questions little', () => {
    expect(rate('show me Mongolia please', 'Mongolia | 3.4 million')).toBeGreaterThan(0.9);
    expect(rate('bitte zeige mir den Vertrag', 'Der Vertrag endet im Mai.')).toBeGreaterThan(0.9);
  });

  it('compares letters without accents', () => {
    expect(rate('resume of Zoe Muller', 'Résumé of Zoë Müller')).toBeGreaterThan(0.9);
    expect(rate('кафе перевозки', 'Кафе\u0301 перево\u0301зки')).toBeGreaterThan(0.9);
  });

  it.each([
    ['快照什么时候删除？', '快照在三十天后删除。', '每个项目都有一位管理员。'],
    [
      'スナップショットはいつ削除されますか',
      'スナップショットは30日後に削除されます。',
      'プロジェクトには管理者がいます。',
    ],
    ['스냅샷은 언제 삭제되나요?', '스냅샷은 30일 후에 삭제됩니다.', '프로젝트에는 관리자가 있습니다.'],
    ['ภาพสแนปช็อตถูกลบเมื่อใด', 'ภาพสแนปช็อตถูกลบหลังสามสิบวัน', 'ทุกโครงการมีผู้ดูแลระบบ'],
  ])('separates passages in scripts without spaces: %s', (question, answer, other) => {
    expect(rate(question, answer)).toBeGreaterThan(0.5);
    expect(rate(question, other)).toBeLessThan(0.1);
  });

  it('grows with the lead of a vector, and stays low with none of the words of the query', () => {
    const rateVector = (document: string, standsOut?: number): number => {
      const question = new Question('restrict the values of an option');
      return confidenceOf(question, question.findIn({ id: 'passage', document, metadata: {} }), standsOut);
    };
    const text = 'The choices of an option.';
    const [none, usual, far, farther] = [undefined, 3, 8, 12].map((standsOut) => rateVector(text, standsOut));
    expect(usual).toBe(none);
    expect(none).toBeLessThan(0.1);
    expect(far).toBeGreaterThan(none as number);
    expect(farther).toBeGreaterThan(0.5);
    expect(rateVector('banana pancake', Number.MAX_VALUE)).toBeLessThan(0.1);
  });

  it('is a number between 0 and 1, which a longer passage never lowers', () => {
    const words = fc.array(fc.constantFrom('apple', 'bridge', 'candle', 'Dragon', 'engines'), { maxLength: 60 });
    fc.assert(
      fc.property(words, words, words, (question, passage, more) => {
        const [short, long] = [passage, [...passage, ...more]].map((texts) =>
          rate(question.join(' '), texts.join(' ')),
        );
        expect(short).toBeGreaterThan(0);
        expect(long).toBeLessThan(1);
        expect(long).toBeGreaterThanOrEqual(short as number);
      }),
    );
  });
});

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
