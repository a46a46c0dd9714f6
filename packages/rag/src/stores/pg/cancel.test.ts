import { Pool } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { PgVector } from './index.js';
import { openDatabase } from './open-database.js';
import { pgliteForTests, postgresForTests, postgresUrl } from './open-stores.fixture.js';

const server = postgresUrl === undefined ? undefined : postgresForTests(postgresUrl);
const pglite = pgliteForTests();
afterAll(() => Promise.all([server?.close(), pglite.close()]));

describe.skipIf(!server)('an abort', () => {
  const connection = { connectionString: postgresUrl as string, pgPoolOptions: { application_name: 'quiver_cancel' } };
  const activity = async (): Promise<unknown[]> =>
    (
      await server?.pool.query(
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'quiver_cancel' AND state = 'active'",
      )
    )?.rows as unknown[];

  it('I10 cancels the statement on the server, and its connection is used again', async () => {
    const { database } = openDatabase({ ...connection, max: 1 });
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

  it('I10 rolls a transaction back', async () => {
    const { schemaName = '' } = (await server?.open()) ?? {};
    const store = new PgVector({ ...connection, schemaName });
    await store.createIndex({ indexName: 'kept', dimension: 1 });
    const { database } = openDatabase(connection);
    const controller = new AbortController();
    const work = database.transaction(
      async (query) => {
        await query(`INSERT INTO "${schemaName}".kept (id, embedding, metadata) VALUES ('x', '[1]', '{}')`);
        await query('SELECT pg_sleep(60)');
      },
      { signal: controller.signal },
    );
    await expect.poll(activity).toHaveLength(1);
    controller.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
    await expect.poll(activity).toHaveLength(0);
    expect(await store.describeIndex({ indexName: 'kept' })).toMatchObject({ count: 0 });
    await Promise.all([store.close(), database.close()]);
  });

  it('I10 waits no longer for a connection, and gives it back when it comes', async () => {
    const pool = new Pool({ connectionString: postgresUrl as string, max: 1 });
    const { database } = openDatabase({ pool });
    const holder = await pool.connect();
    const waiting = database.query('SELECT 1', [], AbortSignal.timeout(50));
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    holder.release();
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await expect.poll(() => [pool.idleCount, pool.waitingCount]).toEqual([1, 0]);
    await pool.end();
  });
});

describe('the pool of a store', () => {
  it('is the one that was given, and PGlite has none', async () => {
    const pool = new Pool();
    expect(new PgVector({ pool }).pool).toBe(pool);
    const store = new PgVector(await pglite.open());
    expect(() => store.pool).toThrow(expect.objectContaining({ code: 'VECTOR_ARGUMENT_INVALID' }));
    await pool.end();
  }, 60_000);

  it.skipIf(!server)('opens at its first use', async () => {
    const store = new PgVector({ id: 'pg-vector', connectionString: postgresUrl as string });
    expect((await store.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    const client = await store.pool.connect();
    client.release();
    await store.disconnect();
  });
});
