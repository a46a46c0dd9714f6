import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTestVariable } from '../../../../../scripts/test-variable.ts';
import { MDocument } from '../../document/document.js';
import { createLexicalEmbedder } from '../../embedding/index.js';
import { ingest } from '../../ingest/ingest.js';
import { PgVector } from './index.js';

const postgresUrl = readTestVariable('QUIVER_POSTGRES_URL');
const run = promisify(execFile);
const installed = '/usr/lib/postgresql';
const [version] = existsSync(installed) ? readdirSync(installed).toSorted().toReversed() : [];
const isRoot = process.getuid?.() === 0;

/** A cluster of this test alone, which listens on a socket in its own folder. */
describe.skipIf(version === undefined || !isRoot || postgresUrl === undefined)('a server that restarts', () => {
  let folder: string;
  // PostgreSQL refuses to run as root.
  const postgres = (program: string, ...args: string[]): Promise<unknown> =>
    run('setpriv', [
      '--reuid=postgres',
      '--regid=postgres',
      '--init-groups',
      `${installed}/${version}/bin/${program}`,
      ...args,
    ]);
  const control = (...args: string[]): Promise<unknown> =>
    postgres('pg_ctl', '-D', join(folder, 'data'), '-l', join(folder, 'log'), '-w', ...args);
  const settings = `-c listen_addresses='' -c fsync=off`;

  beforeAll(async () => {
    // Not the folder of the tests, which only their user may enter.
    folder = await mkdtemp('/tmp/quiver-restart-');
    await run('chown', ['postgres', folder]);
    await postgres('initdb', '-D', join(folder, 'data'), '-A', 'trust', '--no-sync');
    await control('-o', `${settings} -k ${folder}`, 'start');
  });
  afterAll(async () => {
    await control('-m', 'immediate', 'stop').catch(() => {});
    await rm(folder, { recursive: true, force: true });
  });

  it('does not end an ingestion that is under way', async () => {
    await using store = new PgVector({ host: folder, user: 'postgres', database: 'postgres' });
    const documents = Array.from({ length: 40 }, (_, n) =>
      MDocument.fromText(`Text ${n} of many.`, { source: String(n) }),
    );
    let calls = 0;
    let restarting: Promise<unknown> | undefined;
    const embedder = createLexicalEmbedder();
    const failures: unknown[] = [];
    const upsert = store.upsert.bind(store);
    store.upsert = async (params) => {
      // The ingestion does not wait for the server.
      if ((calls += 1) === 3) restarting = control('-m', 'immediate', 'restart');
      return upsert(params).catch((error: unknown) => {
        failures.push(error);
        throw error;
      });
    };
    await ingest({ documents, vectorStore: store, indexName: 'docs', model: embedder, batchSize: 1, maxRetries: 8 });
    await restarting;
    expect(failures.length).toBeGreaterThan(0);
    expect(await store.describeIndex({ indexName: 'docs' })).toMatchObject({ count: documents.length });
  });

  it.each([
    ['stops at once', ['-m', 'immediate', 'restart']],
    ['ends its connections', ['-m', 'fast', 'restart']],
  ])('fails a statement with a transient error when it %s', async (_what, args) => {
    await using store = new PgVector({ host: folder, user: 'postgres', database: 'postgres' });
    const locking = await store.pool.connect();
    await locking.query('BEGIN; LOCK TABLE docs IN ACCESS EXCLUSIVE MODE');
    locking.on('error', () => {});
    const waiting = store.describeIndex({ indexName: 'docs' }).catch((error: unknown) => error);
    await expect.poll(async () => (await locking.query('SELECT FROM pg_locks WHERE NOT granted')).rows).toHaveLength(1);
    await control(...args);
    locking.release(true);
    expect(await waiting).toMatchObject({ code: 'VECTOR_STORE_FAILED', details: { isTransient: true } });
    expect(await store.listIndexes()).toEqual(['docs']);
  });
});
