import { Pool } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { PgVector } from './index.js';
import { approximateSql } from './nearest-sql.js';
import { openDatabase } from './open-database.js';
import { pgliteForTests, postgresForTests, postgresUrl } from './open-stores.fixture.js';
import { readExtension, readIndex, type OpenIndex } from './pg-index.js';

const server = postgresUrl === undefined ? undefined : postgresForTests(postgresUrl);
const databases = [pgliteForTests(), ...(server ? [server] : [])];
afterAll(() => Promise.all(databases.map((database) => database.close())));

describe.each(databases)('settings inside a statement in $name', (database) => {
  it('hold before the scan of the index begins, and not after the statement', async () => {
    const { schemaName = '', pglite } = await database.open();
    const pool = pglite ? undefined : new Pool({ connectionString: postgresUrl as string, max: 1 });
    const options = pglite ? { pglite } : { pool: pool as Pool };
    const store = new PgVector({ ...options, schemaName });
    const indexName = 'items';
    await store.createIndex({ indexName, dimension: 2 });
    await store.upsert({ indexName, vectors: Array.from({ length: 300 }, (_, n) => [n + 1, 300 - n]) });
    const { query } = openDatabase(options).database;
    await query('SET enable_seqscan = off');
    const [found, extension] = [await readIndex(query, schemaName, indexName), await readExtension(query)];
    const index = { ...found, extension } as OpenIndex;
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
  }, 60_000);
});
