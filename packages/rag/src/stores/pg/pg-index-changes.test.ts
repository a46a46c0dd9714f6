import { Pool } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../../../../../scripts/test-error.ts';
import { randomFrom } from '../../../../../scripts/test-random.ts';
import { buildIndex } from './build-index.js';
import { openDatabase } from './database.js';
import { PgVector, type PgVectorOptions } from './index.js';
import { databasesForTests } from './open-stores.fixture.js';
import { type ExistingIndex, readExtension, readIndex } from './pg-index.js';

const { databases, server, postgresUrl } = databasesForTests();

describe.each(databases)('an index in $name', (database) => {
  let store: PgVector;
  beforeAll(async () => {
    store = new PgVector(await database.open());
  });

  it.each([
    ['half', 4, 'halfvec'],
    ['binary', 4001, 'bit'],
  ] as const)(
    'holds %s numbers, and orders the nearest records by the vectors',
    async (quantization, dimension, elements) => {
      const indexName = `quantized_${quantization}`;
      const indexConfig = { quantization };
      const vector = (x: number): number[] => [x, 1 - x, ...Array.from({ length: dimension - 2 }, () => 0.001)];
      await store.createIndex({ indexName, dimension, indexConfig });
      const ids = ['a', 'b', 'c', 'd'];
      await store.upsert({ indexName, ids, vectors: [0.9, 0.1, 0.8, 0.5].map(vector) });
      expect(await store.describeIndex({ indexName })).toMatchObject({ type: 'hnsw', elements });
      const found = await store.query({ indexName, queryVector: vector(1), topK: 3 });
      expect(found.map(({ id }) => id)).toEqual(['a', 'c', 'd']);
      await store.createIndex({ indexName, dimension, indexConfig });
      await store.buildIndex({ indexName, metric: 'cosine' });
      await expectError(
        store.buildIndex({ indexName, metric: 'euclidean' }),
        'VECTOR_VALIDATE_INDEX_DIMENSION_MISMATCH',
      );
      expect(await store.describeIndex({ indexName })).toMatchObject({ elements });
    },
  );

  it('gets other numbers only by a rebuild', async () => {
    const params = { indexName: 'requantized', dimension: 4, indexConfig: { quantization: 'half' } } as const;
    await store.createIndex({ ...params, indexConfig: { type: 'hnsw' } });
    await expectError(store.createIndex(params), 'VECTOR_INDEX_CONFIG_MISMATCH');
    await store.createIndex({ ...params, buildIndex: true });
    expect(await store.describeIndex({ indexName: 'requantized' })).toMatchObject({ elements: 'halfvec' });
  });

  it('is compared with the type that the parameters of indexConfig imply', async () => {
    const indexName = 'implied';
    const params = { indexName, dimension: 4 };
    await store.createIndex({ ...params, buildIndex: false });
    for (const indexConfig of [{ hnsw: { m: 8 } }, { quantization: 'half' }] as const)
      await expectError(store.createIndex({ ...params, indexConfig }), 'VECTOR_INDEX_CONFIG_MISMATCH');
    await store.createIndex({ ...params, indexConfig: { ivf: { lists: 1 } } });
    await store.upsert({ indexName, vectors: Array.from({ length: 50 }, (_, n) => [1, n, 0, 0]) });
    await store.buildIndex({ indexName });
    expect(await store.describeIndex({ indexName })).toMatchObject({ type: 'ivfflat' });
    const changed = { ...params, indexConfig: { hnsw: { m: 8 } } };
    await expectError(store.createIndex(changed), 'VECTOR_INDEX_CONFIG_MISMATCH');
    await store.createIndex({ ...changed, buildIndex: true });
    expect(await store.describeIndex({ indexName })).toMatchObject({ type: 'hnsw', config: { m: 8 } });
  });

  it.each([
    [{ indexConfig: { type: 'ivfflat', hnsw: { m: 8 } } }, "'indexConfig.hnsw' is for the type hnsw, not ivfflat"],
    [{ indexConfig: { type: 'flat', ivf: { lists: 8 } } }, "'indexConfig.ivf' is for the type ivfflat, not flat"],
    [{ indexConfig: { hnsw: {}, ivf: {} } }, "'indexConfig.ivf' is for the type ivfflat, not hnsw"],
    [{ indexConfig: { quantization: 'int4' as never } }, "Unknown quantization 'int4'"],
    [{ indexConfig: { type: 'ivfflat', quantization: 'half' } }, 'for the type hnsw, not ivfflat'],
    [{ indexConfig: { quantization: 'binary' }, metric: 'euclidean' }, 'needs the metric cosine'],
    [{ indexConfig: { type: 'hnsw' }, dimension: 4001 }, "{ quantization: 'binary' }"],
  ] as const)('rejects %o', async (params, message) => {
    await expect(store.createIndex({ indexName: 'rejected', dimension: 4, ...params })).rejects.toThrow(message);
  });

  it('refuses names that something else has', async () => {
    for (const taken of ['a_vector_idx', 'a_words_idx']) {
      await store.createIndex({ indexName: taken, dimension: 1 });
      await expectError(store.createIndex({ indexName: 'a', dimension: 1 }), 'VECTOR_NAME_TAKEN', `'${taken}'`);
      await store.deleteIndex({ indexName: taken });
    }
    await store.createIndex({ indexName: 'a', dimension: 1 });
    for (const indexName of ['a_vector_idx', 'quiver_derived'])
      await expectError(store.createIndex({ indexName, dimension: 1 }), 'VECTOR_NAME_TAKEN');
  });

  it('explains a text or an id that PostgreSQL is too small for, and stores nothing', async () => {
    const indexName = 'limits';
    await store.createIndex({ indexName, dimension: 1 });
    const long = 'a-long-text '.repeat(100_000);
    const rich = Array.from({ length: 25_000 }, (_, n) => `${'word'.repeat(12)}${n.toString(36)}`).join(' ');
    const vectors = [[1], [1], [1]];
    const ids = ['fine', 'long', 'rich'];
    await store.upsert({ indexName, ids: ['fine', 'long'], vectors: [[1], [1]], documents: ['', long] });
    await store.truncateIndex({ indexName });
    const refused = (text: string): object => ({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining(text),
    });
    const upsert = store.upsert({ indexName, ids, vectors, documents: ['', long, rich] });
    await expect(upsert).rejects.toMatchObject(refused('different words'));
    const fromMetadata = store.upsert({ indexName, ids: ['m'], vectors: [[1]], metadata: [{ text: rich }] });
    await expect(fromMetadata).rejects.toMatchObject(refused('Split the text'));
    const random = randomFrom(1);
    const id = String.fromCharCode(...Array.from({ length: 5000 }, () => 33 + Math.floor(90 * random())));
    await expect(store.upsert({ indexName, ids: [id], vectors: [[1]] })).rejects.toMatchObject(refused('5000 bytes'));
    expect(await store.describeIndex({ indexName })).toMatchObject({ count: 0 });
    await store.upsert({ indexName, ids: ['a'], vectors: [[1]] });
    for (const choice of [{ id: 'a' }, { id: undefined, filter: { x: null } }]) {
      const update = { indexName, ...choice, update: { document: rich } } as Parameters<typeof store.updateVector>[0];
      await expect(store.updateVector(update)).rejects.toMatchObject(refused('different words'));
    }
    await expect(store.createIndex({ indexName: 'wide', dimension: 16_001 })).rejects.toMatchObject(refused('16000'));
  });

  it('returns no stale results while it is recreated repeatedly', async () => {
    const { pool, pglite, ...config } = await database.open();
    const indexName = 'restless';
    const maker = new PgVector({ ...config, ...(pool ? { pool } : { pglite }) } as PgVectorOptions);
    const makeAnew = async (): Promise<void> => {
      if ((await maker.listIndexes()).includes(indexName)) await maker.deleteIndex({ indexName });
      await maker.createIndex({ indexName, dimension: 1 });
      await maker.upsert({ indexName, vectors: [[1]] });
    };
    await makeAnew();
    const inner = (pool ?? pglite) as unknown as { query(statement: unknown, values?: unknown[]): Promise<never> };
    const query = async (statement: unknown, values?: unknown[]): Promise<never> => {
      if (JSON.stringify(statement).includes('table_oid')) await makeAnew();
      return inner.query(statement, values);
    };
    const restless = {
      ...config,
      ...(pool ? { pool: { query } } : { pglite: { query } }),
    } as unknown as PgVectorOptions;
    await expectError(new PgVector(restless).query({ indexName, queryVector: [1] }), 'VECTOR_INDEX_CHANGED');
  });

  // I01
  it('takes nothing from the comment of its table that it did not write', async () => {
    const config = await database.open();
    const mine = new PgVector(config);
    await mine.createIndex({ indexName: 'marked', dimension: 1 });
    const name = `"${config.schemaName}"."marked"`;
    const run = (sql: string): Promise<unknown> | undefined => (config.pool ?? config.pglite)?.query(sql);
    const words = ["cosine, words pg_catalog.x'' || (SELECT 1)", 'angle', "cosine, words a''b.c"];
    for (const comment of [...words.map((each) => `${each}, index hnsw`), 'cosine', 'cosine, index x']) {
      await run(`COMMENT ON TABLE ${name} IS 'quiver vectors, metric ${comment}'`);
      const fresh = new PgVector(config);
      const query = fresh.query({ indexName: 'marked', mode: 'keyword', queryText: 'tea' });
      await expectError(query, 'VECTOR_INDEX_NOT_FOUND');
    }
  });
});

describe.skipIf(!server)('an index on a server', () => {
  it('can be read and found while it is rebuilt', async () => {
    const { schemaName = '' } = (await server?.open()) ?? {};
    const indexName = 'rebuilt';
    const pool = new Pool({ connectionString: postgresUrl, lock_timeout: 500 });
    const store = new PgVector({ pool, schemaName });
    await store.createIndex({ indexName, dimension: 1 });
    await store.upsert({ indexName, ids: ['a'], vectors: [[1]] });
    const database = openDatabase({ connectionString: postgresUrl });
    const index = (await readIndex(database.query, schemaName, indexName)) as ExistingIndex;
    const extension = (await readExtension(database.query)) as ExistingIndex['extension'];
    const read: string[] = [];
    await database.transaction((query) => {
      const readAfter: typeof query = async (sql, values) => {
        const rows = await query(sql, values);
        if (!sql.startsWith('CREATE INDEX')) return rows;
        read.push(...(await store.query({ indexName, queryVector: [1] })).map(({ id }) => id));
        await expect(store.upsert({ indexName, vectors: [[1]] })).rejects.toMatchObject({
          details: { sqlState: '55P03' },
        });
        return rows;
      };
      const indexConfig = { hnsw: { m: 8 } };
      return buildIndex(readAfter, { ...index, extension }, { schemaName, indexName, indexConfig });
    });
    expect(read).toEqual(['a']);
    expect(await readIndex(database.query, schemaName, indexName)).toMatchObject({ type: 'hnsw', config: { m: 8 } });
    await store.buildIndex({ indexName, indexConfig: { type: 'flat' } });
    expect(await store.describeIndex({ indexName })).toMatchObject({ type: 'flat' });
    await Promise.all([pool.end(), database.close()]);
  });

  it('is kept by createIndex without waiting for locks and with the right to read', async () => {
    const { schemaName = '' } = (await server?.open()) ?? {};
    const owner = new PgVector({ connectionString: postgresUrl, schemaName });
    const params = { indexName: 'kept', dimension: 1, metadataIndexes: ['tenant', 'tenant'] };
    await owner.createIndex(params);
    const role = `creator_${schemaName}`;
    await owner.pool.query(
      `CREATE ROLE "${role}" LOGIN; GRANT USAGE ON SCHEMA "${schemaName}" TO "${role}"; GRANT SELECT ON ALL TABLES IN SCHEMA "${schemaName}" TO "${role}"`,
    );
    const url = new URL(postgresUrl);
    url.username = role;
    const reader = new PgVector({ connectionString: url.href, schemaName, pgPoolOptions: { lock_timeout: 2000 } });
    const writer = await owner.pool.connect();
    await writer.query(`BEGIN; LOCK TABLE "${schemaName}".kept IN ROW EXCLUSIVE MODE`);
    await reader.createIndex(params);
    await expectError(reader.createIndex({ ...params, metadataIndexes: ['year'] }), 'VECTOR_STORE_FAILED');
    await writer.query('ROLLBACK');
    writer.release();
    await owner.pool.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
    await Promise.all([reader.close(), owner.close()]);
  });
});
