import { existsSync, openAsBlob } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { Pool } from 'pg';
import { afterAll } from 'vitest';
import { readTestVariable } from '../../../../../scripts/test-variable.ts';
import type { PgVectorOptions } from './index.js';

export interface TestDatabase {
  readonly name: string;
  /** Options for a store in a schema that did not exist before. */
  open(): Promise<PgVectorOptions>;
  close(): Promise<void>;
}

let schemas = 0;

/** Each test has its own schema, which is also how tenants are separated. */
function nextSchema(): string {
  return `test_${process.pid}_${(schemas += 1)}`;
}

/** PostgreSQL inside this process. */
export function pgliteForTests(): TestDatabase {
  let pglite: Promise<PGlite> | undefined;
  return {
    name: 'PGlite',
    open: async () => {
      pglite ??= createPglite();
      return { pglite: await pglite, schemaName: nextSchema() };
    },
    close: async () => (await pglite)?.close(),
  };
}

/**
 * Creating a database costs two seconds of CPU time, opening a copy a quarter of that. The test files of one run share the first one,
 * in the temporary folder of the run.
 */
async function createPglite(): Promise<PGlite> {
  const template = join(tmpdir(), 'pglite.tar');
  if (existsSync(template)) return PGlite.create({ extensions: { vector }, loadDataDir: await openAsBlob(template) });
  const pglite = await PGlite.create({ extensions: { vector } });
  const own = `${template}.${process.pid}`;
  await writeFile(own, (await pglite.dumpDataDir('none')).stream());
  await rename(own, template);
  return pglite;
}

/** A server, usually that of `QUIVER_POSTGRES_URL`. */
export function postgresForTests(connectionString: string): TestDatabase & { readonly pool: Pool } {
  const pool = new Pool({ connectionString });
  const used: string[] = [];
  return {
    name: 'PostgreSQL',
    pool,
    open: async () => {
      const schemaName = nextSchema();
      used.push(schemaName);
      return { pool, schemaName };
    },
    close: async () => {
      for (const schema of used) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      await pool.end();
    },
  };
}

/** The databases of a test file, which are closed after its tests: PGlite, and the server of `QUIVER_POSTGRES_URL` if there is one. */
export function databasesForTests(): {
  readonly databases: readonly TestDatabase[];
  readonly pglite: TestDatabase;
  readonly server: ReturnType<typeof postgresForTests> | undefined;
  /** Of the server: empty without one. */
  readonly postgresUrl: string;
} {
  const postgresUrl = readTestVariable('QUIVER_POSTGRES_URL') ?? '';
  const server = postgresUrl === '' ? undefined : postgresForTests(postgresUrl);
  const pglite = pgliteForTests();
  const databases = [pglite, ...(server ? [server] : [])];
  afterAll(() => Promise.all(databases.map((database) => database.close())));
  return { databases, pglite, server, postgresUrl };
}
