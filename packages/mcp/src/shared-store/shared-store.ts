/**
 * State that the instances of a server share: sessions, tasks, event streams, change events, limits and OAuth storage. `InMemoryStore`
 * serves one process; `PostgresStore` of `@quiver/mcp/pg` and `RedisStore` of `@quiver/mcp/redis` serve any number. Lifetimes are
 * measured by the clock of the store, so that the clocks of instances may differ.
 *
 * Every method rejects when the store cannot be reached; none returns an empty result in place of an error.
 */
export interface SharedStore {
  /** Returns a record, or `undefined` when there is none or its lifetime has ended. */
  get(key: string): Promise<StoredRecord | undefined>;
  /**
   * Writes a record.
   *
   * @returns its new version; `undefined` when the record has another version than `options.version`, and nothing was written
   */
  put(key: string, value: string, options?: PutOptions): Promise<number | undefined>;
  /** Deletes a record. There need not be one. */
  delete(key: string): Promise<void>;
  /** Returns the keys of all records that begin with a prefix, in any order. */
  keys(prefix: string): Promise<string[]>;
  /**
   * Appends an entry to a log, which it creates.
   *
   * @returns the id of the entry
   */
  append(log: string, value: string, options?: AppendOptions): Promise<string>;
  /**
   * Returns the entries after one, or all entries, in order.
   *
   * @throws `SHARED_STORE_ENTRY_NOT_FOUND` when the log has no entry with the id `after`
   */
  read(log: string, after?: string): Promise<LogEntry[]>;
  /** Sends a message to the listeners of a channel in all processes. Settles when the store has accepted it. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Receives the messages of a channel from now on, in the order of each sender.
   *
   * @returns a function that ends the subscription
   */
  subscribe(channel: string, listener: (message: string) => void): Promise<() => Promise<void>>;
  /**
   * Takes tokens from a bucket, which is full at first and refilled continuously.
   *
   * @returns 0 when the tokens were taken; otherwise the milliseconds until they are there, and none was taken
   */
  take(key: string, amount: number, bucket: TokenBucket): Promise<number>;
  /** Ends all subscriptions, and the connections that the store opened itself. */
  close(): Promise<void>;
}

/** A record of a `SharedStore`. */
export interface StoredRecord {
  value: string;
  /** Changes with every write of the record, and is above 0. */
  version: number;
}

/** Options of `SharedStore.put()`. */
export interface PutOptions {
  /** Writes only if the record has this version; 0 means that there is no record. Default: any. */
  version?: number;
  /** Milliseconds after which the record ends. Default: no end. A write without it removes an earlier lifetime. */
  ttlMs?: number;
}

/** Options of `SharedStore.append()`. */
export interface AppendOptions {
  /** Milliseconds after which the whole log ends, counted from its newest entry. Default: no end. */
  ttlMs?: number;
  /** Number of entries that are kept; the oldest are removed. Default: all. */
  maxEntries?: number;
}

/** An entry of a log. */
export interface LogEntry {
  id: string;
  value: string;
}

/** Limit of a token bucket. */
export interface TokenBucket {
  /** Tokens of a full bucket. */
  capacity: number;
  /** Tokens that are added per second. */
  perSecond: number;
}
