import { beforeAll, describe, expect, it } from 'vitest';
import { parseFilter } from '../../filter/index.js';
import { SqlParameters } from '../sql-filter.js';
import { filterToSql } from './filter-to-sql.js';
import { PgVector } from './index.js';
import { databasesForTests } from './open-stores.fixture.js';

const { databases, server, postgresUrl } = databasesForTests();

describe.each(databases)('words in $name', (database) => {
  let store: PgVector;
  beforeAll(async () => {
    store = new PgVector(await database.open());
  });

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

  it('may have any length, and a text many of them', async () => {
    const words = Array.from({ length: 30_000 }, (_, place) => `w${place % 300}`).join(' ');
    await store.createIndex({ indexName: 'long', dimension: 1, language: 'en' });
    await fill('long', [`${'x'.repeat(5000)} short`, words]);
    expect(await find('long', 'short')).toEqual(['d0']);
    expect(await find('long', 'w299')).toEqual(['d1']);
    expect(await find('long', 'x'.repeat(5000))).toEqual([]);
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
    const store = new PgVector({ connectionString: postgresUrl, schemaName: config.schemaName });
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
