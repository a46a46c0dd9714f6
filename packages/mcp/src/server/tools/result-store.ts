import { toErrorMessage } from '@quiver/core';
import { monotonicNow } from '../../monotonic-now.js';
import type { Instance } from '../../shared-store/instance.js';
import { digestOf } from '../digest.js';
import { MAX_STORED_RESULT, MAX_STORED_RESULTS, RESULT_LIFETIME } from '../limits.js';
import { encodeRecord, parseRecord, type StoredResult, type WholeValue } from './result-record.js';

/** A whole result whose beginning a caller received. */
interface WholeResult {
  /** Principal of the caller; empty without authentication. */
  readonly principal: string;
  readonly tool: string;
  readonly whole: WholeValue;
}

/**
 * Results that were cut, for their caller and ten minutes. Ids are random. This process keeps a limited number of characters; the
 * oldest results are deleted first.
 */
export class ResultStore {
  readonly #instance: Instance;
  readonly #now: () => number;
  /** Results that this process wrote, oldest first. Bound: {@link MAX_STORED_RESULTS}. */
  readonly #written = new Map<string, { readonly size: number; readonly end: number }>();
  #size = 0;

  /** @param now - time in milliseconds */
  constructor(instance: Instance, now: () => number = monotonicNow) {
    this.#instance = instance;
    this.#now = now;
  }

  /** @returns the id of the result; `undefined` when it is too large, or the store is unavailable, which is logged */
  async keep({ principal, tool, whole }: WholeResult): Promise<string | undefined> {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    const id = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    // The principal may contain a token.
    const value = encodeRecord({ owner: await digestOf(principal), tool }, whole);
    if (value.length > MAX_STORED_RESULT) return undefined;
    try {
      const key = this.#keyOf(id);
      await this.#instance.store.put(key, value, { version: 0, ttlMs: RESULT_LIFETIME });
      this.#written.set(key, { size: value.length, end: this.#now() + RESULT_LIFETIME });
      this.#size += value.length;
      await this.#evict();
      return id;
    } catch (error) {
      this.#instance.logger.error(
        `The rest of a result of tool '${tool}' cannot be stored: ${toErrorMessage(error)}`,
        error,
      );
      return undefined;
    }
  }

  async #evict(): Promise<void> {
    for (const [key, { size, end }] of this.#written) {
      if (this.#size <= MAX_STORED_RESULTS && end > this.#now()) return;
      this.#written.delete(key);
      this.#size -= size;
      await this.#instance.store.delete(key);
    }
  }

  /** Returns a result if it belongs to the caller. For other callers it does not exist. @throws `RESULT_RECORD_INVALID` */
  async find(id: string, principal: string): Promise<StoredResult | undefined> {
    const record = await this.#instance.store.get(this.#keyOf(id));
    const stored = record && parseRecord(record.value);
    return stored?.owner === (await digestOf(principal)) ? stored : undefined;
  }

  #keyOf(id: string): string {
    return this.#instance.nameOf('result', id);
  }
}
