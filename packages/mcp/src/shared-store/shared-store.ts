/**
 * State that the instances of a server share: sessions, tasks, event streams, change events, limits and OAuth storage. `InMemoryStore`
 * serves one process; `PostgresStore` of `@quiver/mcp/pg` and `RedisStore` of `@quiver/mcp/redis` serve any number. Lifetimes and
 * buckets are measured by the clock of the store, so that the clocks of instances may differ.
 *
 * Keys of records, logs, channels and buckets are four separate sets of names. A name has 1 to 800 characters. Names, values and
 * messages are text without the character U+0000 and without lone surrogates, as `JSON.stringify` returns it; a value may have
 * megabytes. Hash what may be longer, what a caller chooses freely, and what is secret.
 *
 * No method returns an empty result in place of an error.
 *
 * @throws `SHARED_STORE_UNAVAILABLE` from every method when the store cannot be reached or refuses the operation. A write may have
 * happened nevertheless: repeat it with the version that was read, and read the record again when that fails
 * @throws `SHARED_STORE_FULL` from every method that writes when the store has no space left; nothing was written
 * @throws `OPTIONS_INVALID` for an invalid name, value or option
 * @throws `SHARED_STORE_CLOSED` after `close()`
 */
export interface SharedStore {
  /** Returns a record, or `undefined` when there is none or its lifetime has ended. */
  get(key: string): Promise<StoredRecord | undefined>;
  /**
   * Writes a record, atomically: of several writers with the same `options.version`, one succeeds.
   *
   * @returns its new version; `undefined` when the record has another version than `options.version`, and nothing was written
   */
  put(key: string, value: string, options?: PutOptions): Promise<number | undefined>;
  /**
   * Deletes a record, atomically.
   *
   * @returns whether it was deleted: `false` when there was none, or it has another version than `options.version`
   */
  delete(key: string, options?: DeleteOptions): Promise<boolean>;
  /**
   * Returns the keys of all records that begin with a prefix, in any order. For maintenance and recovery, not for every request:
   * Redis reads all of its keys for it.
   */
  keys(prefix: string): Promise<string[]>;
  /**
   * Appends an entry to a log, which it creates. Entries are stored for `read()`; `publish()` notifies other instances of them.
   *
   * @returns the id of the entry, which is unique in the log, also after the log has ended and begun again
   */
  append(log: string, value: string, options?: AppendOptions): Promise<string>;
  /**
   * Returns the entries after one, or all entries, in order. Empty for a log that does not exist, unless `after` is given.
   *
   * @param after - id of an entry; any text is safe here
   * @throws `SHARED_STORE_ENTRY_NOT_FOUND` when the log has no entry with the id `after`, or no longer has it
   */
  read(log: string, after?: string): Promise<LogEntry[]>;
  /**
   * Sends a message to the listeners of a channel in all processes, including this one. Resolves when the store has accepted it, which
   * can be before or after the listeners receive it.
   *
   * A message is not stored for later listeners, and an instance whose connection to the store breaks may miss it. Write state to a
   * record or a log first, and send its name.
   */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Receives the messages that are published after the promise has resolved, each once, in the order in which one store object
   * published them. An exception of a listener is logged, and affects neither other listeners nor the sender.
   *
   * @param onGap - called when messages may have been missed, after a broken connection is back; by stores that may miss some
   * @returns a function that ends the subscription. It may be called again, and does not reject
   */
  subscribe(channel: string, listener: (message: string) => void, onGap?: () => void): Promise<() => Promise<void>>;
  /**
   * Takes tokens from a bucket, which is full at first and refilled continuously. Callers that wait get no place in a queue.
   *
   * @param amount - number above 0, up to the capacity
   * @returns 0 when the tokens were taken; otherwise the milliseconds, at least 1, until they are there, and none was taken
   */
  take(key: string, amount: number, bucket: TokenBucket): Promise<number>;
  /** Ends all subscriptions, and the connections that the store opened itself. May be called again. */
  close(): Promise<void>;
}

/** A record of a `SharedStore`. */
export interface StoredRecord {
  value: string;
  /**
   * Whole number above 0 that grows with every write of the key, also after the record was deleted or has ended. It may serve as
   * a fencing token.
   */
  version: number;
}

/** Options of `SharedStore.put()`. */
export interface PutOptions {
  /** Writes only if the record has this version; 0 means that there is no record. Default: any. */
  version?: number | undefined;
  /** Milliseconds after which the record ends, up to 1e12. Default: no end. A write without it removes an earlier lifetime. */
  ttlMs?: number | undefined;
}

/** Options of `SharedStore.delete()`. */
export interface DeleteOptions {
  /** Deletes only if the record has this version. Default: any. */
  version?: number | undefined;
}

/** Options of `SharedStore.append()`. */
export interface AppendOptions {
  /**
   * Milliseconds after which the whole log ends, counted from its newest entry, up to 1e12. Default: no end. An entry without it
   * removes an earlier lifetime.
   */
  ttlMs?: number | undefined;
  /** Number of entries that are kept; the oldest are removed. Default: all. */
  maxEntries?: number | undefined;
}

/** An entry of a log. */
export interface LogEntry {
  id: string;
  value: string;
}

/** Limit of a token bucket. */
export interface TokenBucket {
  /** Tokens of a full bucket; above 0. */
  capacity: number;
  /** Tokens that are added per second; above 0. */
  perSecond: number;
}
