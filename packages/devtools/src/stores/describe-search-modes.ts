import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import type { FusionWeights } from '@quiver/rag/store';
import type { QueryMode, VectorMatch, VectorStore } from '@quiver/rag';
import { referenceBm25, referenceDiversity } from './reference-rankings.js';

const indexName = 'texts';
const passages = ['apple', 'pear', 'pear again', 'whale', 'song'];
const documents = [
  'Apples grow on trees, and an apple a day keeps the doctor away.',
  'Pears grow on trees as well.',
  'A pear tree gives pears.',
  'Whales sing below the surface of the sea.',
  'Who sings a song in the sea of songs?',
];
const vectors = [
  [1, 0, 0],
  [0.9, 0.4, 0],
  [0.9, 0.41, 0],
  [0, 0, 1],
  [0, 1, 0.2],
];
const question = { queryVector: [0.8, 0.6, 0], queryText: 'pear trees and songs' };

export async function expectError(call: Promise<unknown>, code: string, message = ''): Promise<void> {
  await expect(call).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
}

/** Parameters of {@link describeVectorStore} for its parts. */
export interface StoreSuite {
  readonly name: string;
  readonly open: () => Promise<VectorStore>;
  readonly close: (store: VectorStore) => Promise<void>;
}

/** Suite for the modes of a query: those that a store declares in its capabilities work, the others are refused. */
export function describeSearchModes({ name, open, close }: StoreSuite): void {
  describe(`${name} as a search engine`, () => {
    let store: VectorStore;
    beforeEach(async () => {
      store = await open();
      await store.createIndex({ indexName, dimension: 3 });
      const metadata = passages.map((_passage, place) => ({ place }));
      await add(passages, { vectors, documents, metadata });
    }, 60_000);
    afterEach(() => close(store));

    const requireModes = (context: TestContext, ...modes: QueryMode[]): void => {
      const missing = modes.filter((mode) => !store.capabilities.modes.includes(mode));
      if (missing.length > 0) context.skip(`${name} has no mode ${missing.join(', ')}`);
    };
    /** Stores records, whose vectors are equal by default. */
    const add = (ids: string[], columns: object): Promise<unknown> =>
      store.upsert({ indexName, ids, vectors: ids.map(() => [1, 1, 1]), ...columns });
    const find = async (queryText: string, more: object = {}): Promise<string[]> =>
      (await store.query({ indexName, mode: 'keyword', queryText, ...more })).map(({ id }) => id);

    it('fuses chunks, each by the best of its vectors, and finds no further vector without a text by keywords', async (context) => {
      requireModes(context, 'keyword', 'hybrid');
      // More than a fusion reads of each ranking.
      const ids = Array.from({ length: 60 }, (_, place) => `window ${place}`);
      const metadata = ids.map(() => ({ vectorOf: 'whale', source: 'pear.md', title: 'Pear trees' }));
      await add(ids, { vectors: ids.map((_, place) => [0.8, 0.6, place / 1000]), metadata });
      expect((await find('pear trees', { topK: 100 })).toSorted()).toEqual(['apple', 'pear', 'pear again']);
      const fused = await store.query({ indexName, mode: 'hybrid', ...question, topK: 10 });
      const chunks = fused.map(({ id, metadata }) => metadata['vectorOf'] ?? id);
      expect(chunks.toSorted()).toEqual(passages.toSorted());
      expect(fused.find(({ metadata }) => metadata['vectorOf'])?.foundBy).toEqual(['vector']);
      const text = 'Whales sing';
      const [whale] = await store.query({ indexName, mode: 'hybrid', ...question, queryText: text, topK: 10 });
      expect(whale).toMatchObject({ foundBy: ['vector', 'keyword'], score: expect.closeTo(1) });
    });

    it('answers in the modes it declares, and refuses the others by name', async () => {
      for (const mode of ['vector', 'keyword', 'hybrid'] as const) {
        const query = store.query({ indexName, mode, ...question });
        if (store.capabilities.modes.includes(mode)) expect((await query).length).toBeGreaterThan(0);
        else await expectError(query, 'VECTOR_QUERY_UNSUPPORTED', `'${mode}'`);
      }
      // @ts-expect-error a mode that does not exist
      await expectError(store.query({ indexName, mode: 'fuzzy', ...question }), 'OPTIONS_INVALID');
    });

    it('refuses a mode without what it needs', async (context) => {
      requireModes(context, 'keyword', 'hybrid');
      const { queryText, queryVector } = question;
      for (const params of [
        { mode: 'keyword' },
        { mode: 'keyword', queryText: ' \n' },
        { mode: 'hybrid', queryText },
        { mode: 'hybrid', queryVector },
        { mode: 'hybrid', queryVector, queryText, fusion: { vector: 0, keyword: 0 } },
        { mode: 'hybrid', queryVector, queryText, fusion: { vector: -1 } },
        { mode: 'hybrid', queryVector, queryText, fusion: { keyword: Number.NaN } },
      ] as const)
        await expectError(store.query({ indexName, ...params }), 'OPTIONS_INVALID');
      const short = store.query({ indexName, mode: 'hybrid', queryText, queryVector: [1] });
      await expectError(short, 'VECTOR_DIMENSION_MISMATCH');
      await expectError(store.query({ indexName: 'nowhere', mode: 'keyword', queryText }), 'VECTOR_INDEX_NOT_FOUND');
    });

    describe('in keyword mode', () => {
      beforeEach((context) => requireModes(context, 'keyword'));

      it('finds the texts that share a word with the question, and no others, with filter and topK', async () => {
        expect((await find('pear trees')).toSorted()).toEqual(['apple', 'pear', 'pear again']);
        expect(await find('What do whales do?')).toEqual(['whale']);
        const found = await find('pear trees', { filter: { place: { $gte: 1 } } });
        expect(found.toSorted()).toEqual(['pear', 'pear again']);
        expect(await find('pear trees', { topK: 1 })).toHaveLength(1);
        await expectError(find('pear', { filter: { place: { $almost: 1 } } }), 'FILTER_INVALID');
      });

      it('scores in [0, 1], best first, with metadata, text and, when asked, vectors', async () => {
        const query = { indexName, mode: 'keyword', queryText: 'whales sing' } as const;
        const matches = await store.query({ ...query, includeVector: true });
        expect(matches[0]).toMatchObject({ id: 'whale', document: documents[3], metadata: { place: 3 } });
        expect(matches[0]?.vector).toHaveLength(3);
        const scores = matches.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        for (const score of scores) expect(score >= 0 && score <= 1).toBe(true);
        expect((await store.query(query))[0]).not.toHaveProperty('vector');
      });

      it('orders equal scores by id', async () => {
        const ids = ['b', 'a', 'd', 'c', 'A', '10', '9'];
        await add(ids, { documents: ids.map(() => 'violins') });
        expect(await find('violins', { topK: 4 })).toEqual(['10', '9', 'A', 'a']);
      });

      it('follows every change', async () => {
        await find('whales');
        await add(['whale'], { documents: ['Dolphins jump.'] });
        await store.updateVector({ indexName, id: 'song', update: { document: 'A dolphin whistles.' } });
        expect(await find('whales sing')).toEqual([]);
        expect((await find('dolphins')).length).toBe(2);
        await store.deleteVector({ indexName, id: 'song' });
        expect(await find('dolphins')).toEqual(['whale']);
        await store.truncateIndex({ indexName });
        expect(await find('dolphins pear')).toEqual([]);
      });

      it('finds a text by its title, its file name, the headings above it and its context, which are not part of it', async () => {
        const metadata = [
          { title: 'Bassoons' },
          { source: 'music/oboes.md' },
          { source: 'music/strings.md', headings: ['Strings', 'Cellos'] },
          { excerptContext: 'About trombones.' },
          { excerptContext: { topic: 'trombones' } },
        ];
        const ids = ['titled', 'named', 'below', 'situated', 'other'];
        await add(ids, { metadata, documents: ids.map(() => 'It has a low voice.') });
        for (const [place, words] of ['bassoons', 'oboes', 'cellos', 'trombones'].entries())
          expect(await find(words)).toEqual([ids[place]]);
        const [match] = await store.query({ indexName, mode: 'keyword', queryText: 'trombones' });
        expect(match).toMatchObject({ document: 'It has a low voice.' });
        // Without a document, the usual key of metadata is the text.
        await add(['plain', 'silent'], { metadata: [{ text: 'A violin in metadata.' }, { title: 'violin' }] });
        expect(await find('violin')).toEqual(['plain']);
      });

      it('takes any text as words, never as a query language', async () => {
        const hostile = [`'"`, 'a & b | !c', 'pear:*', '<->', '(((', '\\', '%_', "'; DROP TABLE x; --", '\0', '\ud800'];
        for (const text of hostile) expect(Array.isArray(await find(text)), text).toBe(true);
        expect(await find(`whales & (!sing | "sea`)).toContain('whale');
      });

      it('finds the words of other scripts', async (context) => {
        if (store.capabilities.keywordRanking !== 'bm25') context.skip('the database decides what a word is');
        const texts = ['日本語の文書を検索する', 'поиск по документам', 'Αναζήτηση εγγράφων'];
        await add(['ja', 'ru', 'el'], { documents: texts });
        expect(await find('文書の検索')).toEqual(['ja']);
        expect(await find('ПОИСК')).toEqual(['ru']);
        expect(await find('εγγράφων')).toEqual(['el']);
      });

      it('orders exactly as BM25 where it declares so, after any changes', async (context) => {
        if (store.capabilities.keywordRanking !== 'bm25') context.skip('the database has its own order');
        const word = fc.constantFrom('red', 'green', 'blue', 'grey', 'lila', '緑', 'synthesis', 'x1');
        const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '));
        const change = fc.record({ id: fc.integer({ min: 0, max: 12 }).map(String), text: fc.option(text) });
        await fc.assert(
          fc.asyncProperty(fc.array(change, { maxLength: 40 }), text, async (changes, wanted) => {
            fc.pre(wanted !== '');
            await store.truncateIndex({ indexName });
            const texts = new Map<string, string>();
            for (const [place, { id, text: document }] of changes.entries()) {
              texts.delete(id);
              if (document === null) await store.deleteVector({ indexName, id });
              else await add([id], { documents: [document] }).then(() => texts.set(id, document));
              // Once in a while a search between the changes.
              if (place % 7 === 0) await find(wanted);
            }
            const found = await store.query({ indexName, mode: 'keyword', queryText: wanted, topK: 20 });
            const expected = referenceBm25(texts, wanted);
            expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
            found.forEach(({ score }, place) => expect(score).toBeCloseTo(expected[place]?.score ?? 0, 9));
          }),
          { numRuns: 60 },
        );
      }, 60_000);
    });

    describe('in hybrid mode', () => {
      beforeEach((context) => requireModes(context, 'hybrid', 'keyword'));

      it('gives the order of one search where the other one does not count, with scores from 1 down', async () => {
        const ranking = async (mode: QueryMode, fusion?: FusionWeights): Promise<VectorMatch[]> =>
          store.query({ indexName, mode, ...question, ...(fusion && { fusion }) });
        const idsOf = (matches: readonly VectorMatch[]): string[] => matches.map(({ id }) => id);
        for (const [alone, other] of [
          ['vector', 'keyword'],
          ['keyword', 'vector'],
        ] as const) {
          const fused = await ranking('hybrid', { [other]: 0 });
          expect(idsOf(fused), alone).toEqual(idsOf(await ranking(alone)));
          expect(fused[0]?.score).toBe(1);
          expect(fused.every(({ foundBy }) => foundBy?.join() === alone)).toBe(true);
        }
      });

      it('adds the scores of both searches, by their weights', async () => {
        const scores = async (fusion: FusionWeights): Promise<number[]> => {
          const found = await store.query({ indexName, mode: 'hybrid', ...question, fusion });
          expect(found.toSorted((a, b) => b.score - a.score)).toEqual(found);
          expect(found[0]).toMatchObject({ document: expect.any(String), metadata: { place: expect.any(Number) } });
          expect(found[0]).not.toHaveProperty('vector');
          const byId = new Map(found.map(({ id, score }) => [id, score]));
          return passages.map((id) => byId.get(id) ?? 0);
        };
        const [byVector, byWords, both, weighted] = [
          await scores({ keyword: 0 }),
          await scores({ vector: 0 }),
          await scores({}),
          await scores({ vector: 1000 }),
        ];
        /** Share of the vectors, by the passage that both searches rate most differently. */
        const shareIn = (fused: readonly number[]): number => {
          const differences = byVector.map((score, place) => Math.abs(score - (byWords[place] as number)));
          const at = differences.indexOf(Math.max(...differences));
          const [words, all] = [byWords[at] as number, byVector[at] as number];
          return ((fused[at] as number) - words) / (all - words);
        };
        for (const fused of [both, weighted]) {
          const share = shareIn(fused);
          expect(share).toBeGreaterThan(0);
          expect(share).toBeLessThan(1);
          for (const [place, score] of fused.entries())
            expect(score).toBeCloseTo(
              share * (byVector[place] as number) + (1 - share) * (byWords[place] as number),
              5,
            );
        }
        expect(shareIn(weighted)).toBeGreaterThan(shareIn(both));
      });

      it('filters both', async () => {
        const found = await store.query({ indexName, mode: 'hybrid', ...question, filter: { place: { $lte: 1 } } });
        expect(found.map(({ id }) => id).toSorted()).toEqual(['apple', 'pear']);
      });
    });

    describe('with mmr', () => {
      it('leaves out what repeats a better result, as much as lambda says', async () => {
        const query = { indexName, queryVector: [0.95, 0.42, 0], topK: 2 };
        const all = await store.query({ ...query, topK: 5, includeVector: true });
        for (const lambda of [0.5, 0.7, 1])
          expect(await store.query({ ...query, includeVector: true, mmr: { lambda } })).toEqual(
            referenceDiversity(all, { lambda, topK: 2 }),
          );
        const [plain] = await store.query({ ...query, mmr: { lambda: 0.5 } });
        expect(plain).not.toHaveProperty('vector');
      });

      it.each([{ lambda: 1.5 }, { lambda: Number.NaN }, { candidates: 2 }, { candidates: 2.5 }])(
        'refuses %j',
        async (mmr) => {
          const query = store.query({ indexName, queryVector: [1, 0, 0], topK: 3, mmr });
          await expectError(query, 'OPTIONS_INVALID');
        },
      );
    });
  });
}
