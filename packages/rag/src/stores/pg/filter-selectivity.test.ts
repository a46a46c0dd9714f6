import { beforeAll, describe, expect, it } from 'vitest';
import { parseFilter } from '../../filter/index.js';
import { openDatabase, type SqlQuery } from './database.js';
import { filterSelectivity } from './filter-selectivity.js';
import { PgVector, type PgVectorOptions } from './index.js';
import { databasesForTests } from './open-stores.fixture.js';
import { type PgIndex, readIndex } from './pg-index.js';

const { databases } = databasesForTests();

describe.each(databases)('the share of rows that pass a filter in $name', (database) => {
  const indexName = 'items';
  const count = 5000;
  let store: PgVector;
  let table: string;
  let index: PgIndex;
  const statements: string[] = [];
  let query: SqlQuery;
  beforeAll(async () => {
    const { schemaName = '', ...options } = await database.open();
    const { query: run } = openDatabase(options);
    query = (sql, values) => (statements.push(sql), run(sql, values));
    store = new PgVector({ ...record(options, statements), schemaName });
    await store.createIndex({ indexName, dimension: 2, buildIndex: false });
    table = `"${schemaName}"."${indexName}"`;
    await run(
      `INSERT INTO ${table} (id, metadata, embedding, words)
       SELECT n::text, jsonb_build_object('n', n, 'tenth', n % 10), ARRAY[n, ${count} - n]::vector, '' FROM generate_series(1, ${count}) n`,
    );
    index = (await readIndex(run, schemaName, indexName)) as PgIndex;
  });

  it('is known where the database has counted the rows', async () => {
    const matchesFew = filterSelectivity(() => 0);
    const few = (filter: object): Promise<boolean> =>
      matchesFew({ query, index, filter: parseFilter(filter), wanted: 10 });
    expect(await few({ n: 17 })).toBe(false);
    await query(`ANALYZE ${table}`);
    const fresh = filterSelectivity(() => 0);
    for (const [filter, expected] of [
      [{ n: 17 }, true],
      [{ tenth: 3 }, false],
      [{ tenth: { $ne: 3 } }, false],
      [{ n: { $lt: 5 } }, true],
      // Nothing that SQL can say.
      [{ n: { $regex: 'x' } }, false],
    ] as const)
      expect(await fresh({ query, index, filter: parseFilter(filter), wanted: 10 })).toBe(expected);
    const many = { query, index, filter: parseFilter({ tenth: 3 }), wanted: 1000 };
    expect(await fresh(many)).toBe(true);
  });

  it('is read once a minute', async () => {
    let time = 0;
    const matchesFew = filterSelectivity(() => time);
    const before = statements.length;
    for (const at of [0, 60_000, 60_001, 60_002]) {
      time = at;
      await matchesFew({ query, index, filter: parseFilter({ tenth: 3 }), wanted: 10 });
    }
    expect(statements.length - before).toBe(2);
  });

  it('makes a query compare all rows that pass where they are few', async () => {
    // Built here, over the rows: inserting them into the index would take many times as long.
    await store.buildIndex({ indexName });
    const before = statements.length;
    const found = await store.query({ indexName, queryVector: [1, 0], filter: { n: { $in: [4900, 7, 3000] } } });
    expect(found.map(({ id }) => id)).toEqual(['4900', '3000', '7']);
    const searches = statements.slice(before).filter((sql) => sql.includes('AS distance'));
    expect(searches).toEqual([expect.not.stringContaining('set_config')]);
  });
});

/** The same database, which writes down what is asked outside of transactions. */
function record({ pool, pglite }: PgVectorOptions, statements: string[]): PgVectorOptions {
  const query = (statement: string | { text: string }, values?: unknown[]): unknown => {
    statements.push(typeof statement === 'string' ? statement : statement.text);
    return pool ? pool.query(statement as string, values) : pglite?.query(statement as string, values);
  };
  const transaction = pglite?.transaction.bind(pglite);
  const recorded = pool ? { pool: { query, connect: () => pool.connect() } } : { pglite: { query, transaction } };
  return recorded as unknown as PgVectorOptions;
}
