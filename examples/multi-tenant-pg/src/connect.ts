import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import type { PgConnectionOptions } from '@quiver/rag/pg';
import { Pool } from 'pg';

export interface Connection {
  readonly description: string;
  /** Connection options of the stores. */
  readonly options: PgConnectionOptions;
  close(): Promise<void>;
}

/** Connects to the server at `connectionString`; without one, starts a PostgreSQL inside this process. */
export async function connect(connectionString: string | undefined): Promise<Connection> {
  if (connectionString === undefined) {
    const pglite = await PGlite.create({ extensions: { vector } });
    return { description: 'PGlite', options: { pglite }, close: () => pglite.close() };
  }
  const pool = new Pool({ connectionString });
  return { description: 'PostgreSQL', options: { pool }, close: () => pool.end() };
}
