import { isQuiverError } from '@quiver/core';
import { unchecked, checkOptions, numberIn, type OptionChecks, invalidOptions } from '@quiver/core/internal';
import { monotonicNow } from '../../monotonic-now.js';
import { checkBucket, checkName, checkRecordOptions, checkText } from '../check-arguments.js';
import { closedError, entryNotFound, fullError, unavailableError } from '../shared-store-errors.js';
import type {
  AppendOptions,
  DeleteOptions,
  LogEntry,
  PutOptions,
  SharedStore,
  StoredRecord,
  TokenBucket,
} from '../shared-store.js';
import { Messages } from './messages.js';
import { adoptPool, createPool, withinTimeout, type OpenPool, type PostgresPool, type PostgresResult } from './pool.js';
import { writeStatements, type Statements } from './statements.js';
import { createTables, nameTables, type Tables } from './tables.js';

/** Options of `PostgresStore`: a pool or a connection string, and the names of the tables. */
export interface PostgresStoreOptions {
  /**
   * A `pg.Pool` of the application with `max` of at least 2: after the first `subscribe()`, the store holds one of its connections.
   * The store never ends it; close the store before you end the pool.
   */
  pool?: PostgresPool | undefined;
  /** Connection string of a pool that the store opens at the first call and ends in `close()`. Needs the package `pg`. */
  connectionString?: string | undefined;
  /** Schema of the tables, which is created when it is missing. Default `public`. */
  schemaName?: string | undefined;
  /** Beginning of the names of the five tables. Default `quiver_mcp_`. */
  tablePrefix?: string | undefined;
  /** Milliseconds after which a call of the database fails. Default 10,000. */
  timeout?: number | undefined;
}

const checks: OptionChecks<PostgresStoreOptions> = {
  ...unchecked<PostgresStoreOptions>()('pool', 'connectionString', 'schemaName', 'tablePrefix'),
  timeout: numberIn({ above: 0, below: 2 ** 31 }),
};

/** Milliseconds between two removals of expired rows by one instance. */
const sweepInterval = 30_000;

interface Waiting {
  readonly channel: string;
  readonly message: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Shares state through PostgreSQL 13 or later, in five tables that the first call creates. Messages wake the instances by LISTEN and
 * NOTIFY, which a pooler in transaction mode does not support: connect to the server itself. Prepared statements are not used.
 *
 * @example
 * const sharedStore = new PostgresStore({ connectionString: process.env.DATABASE_URL });
 * const server = new MCPServer({ name: 'Notes', version: '1.0.0', tools, sharedStore });
 */
export class PostgresStore implements SharedStore {
  readonly #tables: Tables;
  readonly #statements: Statements;
  readonly #timeout: number;
  readonly #openPool: () => Promise<OpenPool>;
  #pool: Promise<OpenPool> | undefined;
  #ready: Promise<PostgresPool> | undefined;
  #messages: Messages | undefined;
  /** Messages that are sent with the next statement, in order. */
  #waiting: Waiting[] = [];
  #isPublishing = false;
  #swept = 0;
  #sweeping: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** @throws `OPTIONS_INVALID` unless there is one connection, and the names are identifiers without quotes */
  constructor(options: PostgresStoreOptions) {
    checkOptions('PostgresStore', options, checks);
    const { pool, connectionString, schemaName = 'public', tablePrefix = 'quiver_mcp_', timeout = 10_000 } = options;
    if ((pool === undefined) === (connectionString === undefined) || connectionString === '')
      throw invalidOptions(
        'PostgresStore: pass either `pool` or `connectionString`. Check the environment variable it comes from.',
      );
    this.#tables = nameTables(schemaName, tablePrefix);
    this.#statements = writeStatements(this.#tables);
    this.#timeout = timeout;
    if (pool) this.#pool = Promise.resolve(adoptPool(pool));
    this.#openPool = () => createPool(connectionString ?? '', timeout);
  }

  async get(key: string): Promise<StoredRecord | undefined> {
    checkName('key', key);
    const [row] = await this.#query(this.#statements.get, [key]);
    return row && { value: String(row['value']), version: Number(row['version']) };
  }

  async put(key: string, value: string, options: PutOptions = {}): Promise<number | undefined> {
    checkName('key', key);
    checkText('value', value);
    checkRecordOptions(options);
    const { version, ttlMs = null } = options;
    const [row] = version
      ? await this.#write(this.#statements.rewrite, [key, value, ttlMs, version])
      : await this.#write(this.#statements.write, [key, value, ttlMs, version === 0]);
    return row && Number(row['version']);
  }

  async delete(key: string, options: DeleteOptions = {}): Promise<boolean> {
    checkName('key', key);
    checkRecordOptions(options);
    const rows = await this.#write(this.#statements.delete, [key, options.version ?? null]);
    return rows.length > 0;
  }

  async keys(prefix: string): Promise<string[]> {
    checkName('prefix', prefix);
    const rows = await this.#query(this.#statements.keys, [prefix]);
    return rows.map(({ key }) => String(key));
  }

  async append(log: string, value: string, options: AppendOptions = {}): Promise<string> {
    checkName('log', log);
    checkText('value', value);
    checkRecordOptions(options);
    const { ttlMs = null, maxEntries = null } = options;
    const [row] = await this.#write(this.#statements.append, [log, value, ttlMs, maxEntries]);
    return String(row?.['last']);
  }

  async read(log: string, after?: string): Promise<LogEntry[]> {
    checkName('log', log);
    if (after !== undefined && !/^[1-9]\d{0,17}$/.test(after)) throw entryNotFound(log, after);
    const rows = await this.#query(this.#statements.read, [log, after ?? null]);
    const entries = rows.map(({ id, value }) => ({ id: String(id), value: String(value) }));
    if (after === undefined) return entries;
    if (entries.shift()?.id !== after) throw entryNotFound(log, after);
    return entries;
  }

  async publish(channel: string, message: string): Promise<void> {
    checkName('channel', channel);
    checkText('message', message);
    if (this.#isClosed) throw closedError();
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ channel, message, resolve, reject });
      void this.#publishWaiting();
    });
  }

  async subscribe(channel: string, listener: (message: string) => void): Promise<() => Promise<void>> {
    checkName('channel', channel);
    const pool = await this.#prepare();
    // A connection that is opened after `close()` would stay.
    if (this.#isClosed) throw closedError();
    const { name } = this.#tables;
    this.#messages ??= new Messages({ pool, name, receive: this.#statements.receive, timeout: this.#timeout });
    const unsubscribe = await this.#messages.subscribe(channel, listener).catch((error: unknown) => {
      throw toStoreError(error);
    });
    if (this.#isClosed) throw closedError();
    return async () => unsubscribe();
  }

  async take(key: string, amount: number, bucket: TokenBucket): Promise<number> {
    checkName('key', key);
    checkBucket(amount, bucket);
    const [row] = await this.#write(this.#statements.take, [key, amount, bucket.capacity, bucket.perSecond]);
    return Number(row?.['wait']);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#sweeping;
    await this.#messages?.close();
    await (await this.#pool?.catch(() => {}))?.close();
  }

  async #query(statement: string, values: unknown[]): Promise<PostgresResult['rows']> {
    const pool = await this.#prepare();
    try {
      return (await withinTimeout(pool.query(statement, values), this.#timeout)).rows;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async #write(statement: string, values: unknown[]): Promise<PostgresResult['rows']> {
    const rows = await this.#query(statement, values);
    if (monotonicNow() - this.#swept > sweepInterval && !this.#isClosed) {
      this.#swept = monotonicNow();
      // Rows that have ended are not returned, so that a failure has no effect except for space.
      this.#sweeping = this.#query(this.#statements.sweep, []).catch(() => {});
    }
    return rows;
  }

  /** Sends one statement at a time with all messages that wait: they stay in order, and share the cost of a commit. */
  async #publishWaiting(): Promise<void> {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, 1000);
      const values = [batch.map(({ channel }) => channel), batch.map(({ message }) => message)];
      try {
        await this.#write(this.#statements.publish, values);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isPublishing = false;
  }

  /** Returns the pool once the tables exist. */
  async #prepare(): Promise<PostgresPool> {
    if (this.#isClosed) throw closedError();
    this.#ready ??= this.#createTables().catch((error: unknown) => {
      this.#ready = undefined;
      throw toStoreError(error);
    });
    return this.#ready;
  }

  async #createTables(): Promise<PostgresPool> {
    this.#pool ??= this.#openPool().catch((error: unknown) => {
      this.#pool = undefined;
      throw error;
    });
    const { pool } = await this.#pool;
    // Roles that may not create tables can use those that exist. The table of messages is the last one that is created.
    const { schema, messages } = this.#tables;
    const existing = 'SELECT to_regnamespace($1) IS NOT NULL AS schema, to_regclass($2) IS NOT NULL AS messages';
    const { rows } = await withinTimeout(pool.query(existing, [schema, messages]), this.#timeout);
    if (!rows[0]?.['messages'])
      await withinTimeout(pool.query(createTables(this.#tables, !rows[0]?.['schema'])), this.#timeout);
    return pool;
  }
}

/** @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html) */
function toStoreError(error: unknown): Error {
  if (isQuiverError(error)) return error;
  const isFull = (error as { code?: unknown } | undefined)?.code === '53100';
  return isFull ? fullError('PostgreSQL', error) : unavailableError('PostgreSQL', error);
}
