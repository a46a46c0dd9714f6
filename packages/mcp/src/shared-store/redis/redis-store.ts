import { isQuiverError, toErrorMessage, withinTime } from '@quiver/core';
import { unchecked, checkOptions, numberIn, type OptionChecks } from '@quiver/core/internal';
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
import { adoptClient, type IoredisClient, type NodeRedisClient, type RedisConnection } from './redis-client.js';
import { appendScript, deleteScript, putScript, takeScript } from './scripts.js';

/** Options of `RedisStore`. */
export interface RedisStoreOptions {
  /**
   * A connected client of `redis`, `@redis/client` or `ioredis`. The store never closes it. The first `subscribe()` opens a duplicate,
   * which `close()` closes.
   */
  client: NodeRedisClient | IoredisClient;
  /** Beginning of all keys and channels. Default `quiver:mcp:`. */
  keyPrefix?: string | undefined;
  /** Milliseconds after which a command fails. Default 10,000. */
  timeout?: number | undefined;
}

const checks: OptionChecks<RedisStoreOptions> = {
  ...unchecked<RedisStoreOptions>()('client', 'keyPrefix'),
  timeout: numberIn({ above: 0, below: 2 ** 31 }),
};

/**
 * Shares state through Redis 6 or later, or a compatible server: hashes, streams, and Lua scripts with one key each. Set
 * `maxmemory-policy noeviction`, so that a full server rejects writes instead of removing records. Messages that are published while
 * the connection of an instance is interrupted do not reach it. Redis Cluster is not supported: `keys()` reads one server.
 *
 * @example
 * const client = await createClient({ url: process.env.REDIS_URL }).connect();
 * const sharedStore = new RedisStore({ client });
 * const server = new MCPServer({ name: 'Notes', version: '1.0.0', tools, sharedStore });
 */
export class RedisStore implements SharedStore {
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  readonly #timeout: number;
  readonly #messages: Messages;
  #isClosed = false;

  /** @throws `OPTIONS_INVALID` for another client or an invalid option */
  constructor(options: RedisStoreOptions) {
    checkOptions('RedisStore', options, checks);
    const { client, keyPrefix = 'quiver:mcp:', timeout = 10_000 } = options;
    checkText('keyPrefix', keyPrefix);
    this.#connection = adoptClient(client);
    this.#messages = new Messages({ connection: this.#connection, settle: (running) => this.#settle(running) });
    this.#prefix = keyPrefix;
    this.#timeout = timeout;
  }

  async get(key: string): Promise<StoredRecord | undefined> {
    checkName('key', key);
    const [value, version] = (await this.#send('HMGET', this.#record(key), 'value', 'version')) as unknown[];
    return value === null || value === undefined ? undefined : { value: String(value), version: Number(version) };
  }

  async put(key: string, value: string, options: PutOptions = {}): Promise<number | undefined> {
    checkName('key', key);
    checkText('value', value);
    checkRecordOptions(options);
    const version = await this.#run(putScript, this.#record(key), value, lifetime(options), options.version);
    return version === null ? undefined : Number(version);
  }

  async delete(key: string, options: DeleteOptions = {}): Promise<boolean> {
    checkName('key', key);
    checkRecordOptions(options);
    return Number(await this.#run(deleteScript, this.#record(key), options.version)) > 0;
  }

  async keys(prefix: string): Promise<string[]> {
    checkName('prefix', prefix);
    const start = this.#record('');
    const pattern = `${(start + prefix).replaceAll(/[*?[\]\\]/g, String.raw`\$&`)}*`;
    // Redis may return a key more than once.
    const found = new Set<string>();
    let cursor = '0';
    do {
      const [next, keys] = (await this.#send('SCAN', cursor, 'MATCH', pattern, 'COUNT', '1000')) as [
        unknown,
        unknown[],
      ];
      for (const key of keys) found.add(String(key).slice(start.length));
      cursor = String(next);
    } while (cursor !== '0');
    return [...found];
  }

  async append(log: string, value: string, options: AppendOptions = {}): Promise<string> {
    checkName('log', log);
    checkText('value', value);
    checkRecordOptions(options);
    return String(await this.#run(appendScript, this.#log(log), value, lifetime(options), options.maxEntries));
  }

  async read(log: string, after?: string): Promise<LogEntry[]> {
    checkName('log', log);
    if (after !== undefined && !/^\d{1,19}-\d{1,19}$/.test(after)) throw entryNotFound(log, after);
    const rows = (await this.#send('XRANGE', this.#log(log), after ?? '-', '+')) as [unknown, unknown[]][];
    const entries = rows.map(([id, [, value]]) => ({ id: String(id), value: String(value) }));
    if (after === undefined) return entries;
    if (entries.shift()?.id !== after) throw entryNotFound(log, after);
    return entries;
  }

  async publish(channel: string, message: string): Promise<void> {
    checkName('channel', channel);
    checkText('message', message);
    await this.#send('PUBLISH', this.#channel(channel), message);
  }

  async subscribe(
    channel: string,
    listener: (message: string) => void,
    onGap?: () => void,
  ): Promise<() => Promise<void>> {
    checkName('channel', channel);
    if (this.#isClosed) throw closedError();
    return this.#messages.subscribe(this.#channel(channel), listener, onGap);
  }

  async take(key: string, amount: number, { capacity, perSecond }: TokenBucket): Promise<number> {
    checkName('key', key);
    checkBucket(amount, { capacity, perSecond });
    return Number(await this.#run(takeScript, `${this.#prefix}bucket:${key}`, amount, capacity, perSecond));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#messages.close();
    this.#connection.close();
  }

  #record(key: string): string {
    return `${this.#prefix}record:${key}`;
  }

  #log(log: string): string {
    return `${this.#prefix}log:${log}`;
  }

  #channel(channel: string): string {
    return `${this.#prefix}channel:${channel}`;
  }

  #run(script: string, key: string, ...values: (string | number | undefined)[]): Promise<unknown> {
    return this.#send('EVAL', script, '1', key, ...values.map((value) => String(value ?? '')));
  }

  async #send(...command: string[]): Promise<unknown> {
    if (this.#isClosed) throw closedError();
    return this.#settle(this.#connection.send(command));
  }

  /** Limits the time, because clients queue commands while the server is unavailable, and names the error. */
  async #settle<Value>(running: Promise<Value>): Promise<Value> {
    try {
      return await withinTime(running, this.#timeout, (milliseconds) =>
        unavailableError('Redis', `no response within ${milliseconds} ms`),
      );
    } catch (error) {
      if (isQuiverError(error)) throw error;
      // Also in the middle of a message, when a script failed.
      throw /\bOOM\b/.test(toErrorMessage(error)) ? fullError('Redis', error) : unavailableError('Redis', error);
    }
  }
}

function lifetime({ ttlMs }: PutOptions | AppendOptions): number | undefined {
  return ttlMs === undefined ? undefined : Math.ceil(ttlMs);
}
