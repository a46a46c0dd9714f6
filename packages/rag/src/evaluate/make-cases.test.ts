import { describe, expect, it } from 'vitest';
import { createLexicalEmbedder, type CustomEmbedder } from '../embedding/index.js';
import { MDocument } from '../document/document.js';
import { ingest } from '../ingest/ingest.js';
import { LocalVector } from '../stores/local/index.js';
import { evaluateRetrieval } from './evaluate-retrieval.js';
import type { Evaluation } from './evaluation.js';
import { makeCases, type CasePassage } from './make-cases.js';

const animals = ['heron', 'otter', 'beaver', 'badger', 'lynx', 'marten', 'kite', 'crane', 'adder', 'newt'];
const places = [
  'rivers',
  'forests',
  'meadows',
  'mountains',
  'swamps',
  'gardens',
  'islands',
  'valleys',
  'lakes',
  'moors',
];
const passages: CasePassage[] = animals.flatMap((animal) =>
  places.map((place) => ({
    text: `About the ${animal} near ${place}. Every ${animal} that lives in or near ${place} sleeps ${place.length + animal.length} hours and hunts before dawn. It is shy.`,
  })),
);

describe('makeCases', () => {
  it('asks by half of the words of a sentence, in their order', async () => {
    const cases = await makeCases({ passages, count: 20 });
    expect(cases).toHaveLength(20);
    for (const { question, relevant } of cases) {
      const quote = relevant[0]?.quote ?? '';
      expect(passages.some(({ text }) => text.includes(quote))).toBe(true);
      const words = question.split(' ');
      expect(words).toHaveLength(Math.floor((quote.match(/\w+/g) ?? []).length / 2));
      expect(quote).toMatch(new RegExp(words.join('\\b.*\\b')));
    }
  });

  it('makes equal cases for equal seeds, in any order of the passages', async () => {
    const cases = await makeCases({ passages, count: 10 });
    expect(await makeCases({ passages: passages.toReversed(), count: 10, seed: 1 })).toEqual(cases);
    expect(await makeCases({ passages, count: 10, seed: 2 })).not.toEqual(cases);
  });

  it('finds the words of languages without spaces', async () => {
    const text =
      '北京是中华人民共和国的首都，也是全国的政治中心、文化中心和国际交往中心，每年都有许多游客来这里参观古老的宫殿。'.repeat(
        2,
      );
    const [first] = await makeCases({ passages: [{ text }] });
    expect(first?.question.split(' ').length).toBeGreaterThan(5);
  });

  it.each([
    [{ passages: [] }, /No question can be made/],
    [{ passages: [{ text: 'Heading' }] }, /No question can be made/],
    [{ passages: 'text' }, /passages/],
    [{ passages, count: 0 }, /count/],
    [{ passages, questions: 3 }, /questions/],
  ])('rejects %o', async (options, message) => {
    await expect(makeCases(options as never)).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringMatching(message),
    });
  });
});

/** Vectors that have nothing to do with the texts. */
const noise: CustomEmbedder = {
  id: 'noise',
  embed: async (texts) =>
    texts.map((text) => Array.from({ length: 32 }, (_, place) => Math.sin((place + 1) * hash(text)))),
};
const hash = (text: string): number =>
  [...text].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 9973, 7);

async function evaluate(model: CustomEmbedder): Promise<Evaluation> {
  await using vectorStore = new LocalVector();
  const documents = passages.map(({ text }, place) => MDocument.fromText(text, { source: `${place}.txt` }));
  await ingest({ documents, vectorStore, indexName: 'animals', model });
  return evaluateRetrieval({ vectorStore, indexName: 'animals', model });
}

describe('evaluateRetrieval without cases', () => {
  it('tells an embedder that fits the documents from one that does not', async () => {
    const fitting = await evaluate(createLexicalEmbedder());
    expect(fitting.configurations.map(({ name }) => name)).toEqual(['keyword', 'vector', 'hybrid']);
    expect(fitting).toMatchObject({ cases: 100, finding: expect.stringContaining('the embedder fits') });
    const { finding } = await evaluate(noise);
    expect(finding).toMatch(
      /^Keyword search finds ([789]\d|100) of 100 questions made from the index, the vectors [12]?\d: wrong language or model/,
    );
  });

  it('makes the questions from the records of the filter, and has no finding without vectors', async () => {
    await using vectorStore = new LocalVector();
    const documents = passages.map(({ text }, place) =>
      MDocument.fromText(text, { source: `${place}.txt`, half: place % 2 }),
    );
    await ingest({ documents, vectorStore, indexName: 'animals', model: noise });
    const configurations = [{ name: 'words', mode: 'keyword', filter: { half: 1 } } as const];
    const evaluation = await evaluateRetrieval({ vectorStore, indexName: 'animals', configurations });
    expect(evaluation.cases).toBe(50);
    expect(evaluation).not.toHaveProperty('finding');
  });
});
