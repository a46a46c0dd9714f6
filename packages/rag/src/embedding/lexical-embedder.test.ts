import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTestVariable } from '../../../../scripts/test-variable.ts';
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
const data = readTestVariable('QUIVER_DATA') ?? '';
const hasData = existsSync(join(data, 'cranfield', 'docs.jsonl'));

describe.runIf(hasData)('on a test collection, the lexical embedder', () => {
  test.each([
    { collection: 'cranfield', atLeast: 0.315 },
    { collection: 'hotpotqa', atLeast: 0.735 },
  ])('reaches an nDCG@10 of $atLeast ($collection)', { timeout: 120_000 }, async ({ collection, atLeast }) => {
    const documents = readLines<{ id: string; title: string; text: string }>(collection, 'docs');
    const queries = readLines<{ id: string; text: string }>(collection, 'queries');
    const vectors = await embedder.embed(documents.map(({ title, text }) => `${title} ${text}`));
    const gains = new Map<string, Map<string, number>>();
    for (const { query, doc, gain } of readLines<{ query: string; doc: string; gain: number }>(collection, 'qrels')) {
      gains.set(query, (gains.get(query) ?? new Map<string, number>()).set(doc, gain));
    }
    let total = 0;
    for (const { id, text } of queries) {
      const [queryVector] = await embedder.embed([text], { purpose: 'query' });
      const ranked = documents
        .map((document, index) => ({
          id: document.id,
          score: dot(queryVector as Float32Array, vectors[index] as Float32Array),
        }))
        .sort((a, b) => b.score - a.score);
      const relevant = gains.get(id) ?? new Map<string, number>();
      total +=
        discounted(ranked.map((hit) => relevant.get(hit.id) ?? 0)) /
        discounted([...relevant.values()].sort((a, b) => b - a));
    }
    const quality = total / queries.length;
    process.stderr.write(`${collection}: nDCG@10 ${quality.toFixed(4)}\n`);
    expect(quality).toBeGreaterThan(atLeast);
  });
});

function discounted(gains: readonly number[]): number {
  return gains.slice(0, 10).reduce((sum, gain, rank) => sum + gain / Math.log2(rank + 2), 0);
}

function readLines<Row>(collection: string, file: string): Row[] {
  const lines = readFileSync(join(data, collection, `${file}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as Row);
}
