import { QuiverError } from '@quiver/core';
import type { AppendOptions, LogEntry, PutOptions, SharedStore, StoredRecord, TokenBucket } from './shared-store.js';

interface Lasting {
  /** Time at which the lifetime ends, in milliseconds since 1970. */
  end: number;
}

/**
 * State of one process, in memory. Servers of the same process may share it.
 *
 * @param now - time in milliseconds
 */
export class InMemoryStore implements SharedStore {
  readonly #records = new Map<string, StoredRecord & Lasting>();
  readonly #logs = new Map<string, { entries: LogEntry[] } & Lasting>();
  readonly #buckets = new Map<string, { tokens: number; time: number } & Lasting>();
  readonly #listeners = new Map<string, Set<(message: string) => void>>();
  readonly #now: () => number;
  #count = 0;
  /** Writes since the last sweep. */
  #writes = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  async get(key: string): Promise<StoredRecord | undefined> {
    const record = this.#current(this.#records, key);
    return record && { value: record.value, version: record.version };
  }

  async put(key: string, value: string, { version, ttlMs }: PutOptions = {}): Promise<number | undefined> {
    const current = this.#current(this.#records, key)?.version ?? 0;
    if (version !== undefined && version !== current) return undefined;
    this.#sweep();
    this.#count += 1;
    this.#records.set(key, { value, version: this.#count, end: this.#endOf(ttlMs) });
    return this.#count;
  }

  async delete(key: string): Promise<void> {
    this.#records.delete(key);
  }

  async keys(prefix: string): Promise<string[]> {
    return [...this.#records.keys()].filter((key) => key.startsWith(prefix) && this.#current(this.#records, key));
  }

  async append(log: string, value: string, { ttlMs, maxEntries = Infinity }: AppendOptions = {}): Promise<string> {
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
    const entries = this.#current(this.#logs, log)?.entries ?? [];
    if (after === undefined) return [...entries];
    const place = entries.findIndex(({ id }) => id === after);
    if (place !== -1) return entries.slice(place + 1);
    throw new QuiverError('SHARED_STORE_ENTRY_NOT_FOUND', `The log '${log}' has no entry '${after}' (any more).`);
  }

  async publish(channel: string, message: string): Promise<void> {
    for (const listener of Array.from(this.#listeners.get(channel) ?? [])) queueMicrotask(() => listener(message));
  }

  async subscribe(channel: string, listener: (message: string) => void): Promise<() => Promise<void>> {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    return async () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(channel) === listeners) this.#listeners.delete(channel);
    };
  }

  async take(key: string, amount: number, { capacity, perSecond }: TokenBucket): Promise<number> {
    const now = this.#now();
    const bucket = this.#current(this.#buckets, key) ?? { tokens: capacity, time: now };
    const tokens = Math.min(capacity, bucket.tokens + ((now - bucket.time) * perSecond) / 1000);
    if (tokens < amount) return Math.ceil(((amount - tokens) * 1000) / perSecond);
    this.#sweep();
    // A full bucket needs no entry.
    const end = now + ((capacity - tokens + amount) * 1000) / perSecond;
    this.#buckets.set(key, { tokens: tokens - amount, time: now, end });
    return 0;
  }

  async close(): Promise<void> {
    this.#listeners.clear();
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
