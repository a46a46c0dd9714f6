import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTestVariable } from '../../../../../scripts/test-variable.ts';
import { parseFilter } from '../../filter/index.js';
import { SqlParameters } from '../../store/sql-condition.js';
import { filterToSql } from './filter-to-sql.js';
import { PgVector } from './index.js';
import { pgliteForTests, postgresForTests } from './open-stores.fixture.js';

const postgresUrl = readTestVariable('QUIVER_POSTGRES_URL');
const server = postgresUrl === undefined ? undefined : postgresForTests(postgresUrl);
const databases = [pgliteForTests(), ...(server ? [server] : [])];
afterAll(() => Promise.all(databases.map((database) => database.close())));

describe.each(databases)('words in $name', (database) => {
  let store: PgVector;
  beforeAll(async () => {
    store = new PgVector(await database.open());
  }, 60_000);

  const fill = (indexName: string, documents: string[]): Promise<string[]> =>
    store.upsert({
      indexName,
      ids: documents.map((_, n) => `d${n}`),
      vectors: documents.map(() => [1]),
      documents,
      metadata: documents.map((text, n) => ({ n, size: text.length })),
    });
  const find = async (indexName: string, queryText: string, more: object = {}): Promise<string[]> =>
    (await store.query({ indexName, mode: 'keyword', queryText, ...more })).map(({ id }) => id);

  it('weighs a rare word more than frequent ones', async () => {
    await store.createIndex({ indexName: 'rare', dimension: 1 });
    await fill('rare', ['common common', 'common words', 'common sense', 'a rare one']);
    expect(await find('rare', 'common rare')).toEqual(['d3', 'd0', 'd1', 'd2']);
  });

  it('knows the language that was chosen, and no other', async () => {
    await store.createIndex({ indexName: 'german', dimension: 1, textSearch: { language: 'german' } });
    await fill('german', ['Die Häuser am See', 'Das Boot']);
    expect(await find('german', 'ein Haus')).toEqual(['d0']);
    await store.createIndex({ indexName: 'simple', dimension: 1, textSearch: { language: 'simple' } });
    await fill('simple', ['the house', 'houses']);
    expect(await find('simple', 'house')).toEqual(['d0']);
    expect(await find('simple', 'the')).toEqual(['d0']);
    expect(await store.describeIndex({ indexName: 'german' })).toMatchObject({ language: 'german' });
    const klingon = store.createIndex({ indexName: 'klingon', dimension: 1, textSearch: { language: 'klingon' } });
    await expect(klingon).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining('english'),
    });
    const language = "english'; DROP TABLE x; --";
    await expect(store.addTextSearch({ indexName: 'simple', language })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    });
    expect(await store.listIndexes()).not.toContain('klingon');
  });

  it('is not another one in an existing index', async () => {
    const params = { indexName: 'chosen', dimension: 1 };
    await store.createIndex({ ...params, textSearch: { language: 'german' } });
    for (const textSearch of [{ language: 'german' }, {}, false] as const)
      await store.createIndex({ ...params, textSearch });
    await expect(store.createIndex({ ...params, textSearch: { language: 'simple' } })).rejects.toMatchObject({
      code: 'VECTOR_INDEX_CONFIG_MISMATCH',
      message: expect.stringContaining("with the language 'german', not 'simple'. Change it with addTextSearch("),
    });
  });

  it('is added to an index that was made without it, once', async () => {
    const indexName = 'plain';
    await store.createIndex({ indexName, dimension: 1, textSearch: false });
    await fill(indexName, ['some trees', 'a lake']);
    for (const mode of ['keyword', 'hybrid'] as const) {
      const query = store.query({ indexName, mode, queryText: 'tree', queryVector: [1] });
      await expect(query).rejects.toMatchObject({
        code: 'VECTOR_TEXT_SEARCH_MISSING',
        message: expect.stringContaining('addTextSearch'),
      });
    }
    await store.addTextSearch({ indexName });
    await store.addTextSearch({ indexName });
    expect(await find(indexName, 'tree')).toEqual(['d0']);
    await store.addTextSearch({ indexName, language: 'simple' });
    expect(await find(indexName, 'tree')).toEqual([]);
    expect(await find(indexName, 'trees')).toEqual(['d0']);
    expect(await store.get({ indexName, ids: ['d1'] })).toMatchObject([{ document: 'a lake', metadata: { n: 1 } }]);
  });

  it('filters with conditions that SQL cannot say', async () => {
    const indexName = 'patterns';
    await store.createIndex({ indexName, dimension: 1 });
    await fill(
      indexName,
      Array.from({ length: 150 }, (_, n) => `text ${n}${n === 140 ? '' : ' text'}`),
    );
    await store.updateVector({ indexName, id: 'd140', update: { metadata: { name: 'Ärger' } } });
    const filter = { name: { $regex: '^är', $options: 'i' } };
    expect(await find(indexName, 'text', { filter })).toEqual(['d140']);
    const both = await store.query({ indexName, mode: 'hybrid', queryText: 'text', queryVector: [1], filter });
    expect(both.map(({ id, score }) => [id, score])).toEqual([['d140', 1]]);
  });

  it('answers equality with an indexed field in the same way, and keeps one index per field', async () => {
    const indexName = 'fields';
    const metadataIndexes = ['tenant', 'author.name'];
    await store.createIndex({ indexName, dimension: 1, metadataIndexes });
    await store.createIndex({ indexName, dimension: 1, metadataIndexes: [...metadataIndexes, 'year'] });
    await store.upsert({
      indexName,
      ids: ['a', 'b', 'c'],
      vectors: [[1], [2], [3]],
      metadata: [{ tenant: 'x' }, { tenant: ['x', 'y'], author: { name: 'Ada' } }, { author: { name: 'Ada' } }],
    });
    const ids = async (filter: object): Promise<string[]> =>
      (await store.listVectors({ indexName, filter })).records.map(({ id }) => id);
    expect(await ids({ tenant: 'x' })).toEqual(['a', 'b']);
    expect(await ids({ tenant: { $ne: 'x' } })).toEqual(['c']);
    expect(await ids({ $nor: [{ 'author.name': 'Ada' }] })).toEqual(['a']);
    for (const field of ["a'b", 'a b', '', '1', 'a..b', '__proto__'.repeat(30)]) {
      const bad = store.createIndex({ indexName, dimension: 1, metadataIndexes: [field] });
      await expect(bad).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    }
    const noList = 'tenant' as unknown as string[];
    await expect(store.createIndex({ indexName, dimension: 1, metadataIndexes: noList })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    });
  });
});

describe.skipIf(!server)('the plan of PostgreSQL', () => {
  it('goes through the index of a field that few rows have', async () => {
    const config = (await server?.open()) as { schemaName: string };
    const store = new PgVector({ connectionString: postgresUrl as string, schemaName: config.schemaName });
    const indexName = 'planned';
    await store.createIndex({ indexName, dimension: 3, buildIndex: false, metadataIndexes: ['tenant'] });
    const count = 20_000;
    await store.upsert({
      indexName,
      vectors: Array.from({ length: count }, (_, n) => [n, 1, count - n]),
      metadata: Array.from({ length: count }, (_, n) => ({ tenant: `t${n % 2000}` })),
    });
    const table = `"${config.schemaName}".${indexName}`;
    await store.pool.query(`ANALYZE ${table}`);
    for (const tenant of ['t7', { $in: ['t7', 't8'] }]) {
      const parameters = new SqlParameters();
      const { sql } = filterToSql(parseFilter({ tenant }), parameters);
      const { rows } = await store.pool.query(`EXPLAIN SELECT id FROM ${table} WHERE ${sql}`, parameters.values);
      expect(JSON.stringify(rows)).toContain('Bitmap Index Scan on planned_m');
    }
    const found = await store.query({ indexName, queryVector: [1, 0, 0], topK: 20, filter: { tenant: 't7' } });
    expect(found).toHaveLength(10);
    await store.close();
  });
});
