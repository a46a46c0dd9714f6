import { randomUUID } from 'node:crypto';
import { describeSharedStore } from '@quiver/devtools/stores';
import { Pool } from 'pg';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { readTestVariable } from '../../../../../scripts/test-variable.ts';
import { errorOf } from '../../../test/error-of.ts';
import { eventually } from '../../../test/eventually.ts';
import { startFaultProxy } from '../../../test/stores/fault-proxy.ts';
import { PostgresStore, type PostgresStoreOptions } from './index.js';
import type { PostgresClient, PostgresResult } from './pool.js';
import { writeStatements } from './statements.js';
import { nameTables } from './tables.js';

const url = readTestVariable('QUIVER_POSTGRES_URL');

const schemaName = `test_${randomUUID().replaceAll('-', '').slice(0, 16)}`;

describe.skipIf(!url)('PostgresStore', () => {
  const pool = new Pool({ connectionString: url });
  const stores: PostgresStore[] = [];
  const open = (options: Partial<PostgresStoreOptions> = {}): PostgresStore => {
    const store = new PostgresStore({ pool, schemaName, tablePrefix: 'own_', ...options });
    stores.push(store);
    return store;
  };
  const openThrough = (port: number, options: Partial<PostgresStoreOptions> = {}): PostgresStore => {
    const address = new URL(url ?? '');
    address.port = String(port);
    return open({ pool: undefined, connectionString: address.href, ...options });
  };
  const startProxy = (): ReturnType<typeof startFaultProxy> => startFaultProxy(Number(new URL(url ?? '').port || 5432));

  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });
  afterAll(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS "${schemaName}" CASCADE`);
    await pool.end();
  });

  describeSharedStore({
    name: 'PostgresStore with a pool',
    create: () => new PostgresStore({ pool, schemaName, tablePrefix: 'pool_' }),
    createUnavailable: () => new PostgresStore({ connectionString: 'postgres://127.0.0.1:1/none' }),
  });
  describeSharedStore({
    name: 'PostgresStore with a connection string',
    create: () => new PostgresStore({ connectionString: url, schemaName, tablePrefix: 'url_' }),
  });

  it('creates the schema and tables once when many start together', async () => {
    const tables = { schemaName: `${schemaName}_new`, tablePrefix: 'many_' };
    try {
      await Promise.all(Array.from({ length: 8 }, () => open(tables).get('x')));
      const { rows } = await pool.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [tables.schemaName]);
      expect(rows.map(({ tablename }) => String(tablename)).toSorted()).toEqual(
        ['buckets', 'entries', 'logs', 'messages', 'records'].map((table) => `many_${table}`),
      );
      const indexes = await pool.query('SELECT 1 FROM pg_indexes WHERE schemaname = $1', [tables.schemaName]);
      expect(indexes.rows).toHaveLength(9);
    } finally {
      await pool.query(`DROP SCHEMA IF EXISTS "${tables.schemaName}" CASCADE`);
    }
  });

  it('uses existing tables with a role that may not create any', async () => {
    await open().put('shared', 'x');
    const role = `${schemaName}_reader`;
    await pool.query(`
      CREATE ROLE "${role}" LOGIN; GRANT USAGE ON SCHEMA "${schemaName}" TO "${role}";
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schemaName}" TO "${role}"`);
    try {
      const address = new URL(url ?? '');
      address.username = role;
      const store = open({ pool: undefined, connectionString: address.href });
      expect((await store.get('shared'))?.value).toBe('x');
      expect(await store.put('new', 'y')).toBeGreaterThan(0);
      await store.publish('channel', 'x');
      await expect(
        open({ pool: undefined, connectionString: address.href, tablePrefix: 'none_' }).get('x'),
      ).rejects.toThrow(errorOf('SHARED_STORE_UNAVAILABLE', 'permission'));
      await store.close();
    } finally {
      await pool.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
    }
  });

  it.each<[string, Record<string, unknown>]>([
    ['no connection', { pool: undefined }],
    ['two connections', { connectionString: 'postgres://localhost' }],
    ['an empty connection string', { pool: undefined, connectionString: '' }],
    ['a client in place of a pool', { pool: {} }],
    ['a pool of one connection', { pool: new Pool({ max: 1 }) }],
    ['a schema with a quote', { schemaName: 'a"; DROP TABLE x; --' }],
    ['an empty prefix', { tablePrefix: '' }],
    ['long names', { schemaName: 'a'.repeat(40), tablePrefix: 'b'.repeat(20) }],
    ['a negative timeout', { timeout: -1 }],
  ])('rejects %s', (_kind, options) => {
    expect(() => new PostgresStore({ pool, ...options } as PostgresStoreOptions)).toThrow(errorOf('OPTIONS_INVALID'));
  });

  it('leaves the pool of the application open, without listeners of its own', async () => {
    const store = open();
    const before = pool.listenerCount('error');
    await store.subscribe('channel', () => {});
    await store.close();
    expect(pool.listenerCount('error')).toBe(before - 1);
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  it('opens no connection for a subscription that begins before the store is closed', async () => {
    const own = new Pool({ connectionString: url });
    const store = open({ pool: own });
    const subscribing = store.subscribe('channel', () => {});
    await Promise.all([expect(subscribing).rejects.toMatchObject({ code: 'SHARED_STORE_CLOSED' }), store.close()]);
    expect(own.totalCount - own.idleCount).toBe(0);
    await own.end();
  });

  it('receives the messages that were published while its connection was interrupted, in order', async () => {
    const proxy = await startProxy();
    const listener = openThrough(proxy.port);
    const sender = open();
    const received: string[] = [];
    await listener.subscribe('channel', (message) => received.push(message));
    await sender.publish('channel', '1');
    await eventually(() => expect(received).toEqual(['1']));
    // The next bytes of the server end the connection: the notification of the message.
    proxy.setFault({ kind: 'reset' });
    for (const message of ['2', '3', '4']) await sender.publish('channel', message);
    proxy.setFault({ kind: 'none' });
    await eventually(() => expect(received).toEqual(['1', '2', '3', '4']));
    await sender.publish('channel', '5');
    await eventually(() => expect(received).toEqual(['1', '2', '3', '4', '5']));
  });

  it('survives the end of all its connections', async () => {
    const name = `${schemaName}_ended`;
    const address = new URL(url ?? '');
    address.searchParams.set('application_name', name);
    const store = open({ pool: undefined, connectionString: address.href });
    const received: string[] = [];
    await store.subscribe('channel', (message) => received.push(message));
    await store.put('x', 'before');
    await pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [name]);
    // The pool may give out a connection before it has noticed that it ended.
    await eventually(async () => expect((await store.get('x'))?.value).toBe('before'));
    await eventually(() => store.publish('channel', 'after'));
    await eventually(() => expect(received).toContain('after'));
  });

  it('fails in time when the server does not answer', async () => {
    const proxy = await startProxy();
    const store = openThrough(proxy.port, { timeout: 300 });
    await eventually(() => store.put('x', 'x'));
    proxy.setFault({ kind: 'half-open' });
    for (const call of [() => store.get('x'), () => store.publish('x', 'x'), () => store.subscribe('x', () => {})])
      await expect(call()).rejects.toMatchObject({ code: 'SHARED_STORE_UNAVAILABLE' });
    proxy.setFault({ kind: 'none' });
    await eventually(async () => expect((await store.get('x'))?.value).toBe('x'));
  });

  it('reports a full disk', async () => {
    const store = open({ tablePrefix: 'full_' });
    await store.put('x', 'x');
    // A server reports it in the same way.
    await pool.query(`
      CREATE FUNCTION "${schemaName}".full_disk() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER full_disk BEFORE INSERT ON "${schemaName}".full_records
        FOR EACH ROW EXECUTE FUNCTION "${schemaName}".full_disk()`);
    await expect(store.put('y', 'y')).rejects.toMatchObject({ code: 'SHARED_STORE_FULL' });
    expect((await store.get('x'))?.value).toBe('x');
  });

  it('reads few rows of large tables', async () => {
    await open({ tablePrefix: 'large_' }).publish('channel', 'x');
    const tables = nameTables(schemaName, 'large_');
    const { append, read, receive, get } = writeStatements(tables);
    await pool.query(`
      INSERT INTO ${tables.entries} SELECT 'log ' || n % 100, n, '' FROM generate_series(1, 10000) AS n;
      INSERT INTO ${tables.logs} SELECT 'log ' || n, 1, 10000, 'infinity' FROM generate_series(0, 9999) AS n;
      INSERT INTO ${tables.records} SELECT 'key ' || n, '', 1, 'infinity' FROM generate_series(1, 10000) AS n;
      INSERT INTO ${tables.messages} (channel, message) SELECT 'channel ' || n % 100, '' FROM generate_series(1, 10000) AS n;
      ANALYZE ${tables.entries}, ${tables.logs}, ${tables.records}, ${tables.messages}`);
    const calls: [string, unknown[]][] = [
      [append, ['log 7', 'x', 60_000, 100]],
      [read, ['log 7', '9000']],
      [receive, ['9990', ['channel 7'], 100]],
      [get, ['key 7']],
    ];
    for (const [statement, values] of calls) {
      const { rows } = await pool.query(`EXPLAIN ${statement}`, values);
      const plan = rows.map((row) => String((row as Record<string, unknown>)['QUERY PLAN'])).join('\n');
      expect(plan).not.toMatch(/Seq Scan on (large|\w+\.large)/);
    }
  });

  it('refills a bucket from the new time of a server whose clock was set back', async () => {
    const store = open({ tablePrefix: 'back_' });
    const bucket = { capacity: 2, perSecond: 1_000 };
    expect(await store.take('back', 2, { ...bucket, perSecond: 1e-3 })).toBe(0);
    await pool.query(`UPDATE "${schemaName}"."back_buckets" SET time = time + interval '1 hour'`);
    await eventually(async () => expect(await store.take('back', 2, bucket)).toBe(0));
  });

  it('removes rows that have ended', async () => {
    const first = open({ tablePrefix: 'swept_' });
    await first.put('ended', 'x', { ttlMs: 1 });
    await first.put('kept', 'x');
    await first.append('ended', 'x', { ttlMs: 1 });
    await first.take('full', 1, { capacity: 1, perSecond: 1e6 });
    await eventually(async () =>
      expect([await first.get('ended'), await first.read('ended')]).toEqual([undefined, []]),
    );
    // Its own removal may still run, and one at a time does it.
    await first.close();
    // The first write of a store removes them in the background.
    const second = open({ tablePrefix: 'swept_' });
    await second.put('other', 'x');
    await second.close();
    const rowsOf = async (table: string): Promise<unknown[]> =>
      (await pool.query(`SELECT * FROM "${schemaName}"."swept_${table}"`)).rows;
    expect((await rowsOf('records')).map((row) => (row as { key: string }).key).toSorted()).toEqual(['kept', 'other']);
    for (const table of ['logs', 'entries', 'buckets']) expect(await rowsOf(table), table).toEqual([]);
  });
});

it('keeps the process alive while the connection of a listener is interrupted', async () => {
  let end = (): void => {};
  const query = async (text: string): Promise<PostgresResult> => ({
    rows: text.includes('to_regclass') ? [{ schema: true, messages: true }] : [{ top: '0', id: null }],
  });
  const on = (event: string, listener: () => void): void => void (event === 'end' && (end = listener));
  const client = { query, on: on as PostgresClient['on'], release() {} };
  const store = new PostgresStore({ pool: { query, connect: async () => client, on() {}, removeListener() {} } });
  await store.subscribe('channel', () => {});
  const setTimeout = vi.spyOn(globalThis, 'setTimeout');
  end();
  expect(setTimeout.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([true]);
  setTimeout.mockRestore();
  await store.close();
});
