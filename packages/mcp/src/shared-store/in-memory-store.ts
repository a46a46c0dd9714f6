import { setRecent } from '../set-recent.js';
import { monotonicNow } from '../monotonic-now.js';
import { checkBucket, checkName, checkRecordOptions, checkText } from './check-arguments.js';
import { Listeners } from './listeners.js';
import { closedError, entryNotFound } from './shared-store-errors.js';
import type {
  AppendOptions,
  DeleteOptions,
  LogEntry,
  PutOptions,
  SharedStore,
  StoredRecord,
  TokenBucket,
} from './shared-store.js';

const MAX_BUCKETS = 100_000;

interface Lasting {
  end: number;
}

/**
 * State of one process, in memory. Servers of the same process may share it.
 *
 * @param now - time in milliseconds. Default: a monotonic clock
 */
export class InMemoryStore implements SharedStore {
  readonly #records = new Map<string, StoredRecord & Lasting>();
  readonly #logs = new Map<string, { entries: LogEntry[] } & Lasting>();
  readonly #buckets = new Map<string, { tokens: number; time: number } & Lasting>();
  readonly #listeners = new Listeners();
  readonly #now: () => number;
  #count = 0;
  #writes = 0;
  #isClosed = false;

  constructor(now: () => number = monotonicNow) {
    this.#now = now;
  }

  async get(key: string): Promise<StoredRecord | undefined> {
    this.#check('key', key);
    const record = this.#current(this.#records, key);
    return record && { value: record.value, version: record.version };
  }

  async put(key: string, value: string, options: PutOptions = {}): Promise<number | undefined> {
    this.#check('key', key);
    checkText('value', value);
    checkRecordOptions(options);
    const { version, ttlMs } = options;
    if (version !== undefined && version !== this.#versionOf(key)) return undefined;
    this.#sweep();
    this.#count += 1;
    this.#records.set(key, { value, version: this.#count, end: this.#endOf(ttlMs) });
    return this.#count;
  }

  async delete(key: string, options: DeleteOptions = {}): Promise<boolean> {
    this.#check('key', key);
    checkRecordOptions(options);
    const current = this.#versionOf(key);
    if (current === 0 || (options.version ?? current) !== current) return false;
    return this.#records.delete(key);
  }

  async keys(prefix: string): Promise<string[]> {
    this.#check('prefix', prefix);
    return [...this.#records.keys()].filter((key) => key.startsWith(prefix) && this.#current(this.#records, key));
  }

  async append(log: string, value: string, options: AppendOptions = {}): Promise<string> {
    this.#check('log', log);
    checkText('value', value);
    checkRecordOptions(options);
    const { ttlMs, maxEntries = Infinity } = options;
    const entries = this.#current(this.#logs, log)?.entries ?? [];
    this.#sweep();
    this.#count += 1;
    const id = String(this.#count);
    entries.push({ id, value });
    if (entries.length > maxEntries) entries.splice(0, entries.length - maxEntries);
    this.#logs.set(log, { entries, end: this.#endOf(ttlMs) });
    return id;
  }

  async read(log: string, after?: string): Promise<LogEntry[]> {
    this.#check('log', log);
    const entries = this.#current(this.#logs, log)?.entries ?? [];
    if (after === undefined) return [...entries];
    const place = entries.findIndex(({ id }) => id === after);
    if (place !== -1) return entries.slice(place + 1);
    throw entryNotFound(log, after);
  }

  async publish(channel: string, message: string): Promise<void> {
    this.#check('channel', channel);
    checkText('message', message);
    queueMicrotask(() => this.#listeners.call(channel, message));
  }

  async subscribe(channel: string, listener: (message: string) => void): Promise<() => Promise<void>> {
    this.#check('channel', channel);
    const remove = this.#listeners.add(channel, listener);
    return async () => void remove();
  }

  async take(key: string, amount: number, limit: TokenBucket): Promise<number> {
    this.#check('key', key);
    checkBucket(amount, limit);
    const { capacity, perSecond } = limit;
    const now = this.#now();
    const bucket = this.#current(this.#buckets, key) ?? { tokens: capacity, time: now };
    // After the clock was set back, the bucket is refilled from its new time.
    bucket.time = Math.min(bucket.time, now);
    const elapsed = now - bucket.time;
    const tokens = Math.min(capacity, bucket.tokens + (elapsed * perSecond) / 1000);
    if (tokens < amount) return Math.ceil(((amount - tokens) * 1000) / perSecond);
    this.#sweep();
    // A full bucket needs no entry.
    const end = now + ((capacity - tokens + amount) * 1000) / perSecond;
    // Any number of callers uses a bounded memory: the bucket that was not used for longest is evicted, and is full again.
    setRecent(this.#buckets, key, { tokens: tokens - amount, time: now, end }, MAX_BUCKETS);
    return 0;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    for (const values of [this.#records, this.#logs, this.#buckets]) values.clear();
  }

  #check(kind: 'key' | 'log' | 'channel' | 'prefix', name: string): void {
    if (this.#isClosed) throw closedError();
    checkName(kind, name);
  }

  #versionOf(key: string): number {
    return this.#current(this.#records, key)?.version ?? 0;
  }

  #endOf(ttlMs: number | undefined): number {
    return ttlMs === undefined ? Infinity : this.#now() + ttlMs;
  }

  #current<Value extends Lasting>(values: Map<string, Value>, key: string): Value | undefined {
    const value = values.get(key);
    if (!value || value.end > this.#now()) return value;
    values.delete(key);
    return undefined;
  }

  /** Removes what has ended, after as many writes as there are values: the work per write stays constant. */
  #sweep(): void {
    this.#writes += 1;
    if (this.#writes <= this.#records.size + this.#logs.size + this.#buckets.size) return;
    this.#writes = 0;
    for (const values of [this.#records, this.#logs, this.#buckets] as Map<string, Lasting>[])
      for (const key of values.keys()) this.#current(values, key);
  }
}
