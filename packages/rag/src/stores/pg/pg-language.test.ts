import { beforeAll, describe, expect, it } from 'vitest';
import { PgVector } from './index.js';
import { databasesForTests } from './open-stores.fixture.js';

const { databases } = databasesForTests();

describe.each(databases)('the language of an index in $name', (database) => {
  let store: PgVector;
  beforeAll(async () => {
    store = new PgVector(await database.open());
  });

  const fill = async (indexName: string, language: string, documents: string[]): Promise<void> => {
    await store.createIndex({ indexName, dimension: 1, language });
    const ids = documents.map((_, place) => `d${place}`);
    await store.upsert({ indexName, ids, vectors: documents.map(() => [1]), documents });
  };
  const find = async (indexName: string, queryText: string): Promise<string[]> =>
    (await store.query({ indexName, mode: 'keyword', queryText })).map(({ id }) => id);

  it('finds Chinese, German compounds and names of code without a dictionary of the database', async () => {
    await fill('chinese', 'zh', ['机器学习方法', '数据库管理']);
    expect(await find('chinese', '机器学习')).toEqual(['d0']);
    await fill('german', 'de', ['Die Hausverwaltung kündigt', 'Das Boot']);
    expect(await find('german', 'Haus')).toEqual(['d0']);
    await fill('apostrophes', 'en', ["The o'reilly# book"]);
    expect(await find('apostrophes', "O'Reilly#")).toEqual(['d0']);
    await fill('mixed', 'auto', ["C++ and E-1042, don't \\ stop", 'Книги лежат на столе, и они старые', '']);
    expect(await find('mixed', 'E1042')).toEqual(['d0']);
    expect(await find('mixed', 'C++')).toEqual(['d0']);
    expect(await find('mixed', 'книга')).toEqual(['d1']);
    expect(await find('mixed', "'' & | ! ( ) <-> \\ : * \0 \ud800")).toEqual([]);
    expect(await store.describeIndex({ indexName: 'mixed' })).toMatchObject({ language: 'auto', count: 3 });
  });

  it('weighs rare terms more, and terms by their number of occurrences', async () => {
    await fill('weights', 'en', ['common common', 'common words', 'common sense', 'a rare one']);
    expect(await find('weights', 'common rare')).toEqual(['d3', 'd0', 'd1', 'd2']);
  });

  it('applies to records that change', async () => {
    await fill('changes', 'de', ['Häuser', 'Boote']);
    await store.updateVector({ indexName: 'changes', id: 'd1', update: { document: 'Verträge' } });
    expect(await find('changes', 'Vertrag')).toEqual(['d1']);
    expect(await find('changes', 'Boot')).toEqual([]);
    await store.updateVector({ indexName: 'changes', id: 'd0', update: { metadata: { year: 2026 } } });
    await store.updateVector({ indexName: 'changes', id: 'd0', update: { vector: [2] } });
    expect(await find('changes', 'Haus')).toEqual(['d0']);
    await store.upsert({ indexName: 'changes', ids: ['d0'], vectors: [[1]], metadata: [{ text: 'Wälder' }] });
    expect(await find('changes', 'Wald')).toEqual(['d0']);
  });

  it('is read again after another process changed it', async () => {
    const { schemaName, ...connection } = await database.open();
    const [here, there] = [0, 1].map(() => new PgVector({ ...connection, schemaName: schemaName as string })) as [
      PgVector,
      PgVector,
    ];
    const indexName = 'shared';
    const terms = async (queryText: string): Promise<string[]> =>
      (await here.query({ indexName, mode: 'keyword', queryText })).map(({ id }) => id);
    const recreate = async (more: object): Promise<void> => {
      if ((await there.listIndexes()).includes(indexName)) await there.deleteIndex({ indexName });
      await there.createIndex({ indexName, dimension: 1, ...more });
      await there.upsert({ indexName, ids: ['a', 'b'], vectors: [[1], [1]], documents: ['Die Häuser', 'Boote'] });
    };
    await recreate({ language: 'de' });
    expect(await terms('Haus')).toEqual(['a']);
    await recreate({ language: 'en' });
    expect(await terms('Haus')).toEqual([]);
    await recreate({ language: 'de' });
    expect(await terms('Haus')).toEqual(['a']);
    // Another process changes the way terms are stored before each of these changes.
    await recreate({});
    await here.updateVector({ indexName, id: 'b', update: { document: 'houses' } });
    await recreate({ language: 'de' });
    await here.updateVector({ indexName, id: 'b', update: { document: 'Verträge' } });
    expect(await terms('Vertrag')).toEqual(['b']);
    await recreate({});
    await here.upsert({ indexName, ids: ['c'], vectors: [[1]], documents: ['houses'] });
    await recreate({ language: 'de' });
    await here.upsert({ indexName, ids: ['c'], vectors: [[1]], documents: ['Verträge'] });
  });

  it('accepts words of any length and texts with many words', async () => {
    const words = Array.from({ length: 30_000 }, (_, place) => `w${place % 300}`).join(' ');
    await fill('long', 'en', [`${'x'.repeat(5000)} short`, words]);
    expect(await find('long', 'short')).toEqual(['d0']);
    expect(await find('long', 'w299')).toEqual(['d1']);
    expect(await find('long', 'x'.repeat(5000))).toEqual([]);
  });

  it('cannot change', async () => {
    const indexName = 'fixed';
    await store.createIndex({ indexName, dimension: 1, language: 'fr' });
    await store.createIndex({ indexName, dimension: 1 });
    await store.createIndex({ indexName, dimension: 1, language: 'french' });
    await expect(store.createIndex({ indexName, dimension: 1, language: 'de' })).rejects.toMatchObject({
      code: 'VECTOR_INDEX_CONFIG_MISMATCH',
    });
    await expect(store.createIndex({ indexName, dimension: 1, language: 'klingon' })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    });
    await store.createIndex({ indexName: 'plain', dimension: 1 });
    await expect(store.createIndex({ indexName: 'plain', dimension: 1, language: 'en' })).rejects.toMatchObject({
      code: 'VECTOR_INDEX_CONFIG_MISMATCH',
    });
  });
});
