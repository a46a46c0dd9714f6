import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CreateIndexParams, VectorStore } from '../store/index.js';

const indexName = 'words';
const wordsOfTexts =
  'Mongolia US NO IT the die was und Häuser Schrauben maisons où niño informaciones książki İstanbul kitaplar Straße ﬁle ' +
  'Дома озера книги и ёлки ανθρώπων الكتاب ספרים पुस्तकों 東京 機器学習 한국어로 กรุงเทพ Má 5 42 5.4 16:30 2011-04-30 v1.2.3 C C++ x ' +
  "E-1042 INV-2203 node:http --no-verify max_tokens getServerStderr it's state-of-the-art U.S. | 00R";
const isWord = /[\p{L}\p{N}]/u;

/** Name, a part of it, and a shorter text with all of its parts, repeatedly. */
const names = [
  ['node:http', 'http', 'The http server of node: a node with http'],
  ['HISTSIZE', 'histsize', 'The size of the history, a hist of sizes'],
  ['--no-verify', 'verify', 'Verify no commit, no, verify it: verify'],
  ['getServerStderr', 'stderr', 'Get the stderr of the server, get stderr'],
  ['RFC 9728', '9728', 'RFC 9729, an RFC about RFC texts'],
  ['INV-2203', '2203', 'INV-2204, an INV of INV 3322'],
] as const;

/**
 * Suite for stores whose terms are those of Quiver.
 *
 * @param options.params - for `createIndex()`
 * @param options.runs - number of random collections
 */
export function describeWords<Store extends VectorStore>(
  name: string,
  open: () => Promise<Store>,
  {
    close,
    params = {},
    runs = 8,
  }: {
    runs?: number;
    close: (store: Store) => Promise<void>;
    params?: Partial<CreateIndexParams> & { language?: string };
  },
): void {
  describe(`${name} as a keyword index`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
      await store.createIndex({ indexName, dimension: 3, ...params });
    }, 60_000);
    afterEach(() => close(store));

    const fill = async (documents: readonly string[]): Promise<string[]> => {
      const ids = documents.map((_, place) => `t${place}`);
      await store.truncateIndex({ indexName });
      await store.upsert({ indexName, ids, vectors: ids.map(() => [1, 2, 3]), documents });
      return ids;
    };
    const find = async (queryText: string): Promise<string[]> =>
      (await store.query({ indexName, mode: 'keyword', queryText, topK: 20 })).map(({ id }) => id);

    it('finds each text by each of its words alone', async () => {
      const text = fc.array(fc.constantFrom(...wordsOfTexts.split(' ')), { minLength: 1, maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 12 }), async (texts) => {
          const ids = await fill(texts.map((words) => words.join(' ')));
          for (const word of new Set(texts.flat().filter((each) => isWord.test(each)))) {
            const containing = ids.filter((_, place) => texts[place]?.includes(word));
            expect(await find(word), word).toEqual(expect.arrayContaining(containing));
          }
        }),
        { numRuns: runs },
      );
    }, 60_000);

    it('finds names by the whole and by a part, an exact match first', async () => {
      const others = Array.from(
        { length: 8 },
        (_, place) => `Some text with the number ${place}, about gardens, rivers and boats.`,
      );
      for (const [whole, part, repeated] of names) {
        const exact = `A text with more words than the other one, which names ${whole} once, near its end.`;
        await fill([repeated, exact, ...others]);
        expect((await find(whole))[0], whole).toBe('t1');
        expect((await find(`What does ${whole} do for me?`))[0], whole).toBe('t1');
        expect(await find(part), part).toContain('t1');
      }
    }, 60_000);
  });
}

/** Suite for databases that keep the terms of Quiver in the language of an index. */
export function describeLanguage<Store extends VectorStore>(
  name: string,
  open: () => Promise<Store>,
  close: (store: Store) => Promise<void> = async () => {},
): void {
  it(`${name} computes terms in the language of the index, which it keeps`, async () => {
    const store = await open();
    const create = (language?: string): Promise<void> => {
      const params: CreateIndexParams & { language?: string } = {
        indexName,
        dimension: 1,
        ...(language && { language }),
      };
      return store.createIndex(params);
    };
    const find = async (queryText: string): Promise<string[]> =>
      (await store.query({ indexName, mode: 'keyword', queryText })).map(({ id }) => id);
    await create('de');
    const documents = ['Die Hausverwaltung kündigt', "The o'reilly# book", `${'x'.repeat(60)} 机器学习`];
    await store.upsert({ indexName, ids: ['a', 'b', 'c'], vectors: [[1], [1], [1]], documents });
    expect(await find('Häuser')).toEqual(['a']);
    expect(await find("O'Reilly#")).toEqual(['b']);
    expect(await find('x'.repeat(60))).toEqual(['c']);
    expect(await find('学习')).toEqual(['c']);
    await create();
    await expect(create('fr')).rejects.toMatchObject({ code: 'VECTOR_INDEX_CONFIG_MISMATCH' });
    await expect(create('klingon')).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await store.updateVector({ indexName, id: 'a', update: { document: 'Verträge' } });
    expect(await find('Vertrag')).toEqual(['a']);
    expect(await find('Haus')).toEqual([]);
    await close(store);
  });
}
