import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { Pool } from 'pg';
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
      pglite ??= PGlite.create({ extensions: { vector } });
      return { pglite: await pglite, schemaName: nextSchema() };
    },
    close: async () => (await pglite)?.close(),
  };
}

/** The server at `QUIVER_POSTGRES_URL`, if there is one. */
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

export const postgresUrl: string | undefined = process.env['QUIVER_POSTGRES_URL'];
