import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newFolder } from '../../../../../scripts/test-folder.ts';
import { encodeEntry } from './durable/log-format.js';
import { LocalVector } from './index.js';
import { toUpsert } from './local-index.js';

/** @param languages - named by the metadata of each record */
async function fill(store: LocalVector, languages: readonly unknown[]): Promise<void> {
  await store.createIndex({ indexName: 'texts', dimension: 1 });
  await store.upsert({
    indexName: 'texts',
    ids: languages.map((_, place) => `t${place}`),
    vectors: languages.map(() => [1]),
    documents: languages.map(() => 'Die Häuser am See sind alt und nicht bewohnt.'),
    metadata: languages.map((language) => ({ language })),
  });
}

async function find(store: LocalVector, queryText: string): Promise<string[]> {
  const found = await store.query({ indexName: 'texts', mode: 'keyword', queryText });
  return found.map(({ id }) => id).toSorted();
}

describe('the language of an index in LocalVector', () => {
  it('is the one that the metadata of a record names', async () => {
    const store = new LocalVector();
    await fill(store, ['en-GB', 'typescript', 7]);
    // The text is German where its record names no language of texts.
    expect(await find(store, 'Haus')).toEqual(['t1', 't2']);
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
