import { Pool } from 'pg';
import { describe, expect, it } from 'vitest';
import { openDatabase } from './database.js';
import { PgVector } from './index.js';
import { databasesForTests } from './open-stores.fixture.js';
import { type ExistingIndex, readExtension, readIndex } from './pg-index.js';
import { approximateSql, searchSettings } from './search.js';

const { databases, postgresUrl } = databasesForTests();

describe.each(databases)('settings inside a statement in $name', (database) => {
  it('hold before the scan of the index begins, and not after the statement', async () => {
    const { schemaName = '', pglite } = await database.open();
    const pool = pglite ? undefined : new Pool({ connectionString: postgresUrl, max: 1 });
    const options = pglite ? { pglite } : { pool: pool as Pool };
    const store = new PgVector({ ...options, schemaName });
    const indexName = 'items';
    await store.createIndex({ indexName, dimension: 2 });
    await store.upsert({ indexName, vectors: Array.from({ length: 300 }, (_, n) => [n + 1, 300 - n]) });
    const { query } = openDatabase(options);
    await query('SET enable_seqscan = off');
    const [found, extension] = [await readIndex(query, schemaName, indexName), await readExtension(query)];
    const index = { ...found, extension } as ExistingIndex;
    const rowsWith = async (settings: [string, number][]): Promise<number> => {
      const sql = approximateSql({ index, vector: `'[1,1]'`, columns: [], where: 'TRUE', limit: 200, settings });
      return (await query(sql)).length;
    };
    expect(await rowsWith([])).toBe(40);
    expect(await rowsWith([['hnsw.ef_search', 150]])).toBe(150);
    expect(await rowsWith([])).toBe(40);
    expect(await rowsWith([['hnsw.ef_search', 90]])).toBe(90);
    await query('RESET enable_seqscan');
    await pool?.end();
  });
});

const knownExtension = { schema: 'public', scansOn: true, vectorOid: 1 };
const index: ExistingIndex = {
  table: 'public.items',
  oid: 1,
  dimension: 2,
  metric: 'cosine',
  vectorType: 'vector',
  type: 'hnsw',
  config: {},
  requestedType: 'hnsw',
  analyzer: 'auto-3',
  extension: knownExtension,
};

it('sets nothing where the defaults of pgvector will do', () => {
  expect(searchSettings(index, {}, { hasFilter: false, wanted: 10 })).toEqual([]);
});

it('sets requested values, also the defaults of pgvector, because the role may have others', () => {
  expect(searchSettings(index, { ef: 40 }, { hasFilter: false, wanted: 10 })).toEqual([['hnsw.ef_search', 40]]);
});

it('searches on where a filter or the number of results needs it', () => {
  const iterative = ['hnsw.iterative_scan', 'relaxed_order'];
  expect(searchSettings(index, {}, { hasFilter: true, wanted: 10 })).toEqual([iterative]);
  expect(searchSettings(index, {}, { hasFilter: false, wanted: 300 })).toEqual([['hnsw.ef_search', 1000], iterative]);
});
