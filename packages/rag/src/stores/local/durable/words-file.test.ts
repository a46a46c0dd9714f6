import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefaultLogger, setDefaultLogger } from '@quiver/core';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newFolder } from '../../../../../../scripts/test-folder.ts';
import { KeywordIndex } from '../../../words/keyword-index.js';
import { loadAnalyzer } from '../../../words/term-analyzer.js';
import { LocalVector } from '../index.js';
import { WordsFile } from './words-file.js';

const indexName = 'docs';
let path: string;
beforeEach(async () => void (path = await newFolder()));
const standardLogger = getDefaultLogger();
afterEach(() => setDefaultLogger(standardLogger));

const wordsFile = (): string => join(path, `${indexName}.qvwords`);

async function upsert(store: LocalVector, texts: Readonly<Record<string, string>>): Promise<void> {
  const ids = Object.keys(texts);
  await store.upsert({ indexName, ids, vectors: ids.map(() => [1]), documents: Object.values(texts) });
}

async function find(store: LocalVector, queryText: string): Promise<[id: string, score: number][]> {
  const found = await store.query({ indexName, mode: 'keyword', queryText, topK: 50 });
  return found.map(({ id, score }) => [id, score]);
}

const idsOf = async (store: LocalVector, queryText: string): Promise<string[]> =>
  (await find(store, queryText)).map(([id]) => id);

/** Calls with a store that is opened and closed for them. */
async function open<Result>(use: (store: LocalVector) => Promise<Result>): Promise<Result> {
  await using store = new LocalVector({ path });
  return await use(store);
}

const houses = { a: 'The old houses at the lake', b: 'Die alten Häuser am See sind schön', c: '湖边的房子很旧' };

async function createHouses(): Promise<void> {
  await open(async (store) => {
    await store.createIndex({ indexName, dimension: 1 });
    await upsert(store, houses);
  });
}

/** Stores the terms of other texts under the version of the index. */
async function storeOther(...texts: string[]): Promise<void> {
  const { version = '' } = await WordsFile.open(wordsFile());
  const analyzer = await loadAnalyzer('auto-3');
  const keywords = new KeywordIndex(analyzer, (row) => ({ text: texts[row] as string }));
  for (const row of texts.keys()) keywords.set(row);
  await keywords.toTerms('');
  await (await WordsFile.open(wordsFile())).write(keywords.read(), { version, analyzer: 'auto-3' });
}

describe('stored terms', () => {
  it('are stored by the first search for words, not by a change or another search', async () => {
    await createHouses();
    await open((store) => store.query({ indexName, queryVector: [1] }));
    expect(await readdir(path)).not.toContain('docs.qvwords');
    await open((store) => find(store, 'house'));
    expect(await readdir(path)).toContain('docs.qvwords');
  });

  it('answer a reopened index, whose texts are not analyzed again', async () => {
    await createHouses();
    const queries = ['house', 'Haus', '房子', 'alte Häuser am See'];
    const all = (store: LocalVector): Promise<unknown[]> => Promise.all(queries.map((query) => find(store, query)));
    const expected = await open(all);
    expect(await open(all)).toEqual(expected);
    await storeOther('boats', 'harbour', 'harbour');
    expect(await open((store) => idsOf(store, 'boat'))).toEqual(['a']);
    // Only the changed text is read.
    await open((store) => upsert(store, { a: 'The museum' }));
    await open(async (store) => {
      expect(await idsOf(store, 'boat')).toEqual([]);
      expect(await idsOf(store, 'museum')).toEqual(['a']);
      expect(await idsOf(store, 'harbour')).toEqual(['b', 'c']);
      await store.deleteVectors({ indexName, ids: ['b'] });
    });
    expect(await open((store) => idsOf(store, 'harbour'))).toEqual(['c']);
  });

  it('follow a text that takes the row of a removed one, also where another process stores them again', async () => {
    await createHouses();
    await open((store) => find(store, 'house'));
    await using reader = new LocalVector({ path });
    await reader.describeIndex({ indexName });
    await open((store) => store.deleteVectors({ indexName, ids: ['a'] }));
    await open(async (store) => {
      expect(await idsOf(store, '房子')).toEqual(['c']);
      expect(await idsOf(store, 'house')).toEqual([]);
    });
    expect(await idsOf(reader, '房子')).toEqual(['c']);
    expect(await idsOf(reader, 'Haus')).toEqual(['b']);
  });

  it('leave with the texts when the log is rewritten', async () => {
    await createHouses();
    await open(async (store) => {
      const many = Array.from({ length: 1100 }, (_, n) => [`n${n}`, 'A boat'] as const);
      await upsert(store, Object.fromEntries(many));
      expect(await idsOf(store, 'boat')).toHaveLength(50);
      expect(await readdir(path)).toContain('docs.qvwords');
      await store.truncateIndex({ indexName });
      expect(await readdir(path)).not.toContain('docs.qvwords');
      await upsert(store, houses);
    });
    expect(await open((store) => idsOf(store, 'house'))).toEqual(['a']);
  });

  it('are not used when they are damaged, or those of another analyzer, state or index', async () => {
    await createHouses();
    await open((store) => find(store, 'house'));
    await storeOther('boats', 'boats', 'boats');
    const whole = await readFile(wordsFile());
    const header = whole.indexOf('\n');
    const changed = [
      whole.subarray(0, -7),
      whole.subarray(0, header - 3),
      Buffer.alloc(0),
      whole.map((byte, at) => (at === header + 30 ? byte ^ 1 : byte)),
      Buffer.from(whole.toString('latin1').replace('auto-3', 'auto-2'), 'latin1'),
      Buffer.from(whole.toString('latin1').replace(/"unicode":"\d/, '"unicode":"9'), 'latin1'),
    ];
    for (const bytes of changed) {
      await writeFile(wordsFile(), bytes);
      expect(await open((store) => idsOf(store, 'boat'))).toEqual([]);
      expect(await open((store) => idsOf(store, 'house'))).toEqual(['a']);
    }
    await writeFile(wordsFile(), whole);
    await open(async (store) => {
      await store.deleteIndex({ indexName });
      expect(await readdir(path)).not.toContain('docs.qvwords');
      await store.createIndex({ indexName, dimension: 1 });
      await upsert(store, { a: houses.b });
    });
    await writeFile(wordsFile(), whole);
    expect(await open((store) => idsOf(store, 'boat'))).toEqual([]);
  });

  it('find after any changes what a store in memory finds, in the same process and the next', async () => {
    const words = ['house', 'houses', 'Haus', 'Häuser', 'maison', 'the', 'und', 'dom', '房子', 'E-1042'];
    const text = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 9 }).map((each) => each.join(' '));
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.dictionary(fc.constantFrom(...'abcdefghijkl'), text, { minKeys: 1, maxKeys: 8 }) },
      { weight: 2, arbitrary: fc.array(fc.constantFrom(...'abcdefghijkl'), { minLength: 1, maxLength: 4 }) },
      { weight: 3, arbitrary: fc.constant('search' as const) },
      { weight: 3, arbitrary: fc.constant('reopen' as const) },
      fc.constant('truncate' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        path = await newFolder();
        let store = new LocalVector({ path });
        await using reader = new LocalVector({ path });
        const expected = new LocalVector();
        for (const each of [store, expected]) await each.createIndex({ indexName, dimension: 1 });
        for (const each of [...steps, 'search', 'reopen', 'search'] as const) {
          if (each === 'search') {
            const [inFolder, inReader] = [await find(store, 'Häuser dom'), await find(reader, 'Häuser dom')];
            expect(inFolder).toEqual(await find(expected, 'Häuser dom'));
            expect(inReader).toEqual(inFolder);
          } else if (each === 'reopen') {
            await store.close();
            store = new LocalVector({ path });
          } else {
            for (const target of [store, expected]) {
              if (each === 'truncate') await target.truncateIndex({ indexName });
              else if (Array.isArray(each)) await target.deleteVectors({ indexName, ids: each });
              else await upsert(target, each);
            }
          }
        }
        await store.close();
      }),
      { numRuns: 60 },
    );
  });

  it('are not needed: a search that cannot store them finds its texts, and logs a warning', async () => {
    await createHouses();
    await mkdir(wordsFile());
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) };
    setDefaultLogger(logger);
    expect(await open((store) => idsOf(store, 'house'))).toEqual(['a']);
    expect(warnings).toEqual([expect.stringContaining('docs.qvwords')]);
    expect((await readdir(path)).filter((name) => name.startsWith('docs.qvwords.'))).toEqual([]);
  });
});
