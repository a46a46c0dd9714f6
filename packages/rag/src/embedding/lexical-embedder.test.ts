import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTestVariable } from '../../../../scripts/test-variable.ts';
import { judgeIds, ndcgAt } from '../evaluate/metrics.js';
import { readTestCollections } from '../search/test-collection.fixture.js';
import { createLexicalEmbedder } from './lexical-embedder.js';

const embedder = createLexicalEmbedder();

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, place) => sum + value * (b[place] as number), 0);
}

async function likeness(a: string, b: string): Promise<number> {
  const [first, second] = await embedder.embed([a, b]);
  return dot(first as Float32Array, second as Float32Array);
}

describe('the lexical embedder', () => {
  test('gives vectors of length 1, the same for the same text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (text) => {
        const [vector, again] = await embedder.embed([text, text]);
        expect(vector).toEqual(again);
        expect(vector).toHaveLength(1024);
        expect(dot(vector as Float32Array, again as Float32Array)).toBeCloseTo(1, 5);
      }),
    );
  });

  test('gives a document without words a vector that only the same text is near to, and such a query none', async () => {
    const texts = ['', '***', '— —'];
    for (const a of texts)
      for (const b of [...texts, 'installing packages']) expect(await likeness(a, b)).toBeCloseTo(a === b ? 1 : 0, 5);
    const queries = await embedder.embed(texts, { purpose: 'query' });
    expect(queries).toEqual(texts.map(() => new Float32Array(1024)));
    for (const text of [...texts, 'ab cd ef gh']) {
      const [vector] = await createLexicalEmbedder({ dimension: 1 }).embed([text]);
      expect(Math.abs(vector?.[0] as number)).toBe(1);
    }
  });

  test('compares words without a subject only where there are no others', async () => {
    expect(await likeness('to be or not to be', 'To be, or not to be')).toBeCloseTo(1, 5);
    expect(await likeness('to be or not to be', 'It is not to be installed')).toBeLessThan(0.1);
  });

  test('finds texts in the same words nearer than others', async () => {
    const query = 'installing packages offline';
    expect(await likeness(query, 'How to install a package without a network, offline')).toBeGreaterThan(0.35);
    expect(await likeness(query, 'The history of the Roman empire')).toBeLessThan(0.1);
  });

  test.each([
    ['日本語の文書を検索する', '文書の検索', '天気予報'],
    ['한국어 문서를 검색합니다', '문서 검색', '날씨'],
    ['поиск по документам', 'документы и поиск', 'погода завтра'],
    ['ค้นหาเอกสารภาษาไทย', 'เอกสารไทย', 'อากาศวันนี้'],
    ['दस्तावेज़ खोजें', 'दस्तावेज़', 'मौसम'],
    ['البحث في المستندات', 'المستندات', 'الطقس'],
    ['Größe ändern', 'grosse GRÖẞE', 'Wetter'],
  ])('works in the script of %s', async (text, near, far) => {
    expect(await likeness(text, near)).toBeGreaterThan((await likeness(text, far)) + 0.1);
  });

  test('has an id that changes with the vectors', () => {
    expect(createLexicalEmbedder({ dimension: 512 }).id).not.toBe(embedder.id);
  });

  test('refuses dimensions that make no sense, and stops when told', async () => {
    for (const dimension of [0, -1, 1.5, Number.NaN, 1e9]) {
      expect(() => createLexicalEmbedder({ dimension })).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    }
    await expect(embedder.embed(['a'], { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  });
});

// The collections are not part of the repository: QUIVER_DATA names the folder that holds them.
const { collections } = readTestCollections(readTestVariable('QUIVER_DATA'));
const leastGains: Readonly<Record<string, number>> = { cranfield: 0.315, hotpotqa: 0.735 };
const guarded = collections.filter(({ name }) => name in leastGains);

test.each(guarded)('the lexical embedder finds enough in $name', async ({ name, ...collection }) => {
  const { documents, cases } = collection;
  const vectors = await embedder.embed(documents.map(({ text }) => text));
  let total = 0;
  for (const { question, relevant } of cases) {
    const [query] = await embedder.embed([question], { purpose: 'query' });
    const scored = documents.map(({ id }, place) => ({ id, score: dot(query!, vectors[place]!) }));
    const ids = scored.toSorted((a, b) => b.score - a.score).map(({ id }) => id);
    total += ndcgAt(judgeIds(ids, new Map(relevant.map(({ id = '', gain = 1 }) => [id, gain]))), 10);
  }
  process.stderr.write(`${name}: nDCG@10 ${(total / cases.length).toFixed(4)}\n`);
  expect(total / cases.length).toBeGreaterThan(leastGains[name]!);
});
