import { Socket } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';
import { Pool } from 'pg';
import { registerTypes, toSql } from 'pgvector/pg';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { expectError } from '../../../../../scripts/test-error.ts';
import { randomFrom } from '../../../../../scripts/test-random.ts';
import { type PgCreateIndexParams, type PgIndexDescription, PgVector, type PgVectorOptions } from './index.js';
import { databasesForTests } from './open-stores.fixture.js';

const { databases, pglite: inProcess, server, postgresUrl } = databasesForTests();

function pseudoRandom(count: number, dimension: number): number[][] {
  const random = randomFrom(1);
  return Array.from({ length: count }, () => Array.from({ length: dimension }, () => random() - 0.5));
}

it('settles a tie at the last place without comparing all rows', async () => {
  const { pglite, schemaName = '' } = (await inProcess.open()) as PgVectorOptions & { pglite: PGlite };
  await using store = new PgVector({ pglite, schemaName });
  await store.createIndex({ indexName: 'equal', dimension: 2 });
  const ids = Array.from({ length: 60 }, (_, n) => `m${n}`);
  await store.upsert({ indexName: 'equal', ids, vectors: ids.map(() => [1, 1]) });
  const query = { indexName: 'equal', queryVector: [1, 1], topK: 5 };
  await store.query(query);
  using statements = vi.spyOn(pglite, 'query');
  expect(await store.query(query)).toHaveLength(5);
  expect(statements).toHaveBeenCalledOnce();
  expect(await store.query({ ...query, exact: true })).toMatchObject(
    ['m0', 'm1', 'm10', 'm11', 'm12'].map((id) => ({ id })),
  );
});

describe.each(databases)('searching in $name', (database) => {
  const indexName = 'search';
  const count = 600;
  const vectors = pseudoRandom(count, 8);
  let store: PgVector;
  beforeAll(async () => {
    store = new PgVector(await database.open());
    await store.createIndex({ indexName, dimension: 8 });
    await store.upsert({
      indexName,
      vectors,
      ids: vectors.map((_, n) => String(n).padStart(4, '0')),
      metadata: vectors.map((_, n) => ({ n, rare: n % 100 === 0, text: n % 2 === 0 ? 'Größe' : 'size' })),
    });
  });

  it('finds the requested number of results with any filter', async () => {
    const queryVector = vectors[3] as number[];
    for (const filter of [
      undefined,
      { rare: true },
      { n: { $lt: 300 } },
      { text: { $contains: 'GRÖSSE'.slice(0, 3) } },
    ]) {
      const exact = await store.query({ indexName, queryVector, topK: 60, filter, exact: true });
      expect(await store.query({ indexName, queryVector, topK: 60, filter })).toHaveLength(exact.length);
      expect(exact).toHaveLength(filter?.rare === true ? 6 : 60);
    }
  });

  it('post-filters patterns without losing any', async () => {
    const found = await store.query({
      indexName,
      queryVector: vectors[0] as number[],
      topK: 500,
      filter: { text: { $regex: '^GRÖ', $options: 'i' } },
    });
    expect(found).toHaveLength(300);
    await store.updateVector({ indexName, filter: { text: /^siz/ }, update: { metadata: { text: 'changed' } } });
    expect((await store.listVectors({ indexName, filter: { text: 'changed' } })).records).toHaveLength(300);
  });

  it('puts equal ones in order by id, also where a pattern lets few of them through', async () => {
    const tied = 'tied';
    await store.createIndex({ indexName: tied, dimension: 2 });
    // The index keeps ten rows under one vector, and gives the last of them first.
    const nine = Array.from({ length: 9 }, (_, n) => `m${n}`);
    for (const ids of [['a'], nine, ['z']])
      await store.upsert({ indexName: tied, ids, vectors: ids.map(() => [1, 1]), metadata: ids.map((id) => ({ id })) });
    const query = { indexName: tied, queryVector: [1, 1], topK: 1, filter: { id: { $regex: '^[az]$' } } };
    expect((await store.query(query)).map(({ id }) => id)).toEqual(['a']);
  });

  it('leaves out scores that are not above minScore', async () => {
    const query = { indexName, queryVector: vectors[3] as number[], topK: 20 };
    const all = await store.query(query);
    const limit = all[9]?.score as number;
    expect(await store.query({ ...query, minScore: limit })).toEqual(all.slice(0, 9));
    // They are left out before diverse results are selected, so these are as many as wanted.
    const diverse = await store.query({ ...query, topK: 5, minScore: limit, mmr: { lambda: 0.1 } });
    expect(diverse).toHaveLength(5);
    for (const { score } of diverse) expect(score).toBeGreaterThan(limit);
  });

  it('takes ef and probes, as integers only', async () => {
    expect(store.databaseConfigKey).toBe('pgvector');
    const query = { indexName, queryVector: vectors[3] as number[] };
    expect(await store.query({ ...query, ef: 200, probes: 3 })).toHaveLength(10);
    for (const params of [{ ef: 0 }, { ef: 1.5 }, { options: { probes: '1; DROP TABLE x' as unknown as number } }]) {
      for (const exact of [false, true]) {
        const bad = store.query({ ...query, exact, ...params });
        await expectError(bad, 'OPTIONS_INVALID');
      }
    }
  });

  it.each([
    ['hnsw', 2500, 'hnsw'],
    ['hnsw', 4001, 'flat'],
  ] as const)('describes its index: %s of %d dimensions is %s', async (_wanted, dimension, type) => {
    const wide = `wide${dimension}`;
    await store.createIndex({ indexName: wide, dimension });
    expect(await store.describeIndex({ indexName: wide })).toMatchObject({ type, dimension, vectorType: 'vector' });
    const rows = pseudoRandom(30, dimension);
    await store.upsert({ indexName: wide, vectors: rows, ids: rows.map((_, n) => `w${n}`) });
    const [best] = await store.query({ indexName: wide, queryVector: rows[7] as number[], topK: 1 });
    expect(best).toMatchObject({ id: 'w7', score: expect.closeTo(1, 5) });
  });

  it('builds ivfflat over data, and not before', async () => {
    await store.createIndex({ indexName: 'lists', dimension: 8, indexConfig: { type: 'ivfflat' } });
    await expectError(
      store.buildIndex({ indexName: 'lists', indexConfig: { type: 'ivfflat' } }),
      'VECTOR_INDEX_TOO_EARLY',
    );
    await store.upsert({ indexName: 'lists', vectors, ids: vectors.map((_, n) => `v${n}`) });
    await store.buildIndex({ indexName: 'lists', indexConfig: { type: 'ivfflat', ivf: { lists: 10 } } });
    expect(await store.describeIndex({ indexName: 'lists' })).toMatchObject({ type: 'ivfflat', config: { lists: 10 } });
    const [best] = await store.query({ indexName: 'lists', queryVector: vectors[5] as number[], topK: 3 });
    expect(best?.id).toBe('v5');
    await store.updateVector({ indexName: 'lists', id: 'v99', update: { metadata: { rare: true } } });
    const rare = { indexName: 'lists', queryVector: vectors[5] as number[], filter: { rare: true } };
    expect((await store.query(rare)).map(({ id }) => id)).toEqual(['v99']);
  });

  it('rebuilds an existing index with another configuration only when asked to', async () => {
    const indexName = 'reconfigured';
    const create = (params: Partial<PgCreateIndexParams> = {}): Promise<void> =>
      store.createIndex({ indexName, dimension: 2, ...params });
    await create({ indexConfig: { hnsw: { m: 8 } } });
    // Calls that ask for nothing else keep the index.
    for (const same of [
      {},
      { indexConfig: { type: 'hnsw' as const } },
      { indexConfig: { hnsw: { m: 8, efConstruction: 64 } } },
    ])
      await create(same);
    for (const other of [{ hnsw: { m: 32 } }, { type: 'flat' as const }, { type: 'ivfflat' as const }])
      await expectError(create({ indexConfig: other }), 'VECTOR_INDEX_CONFIG_MISMATCH', 'buildIndex: true');
    await expectError(create({ vectorType: 'halfvec' }), 'VECTOR_INDEX_CONFIG_MISMATCH');
    expect(await store.describeIndex({ indexName })).toMatchObject({ type: 'hnsw', config: { m: 8 } });
    await create({ indexConfig: { hnsw: { m: 32 } }, buildIndex: true });
    expect(await store.describeIndex({ indexName })).toMatchObject({ type: 'hnsw', config: { m: 32 } });
    await create({ indexConfig: { type: 'flat' }, buildIndex: true });
    expect(await store.describeIndex({ indexName })).toMatchObject({ type: 'flat' });
    // An index whose build is still to come is not another one.
    await create({ indexConfig: { type: 'hnsw' }, buildIndex: false });
    await create({ indexConfig: { type: 'ivfflat' } });
  });

  it('rebuilds the type that an index was created with, and never another one', async () => {
    const indexName = 'typed';
    const describe = (): Promise<PgIndexDescription> => store.describeIndex({ indexName });
    await store.createIndex({ indexName, dimension: 8, indexConfig: { type: 'ivfflat' } });
    await expectError(store.buildIndex({ indexName }), 'VECTOR_INDEX_TOO_EARLY');
    await store.upsert({ indexName, vectors, ids: vectors.map((_, n) => `v${n}`) });
    await store.buildIndex({ indexName });
    expect(await describe()).toMatchObject({ type: 'ivfflat', config: { lists: 1 }, language: 'auto' });
    await store.buildIndex({ indexName, indexConfig: { type: 'flat' } });
    await store.buildIndex({ indexName });
    expect(await describe()).toMatchObject({ type: 'flat' });
    await store.createIndex({ indexName, dimension: 8, indexConfig: { type: 'hnsw' }, buildIndex: false });
    await store.buildIndex({ indexName });
    expect(await describe()).toMatchObject({ type: 'hnsw', config: {} });
    await store.buildIndex({ indexName, indexConfig: { hnsw: { m: 8 } } });
    await store.buildIndex({ indexName });
    expect(await describe()).toMatchObject({ type: 'hnsw', config: { m: 8 } });
  });

  it('stores numbers of 16 bits on request', async () => {
    const half = 'half';
    await store.createIndex({ indexName: half, dimension: 8, vectorType: 'halfvec' });
    expect(await store.describeIndex({ indexName: half })).toMatchObject({ type: 'hnsw', vectorType: 'halfvec' });
    const ids = vectors.slice(0, 50).map((_, n) => `h${n}`);
    await store.upsert({ indexName: half, ids, vectors: vectors.slice(0, 50), documents: ids });
    await store.updateVector({ indexName: half, id: 'h1', update: { vector: [1, 1, 1, 1, 1, 1, 1, 0.1] } });
    const query = { indexName: half, queryVector: [1, 1, 1, 1, 1, 1, 1, 0.1], topK: 1, includeVector: true };
    for (const found of [
      await store.query(query),
      await store.query({ ...query, exact: true }),
      await store.query({ ...query, mode: 'hybrid', queryText: 'h1' }),
    ]) {
      expect(found).toMatchObject([{ id: 'h1', score: expect.closeTo(1, 4) }]);
      expect(found[0]?.vector?.[7]).toBeCloseTo(0.1, 3);
    }
  });

  // I01 I02
  it('refuses names that are not plain, and keeps case and dashes apart', async () => {
    for (const name of ['x"; DROP TABLE y; --', 'ä', '', 'a'.repeat(53), 'a\0b']) {
      await expectError(store.createIndex({ indexName: name, dimension: 1 }), 'OPTIONS_INVALID');
      const config = { pool: {} } as unknown as PgVectorOptions;
      expect(() => new PgVector({ ...config, schemaName: name.padEnd(64, name) })).toThrow('schema');
    }
    expect(() => new PgVector({ pool: {} as Pool, schemaName: 'pg_catalog' })).toThrow('schema');
    await store.createIndex({ indexName: 'Select', dimension: 1 });
    await store.createIndex({ indexName: 'select', dimension: 2 });
    expect(await store.describeIndex({ indexName: 'Select' })).toMatchObject({ dimension: 1 });
  });

  // I03
  it('keeps two tenants apart that use the same index name', async () => {
    const other = new PgVector(await database.open());
    await other.createIndex({ indexName, dimension: 8 });
    expect(await other.query({ indexName, queryVector: vectors[0] as number[] })).toEqual([]);
    expect(await store.describeIndex({ indexName })).toMatchObject({ count });
  });

  // I06
  it('does not store a batch with one invalid row', async () => {
    const bad = store.upsert({
      indexName,
      ids: ['good', 'bad'],
      vectors: vectors.slice(0, 2),
      metadata: [{}, { text: 'a\0b' }],
    });
    await expectError(bad, 'OPTIONS_INVALID');
    expect(await store.get({ indexName, ids: ['good'] })).toEqual([]);
  });
});

describe.skipIf(!server)('PgVector on a server', () => {
  const open = async (): Promise<PgVectorOptions> => (await server?.open()) as PgVectorOptions;

  // I04
  it('creates one index from fifty calls at once through two pools', async () => {
    const { schemaName = '' } = await open();
    const stores = [1, 2].map(() => new PgVector({ connectionString: postgresUrl, schemaName, max: 5 }));
    const calls = Array.from({ length: 50 }, (_, n) => stores[n % 2]?.createIndex({ indexName: 'one', dimension: 3 }));
    await Promise.all(calls);
    expect(await stores[0]?.listIndexes()).toEqual(['one']);
    await Promise.all(stores.map((store) => store.close()));
  });

  // I07
  it('finishes a hundred queries on two connections and leaks none', async () => {
    const pool = new Pool({ connectionString: postgresUrl, max: 2 });
    const { schemaName = '' } = await open();
    const store = new PgVector({ pool, schemaName });
    await store.createIndex({ indexName: 'busy', dimension: 2 });
    await store.upsert({ indexName: 'busy', vectors: [[1, 2]] });
    const query = { indexName: 'busy', queryVector: [1, 0], filter: { a: null } };
    const results = await Promise.all(Array.from({ length: 100 }, () => store.query(query)));
    expect(results.every((found) => found.length === 1)).toBe(true);
    expect([pool.totalCount, pool.idleCount, pool.waitingCount]).toEqual([2, 2, 0]);
    await store.close();
    expect((await pool.query('SELECT 1 AS alive')).rows).toEqual([{ alive: 1 }]);
    await pool.end();
  });

  it('shares tables and a pool with the pgvector package', async () => {
    const pool = new Pool({ connectionString: postgresUrl, max: 1 });
    const client = await pool.connect();
    await registerTypes(client);
    client.release();
    const { schemaName = '' } = await open();
    const store = new PgVector({ pool, schemaName });
    await store.createIndex({ indexName: 'shared', dimension: 3 });
    await store.upsert({
      indexName: 'shared',
      ids: ['a', 'b'],
      vectors: [
        [1, 2.5, -3e-5],
        [0, 0, 1],
      ],
    });
    const table = `"${schemaName}"."shared"`;
    const { rows } = await pool.query(`SELECT embedding FROM ${table} ORDER BY embedding <-> $1 LIMIT 1`, [
      toSql([0, 0, 2]),
    ]);
    expect(rows).toEqual([{ embedding: [0, 0, 1] }]);
    const found = await store.query({ indexName: 'shared', queryVector: [1, 2, 0], topK: 1, includeVector: true });
    expect(found).toMatchObject([{ id: 'a', vector: [1, 2.5, expect.closeTo(-3e-5, 9)] }]);
    await store.close();
    await pool.end();
  });

  it('runs hybrid queries at once on a single connection, with and without a signal', async () => {
    const pool = new Pool({ connectionString: postgresUrl, max: 1 });
    const { schemaName = '' } = await open();
    const store = new PgVector({ pool, schemaName });
    await store.createIndex({ indexName: 'single', dimension: 2 });
    await store.upsert({ indexName: 'single', ids: ['a'], vectors: [[1, 2]], documents: ['cats'] });
    const query = { indexName: 'single', queryVector: [1, 0], queryText: 'cats', filter: { a: null } };
    const { signal } = new AbortController();
    const queries = [{}, { signal }, {}, { signal }].map((more) => store.query({ ...query, ...more, mode: 'hybrid' }));
    for (const found of await Promise.all(queries)) expect(found).toMatchObject([{ id: 'a', score: 1 }]);
    await pool.end();
  });

  // I08
  it('answers again after its connections were ended by the server', async () => {
    const { schemaName = '' } = await open();
    const store = new PgVector({
      connectionString: postgresUrl,
      schemaName,
      pgPoolOptions: { application_name: schemaName },
    });
    await store.createIndex({ indexName: 'kept', dimension: 1 });
    await server?.pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
      schemaName,
    ]);
    await expect.poll(() => store.listIndexes()).toEqual(['kept']);
    await store.close();
  });

  // I09
  it('reads with a role that may do nothing else', async () => {
    const { schemaName = '' } = await open();
    const owner = new PgVector({ connectionString: postgresUrl, schemaName });
    await owner.createIndex({ indexName: 'readable', dimension: 1 });
    await owner.upsert({ indexName: 'readable', ids: ['x'], vectors: [[1]], metadata: [{ a: 1 }] });
    const role = `reader_${schemaName}`;
    await server?.pool.query(
      `CREATE ROLE "${role}" LOGIN; GRANT USAGE ON SCHEMA "${schemaName}" TO "${role}"; GRANT SELECT ON ALL TABLES IN SCHEMA "${schemaName}" TO "${role}"`,
    );
    const url = new URL(postgresUrl);
    url.username = role;
    const reader = new PgVector({ connectionString: url.href, schemaName });
    expect(await reader.query({ indexName: 'readable', queryVector: [1], filter: { a: 1 } })).toMatchObject([
      { id: 'x' },
    ]);
    expect(await reader.describeIndex({ indexName: 'readable' })).toMatchObject({ count: 1 });
    await expect(reader.deleteVector({ indexName: 'readable', id: 'x' })).rejects.toMatchObject({
      code: 'VECTOR_STORE_FAILED',
      details: { sqlState: '42501' },
    });
    await Promise.all([owner.close(), reader.close()]);
    await server?.pool.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
  });

  it.each([
    [{}],
    [{ connectionString: '' }],
    [{ host: '' }],
    [{ host: 'a', connectionString: 'b' }],
    [{ connectionString: 'b', password: 'c' }],
    [{ pool: {} as Pool, database: 'c' }],
    [{ pool: {} as Pool, connectionString: 'b' }],
    [{ pglite: {} as never, max: 5 }],
  ])('rejects the connection options %j', (options) => {
    expectError(() => new PgVector(options), 'OPTIONS_INVALID');
  });

  it('connects by a client configuration without a host', async () => {
    const { hostname, port, username: user, pathname } = new URL(postgresUrl);
    const stream = (): Socket => {
      const socket = new Socket();
      const connect = socket.connect.bind(socket) as (port: number, host: string) => Socket;
      // As a connector of Cloud SQL: the address that pg asks for does not count.
      socket.connect = (() => connect(Number(port), hostname)) as Socket['connect'];
      return socket;
    };
    await using store = new PgVector({ stream, user, password: async () => '', database: pathname.slice(1) });
    expect(await store.listIndexes()).toEqual(expect.any(Array));
  });

  it('says that a server is down', async () => {
    const store = new PgVector({ connectionString: 'postgres://nobody:secret-word@127.0.0.1:1/none' });
    const error: unknown = await store.query({ indexName: 'x', queryVector: [1] }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'VECTOR_STORE_FAILED', cause: expect.anything() });
    expect(String(error)).not.toContain('secret-word');
    await store.close();
  });
});
