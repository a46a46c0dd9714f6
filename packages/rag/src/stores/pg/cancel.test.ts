import { Pool } from 'pg';
import { describe, expect, it } from 'vitest';
import { openDatabase } from './database.js';
import { PgVector } from './index.js';
import { databasesForTests } from './open-stores.fixture.js';

const { pglite, server, postgresUrl } = databasesForTests();

describe.skipIf(!server)('an abort', () => {
  const connection = { connectionString: postgresUrl, pgPoolOptions: { application_name: 'quiver_cancel' } };
  const activity = async (): Promise<unknown[]> =>
    (
      await server?.pool.query(
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'quiver_cancel' AND state = 'active'",
      )
    )?.rows as unknown[];

  // I10
  it('cancels the statement on the server, and its connection is used again', async () => {
    const database = openDatabase({ ...connection, max: 1 });
    const controller = new AbortController();
    const slow = database.query('SELECT pg_sleep(60)', [], controller.signal);
    await expect.poll(activity).toHaveLength(1);
    controller.abort(new Error('enough'));
    await expect(slow).rejects.toThrow('enough');
    await expect.poll(activity).toHaveLength(0);
    const pids = await Promise.all([1, 2].map(() => database.query('SELECT pg_backend_pid() AS pid')));
    expect(pids[0]).toEqual(pids[1]);
    await database.close();
  });

  // I10
  it('rolls a transaction back', async () => {
    const { schemaName = '' } = (await server?.open()) ?? {};
    const store = new PgVector({ ...connection, schemaName });
    await store.createIndex({ indexName: 'kept', dimension: 1 });
    const database = openDatabase(connection);
    const controller = new AbortController();
    const work = database.transaction(async (query) => {
      await query(`INSERT INTO "${schemaName}".kept (id, embedding, metadata, words) VALUES ('x', '[1]', '{}', '')`);
      await query('SELECT pg_sleep(60)');
    }, controller.signal);
    await expect.poll(activity).toHaveLength(1);
    controller.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
    await expect.poll(activity).toHaveLength(0);
    expect(await store.describeIndex({ indexName: 'kept' })).toMatchObject({ count: 0 });
    await Promise.all([store.close(), database.close()]);
  });

  // I10
  it('sends nothing more of a transaction', async () => {
    const database = openDatabase({ ...connection, max: 1 });
    const controller = new AbortController();
    const sent: string[] = [];
    const work = database.transaction(async (query) => {
      controller.abort(new Error('enough'));
      await query('SELECT 1').then(() => sent.push('SELECT 1'));
    }, controller.signal);
    await expect(work).rejects.toThrow('enough');
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(sent).toEqual([]);
    await database.close();
  });

  // I10
  it('waits no longer for a connection, and gives it back when it comes', async () => {
    const pool = new Pool({ connectionString: postgresUrl, max: 1 });
    const database = openDatabase({ pool });
    const holder = await pool.connect();
    const waiting = database.query('SELECT 1', [], AbortSignal.timeout(50));
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    holder.release();
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await expect.poll(() => [pool.idleCount, pool.waitingCount]).toEqual([1, 0]);
    await pool.end();
  });
});

describe.skipIf(!server)('a connection that the server ends', () => {
  it.each(['in a transaction', 'in a statement with a signal'])(
    // I08
    'fails the call and nothing else, %s',
    async (what) => {
      const { schemaName = '' } = (await server?.open()) ?? {};
      const pool = new Pool({ connectionString: postgresUrl, application_name: schemaName });
      const database = openDatabase({ pool });
      pool.on('error', () => {});
      const { signal } = new AbortController();
      const sleep = 'SELECT pg_sleep(60)';
      const slow =
        what === 'in a transaction'
          ? database.transaction((query) => query(sleep))
          : database.query(sleep, undefined, signal);
      const failed = slow.catch((error: unknown) => error);
      const ended = async (): Promise<number | undefined> =>
        (
          await server?.pool.query(
            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND query = $2',
            [schemaName, sleep],
          )
        )?.rows.length;
      await expect.poll(ended).toBe(1);
      expect(await failed).toMatchObject({ code: '57P01' });
      expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
      expect(pool.totalCount).toBe(1);
      await pool.end();
    },
  );
});

describe('the pool of a store', () => {
  it.skipIf(!server)('keeps its parsers to itself', async () => {
    const { schemaName = '' } = (await server?.open()) ?? {};
    const types = { getTypeParser: () => (value: string) => `odd ${value}` };
    const pool = new Pool({ connectionString: postgresUrl, types });
    const store = new PgVector({ pool, schemaName });
    const indexName = 'parsed';
    await store.createIndex({ indexName, dimension: 2 });
    await store.upsert({ indexName, ids: ['a'], vectors: [[1, 0]], metadata: [{ n: 1 }] });
    const { signal } = new AbortController();
    for (const more of [{}, { signal }])
      expect(await store.query({ indexName, queryVector: [1, 0], ...more })).toEqual([
        { id: 'a', metadata: { n: 1 }, score: 1 },
      ]);
    expect(await store.describeIndex({ indexName })).toMatchObject({ dimension: 2, count: 1 });
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 'odd 1' }]);
    await pool.end();
  });

  it('is the one that was given, and PGlite has none', async () => {
    const pool = new Pool();
    expect(new PgVector({ pool }).pool).toBe(pool);
    const store = new PgVector(await pglite.open());
    expect(() => store.pool).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    await pool.end();
  });

  it.skipIf(!server)('opens at its first use', async () => {
    const store = new PgVector({ id: 'pg-vector', connectionString: postgresUrl });
    expect((await store.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    const client = await store.pool.connect();
    client.release();
    await store.disconnect();
  });
});
