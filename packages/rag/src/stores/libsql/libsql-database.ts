import { toErrorMessage, untilAborted } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { rejectBeside } from '../../store/options.js';
import { clientMissing, lazyClient } from '../store-call.js';

/** A value of a parameter. */
export type LibSQLValue = string | number | null | ArrayBuffer | Uint8Array;

/** A statement and the values of its parameters. */
export interface LibSQLStatement {
  sql: string;
  args: LibSQLValue[];
}

export type LibSQLRow = Record<string, unknown>;

/** The part of a client of `@libsql/client` that is called. */
export interface LibSQLClient {
  execute(statement: LibSQLStatement): Promise<{ rows: ArrayLike<unknown> }>;
  batch(statements: LibSQLStatement[], mode: 'read' | 'write'): Promise<{ rows: ArrayLike<unknown> }[]>;
  close(): void;
}

/** Where the database is: a client of yours, which stays open, or how to connect. */
export interface LibSQLConnectionOptions {
  /** A client of `@libsql/client`. It is never closed by the store. */
  client?: LibSQLClient;
  /** `file:app.db`, `:memory:`, or the address of a Turso database or a libSQL server: `libsql://…`, `https://…`. */
  url?: string;
  /** For a Turso database. */
  authToken?: string;
  /** Address of the database that the file in `url` is a replica of. */
  syncUrl?: string;
  /** Seconds between synchronizations of a replica. */
  syncInterval?: number;
  /** Key of an encrypted file. */
  encryptionKey?: string;
  /** How often a call is repeated while another connection has locked the database. Default 12, which takes about six seconds. */
  maxRetries?: number;
  /** Milliseconds before the first repetition; twice as many before each further one, at most 1,000. Default 5. */
  initialBackoffMs?: number;
}

/** The calls of the store on its database. */
export interface LibSQLDatabase {
  /** Runs a statement that reads. */
  query(sql: string, values?: readonly unknown[]): Promise<LibSQLRow[]>;
  /** Runs statements that read, in one transaction. */
  queryAll(statements: readonly LibSQLStatement[]): Promise<LibSQLRow[][]>;
  /** Runs statements in one transaction: all or none. */
  write(statements: readonly LibSQLStatement[]): Promise<void>;
}

export interface LibSQLConnection {
  /**
   * Runs work on the database, and again while the database is locked or records that the work has read were changed meanwhile. It may
   * write only once, at its end.
   */
  run<Result>(work: (database: LibSQLDatabase) => Promise<Result>, signal: AbortSignal | undefined): Promise<Result>;
  /** Closes a client that the store opened. */
  close(): Promise<void>;
}

const largestBackoff = 1000;

/** @throws `OPTIONS_INVALID` unless the options contain exactly one connection */
export function connect(options: LibSQLConnectionOptions): LibSQLConnection {
  const { client, maxRetries = 12, initialBackoffMs = 5, ...connection } = options;
  const { url } = connection;
  if (client) rejectBeside('LibSQLVector', 'client', connection);
  else if (typeof url !== 'string' || url === '')
    throw invalidOptions(`LibSQLVector needs a client or a url, such as 'file:app.db', not ${JSON.stringify(url)}.`);
  const own = lazyClient(() => openClient({ ...connection, url: url as string }));
  return {
    async run(work, signal) {
      const database = toDatabase(client ?? (await untilAborted(own.open, signal)), signal);
      for (let attempt = 0; ;) {
        try {
          return await work(database);
        } catch (error) {
          // Another call succeeded, so all of them end.
          if (isOutdated(error)) continue;
          if (attempt >= maxRetries || !isLocked(error)) throw error;
          const delay = Math.min(largestBackoff, initialBackoffMs * 2 ** attempt);
          attempt += 1;
          await untilAborted(() => new Promise<void>((resolve) => setTimeout(resolve, delay)), signal);
        }
      }
    },
    async close() {
      (await own.release())?.close();
    },
  };
}

/** @throws `VECTOR_CLIENT_MISSING` without the client */
async function openClient(config: LibSQLConnectionOptions & { url: string }): Promise<LibSQLClient> {
  const { createClient } = await import('@libsql/client').catch(clientMissing('libSQL', '@libsql/client'));
  return createClient(config) as LibSQLClient;
}

function toDatabase(client: LibSQLClient, signal: AbortSignal | undefined): LibSQLDatabase {
  const toRows = ({ rows }: { rows: ArrayLike<unknown> }): LibSQLRow[] => Array.from(rows) as LibSQLRow[];
  return {
    query: async (sql, values = []) =>
      toRows(await untilAborted(() => client.execute({ sql, args: values as LibSQLValue[] }), signal)),
    queryAll: async (statements) =>
      (await untilAborted(() => client.batch([...statements], 'read'), signal)).map(toRows),
    async write(statements) {
      await untilAborted(() => client.batch([...statements], 'write'), signal);
    },
  };
}

/** Whether another connection has locked the database. */
export function isLocked(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED)$/.test(String((error as { code?: unknown } | null)?.code));
}

/** A condition of `nextVersion` does not hold. */
function isOutdated(error: unknown): boolean {
  return /constraint failed: quiver_indexes\.version/.test(toErrorMessage(error));
}
