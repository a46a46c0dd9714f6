import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newFolder } from '../../../../../scripts/test-folder.ts';
import { encodeEntry } from './durable/log-format.js';
import { LocalVector } from './index.js';
import { toUpsert } from './local-index.js';

type Text = string | { text: string; language: unknown };

async function fill(store: LocalVector, texts: readonly Text[], language?: string): Promise<void> {
  await store.createIndex({ indexName: 'texts', dimension: 1, ...(language !== undefined && { language }) });
  await store.upsert({
    indexName: 'texts',
    ids: texts.map((_, place) => `t${place}`),
    vectors: texts.map(() => [1]),
    documents: texts.map((text) => (typeof text === 'string' ? text : text.text)),
    metadata: texts.map((text) => (typeof text === 'string' ? {} : { language: text.language })),
  });
}

async function find(store: LocalVector, queryText: string): Promise<string[]> {
  const found = await store.query({ indexName: 'texts', mode: 'keyword', queryText });
  return found.map(({ id }) => id).toSorted();
}

describe('the language of an index in LocalVector', () => {
  it('is detected for each text', async () => {
    const store = new LocalVector();
    await fill(store, [
      'Die Häuser am See sind alt und nicht bewohnt.',
      'The houses at the lake are old and not inhabited.',
      'Дома на берегу озера стоят давно и пусты.',
      '湖边的房子很旧',
    ]);
    expect(await find(store, 'Haus')).toEqual(['t0']);
    expect(await find(store, 'inhabitant house')).toEqual(['t1']);
    expect(await find(store, 'озеро')).toEqual(['t2']);
    expect(await find(store, '房子')).toEqual(['t3']);
    // Written after the first search.
    await store.upsert({
      indexName: 'texts',
      ids: ['t4'],
      vectors: [[1]],
      documents: ['Les maisons au bord du lac sont vieilles et vides.'],
    });
    expect(await find(store, 'maison')).toEqual(['t4']);
  });

  it('is the one that the metadata of a record names', async () => {
    const store = new LocalVector();
    await fill(store, [
      { text: 'Häuser', language: 'de-AT' },
      { text: 'Häuser', language: 'typescript' },
      { text: 'Häuser', language: 7 },
    ]);
    expect(await find(store, 'Haus')).toContain('t0');
  });

  it('must be known', async () => {
    const store = new LocalVector();
    for (const language of ['klingon', '', 42 as unknown as string, null as unknown as string])
      await expect(store.createIndex({ indexName: 'texts', dimension: 1, language })).rejects.toMatchObject({
        code: 'OPTIONS_INVALID',
        message: expect.stringContaining('de (german)'),
      });
    expect(await store.listIndexes()).toEqual([]);
  });
});

describe('a hybrid query', () => {
  it('names the searches that found each record', async () => {
    const store = new LocalVector();
    await fill(store, ['Häuser am See', 'Boote'], 'de');
    const query = async (queryText: string): Promise<unknown[]> => {
      const found = await store.query({ indexName: 'texts', mode: 'hybrid', queryText, queryVector: [1] });
      return found.map(({ id, foundBy }) => [id, foundBy]);
    };
    expect(await query('Haus')).toEqual([
      ['t0', ['vector', 'keyword']],
      ['t1', ['vector']],
    ]);
    expect(await query('Fahrrad')).toEqual([
      ['t0', ['vector']],
      ['t1', ['vector']],
    ]);
  });
});

describe('a stored index in LocalVector', () => {
  async function write(analyzer: string): Promise<LocalVector> {
    const folder = await newFolder();
    const header = { name: 'texts', dimension: 1, metric: 'cosine', analyzer } as const;
    const document = 'Häuser mit C++ im E-1042';
    const records = [{ id: 't0', vector: new Float32Array([1]), metadata: {}, document }];
    const entries = [encodeEntry({ type: 'create', header }), encodeEntry(toUpsert(records))];
    await writeFile(join(folder, 'texts.qvlog'), Buffer.concat(entries));
    return new LocalVector({ path: folder });
  }

  it('is not searched with other terms than it records', async () => {
    for (const analyzer of ['de-999', 'de-2']) {
      const store = await write(analyzer);
      await expect(find(store, 'Haus')).rejects.toMatchObject({
        code: 'OPTIONS_INVALID',
        message: expect.stringContaining(`the terms '${analyzer}'`),
      });
      expect(await store.query({ indexName: 'texts', queryVector: [1] })).toHaveLength(1);
      await store.close();
    }
  });
});
