import { createHash } from 'node:crypto';
import { QuiverError } from '@quiver/core';
import { checkOptions, type OptionChecks, invalidOptions, unchecked } from '@quiver/core/internal';
import { isObject } from '../../protocol/json-rpc.js';
import type { SharedStore, StoredRecord } from '../../shared-store/shared-store.js';
import { withStoreLock } from '../../shared-store/with-store-lock.js';
import type { OAuthStorage } from './oauth-storage.js';
import { TextSealer } from './text-sealer.js';

/** Options of `SharedOAuthStorage`. */
export interface SharedOAuthStorageOptions {
  /** Store of all processes, for example a `PostgresStore` or a `RedisStore`. It stays open. */
  store: SharedStore;
  /** User or tenant that the tokens belong to. Storages of one owner share them; storages of different owners never do. */
  owner: string;
  /** Encrypts values with a key derived from this secret (AES-256-GCM, scrypt). Default: plain text. */
  encryptionKey?: string | undefined;
}

const checks: OptionChecks<SharedOAuthStorageOptions> = {
  ...unchecked<SharedOAuthStorageOptions>()('store', 'owner', 'encryptionKey'),
};

/**
 * Stores the OAuth tokens of one user for several processes and hosts. One process at a time refreshes a token; a process that was
 * suspended meanwhile cannot overwrite what a later one stored. Names are stored as hashes, because the URL of a server may contain a
 * secret.
 *
 * @throws `OAUTH_STORAGE_UNREADABLE` from `get` when a record is damaged, moved, or encrypted with another key
 * @throws `SHARED_STORE_LOCK_LOST` from `set` and `delete` within `exclusive`, when another process took over the lock and wrote
 */
export class SharedOAuthStorage implements OAuthStorage {
  readonly #store: SharedStore;
  readonly #prefix: string;
  readonly #sealer: TextSealer | undefined;
  /** Functions of this process, which need not wait for the store. */
  #queue: Promise<unknown> = Promise.resolve();
  /** Number of this lock owner while `exclusive` runs. */
  #fence: number | undefined;

  constructor(options: SharedOAuthStorageOptions) {
    checkOptions('SharedOAuthStorage', options, checks);
    const { store, owner, encryptionKey } = options;
    if (typeof owner !== 'string' || owner === '' || encryptionKey === '')
      throw invalidOptions(
        'A SharedOAuthStorage needs an `owner`, and an `encryptionKey` that is not empty. Pass the id of the user.',
      );
    this.#store = store;
    this.#prefix = `oauth/${hash(owner)}`;
    this.#sealer = encryptionKey === undefined ? undefined : TextSealer.for(encryptionKey);
  }

  async get(key: string): Promise<string | undefined> {
    const name = this.#nameOf(key);
    const record = await this.#store.get(name);
    return record && (await this.#parse(record, name)).text;
  }

  set(key: string, text: string): Promise<void> {
    return this.#write(key, text);
  }

  delete(key: string): Promise<void> {
    return this.#write(key, undefined);
  }

  exclusive<Result>(run: () => Promise<Result>): Promise<Result> {
    const runFenced = async (fence: number): Promise<Result> => {
      this.#fence = fence;
      try {
        return await run();
      } finally {
        this.#fence = undefined;
      }
    };
    const running = this.#queue.then(() => withStoreLock(this.#store, `${this.#prefix}/lock`, runFenced));
    this.#queue = running.catch(() => {});
    return running;
  }

  /** Under the lock, writes over the record that was read, unless a later owner of the lock has written it. */
  async #write(key: string, text: string | undefined): Promise<void> {
    const name = this.#nameOf(key);
    const fence = this.#fence;
    const stored = JSON.stringify({ fence: fence ?? 0, text });
    // Also for a deletion: it does not overtake earlier writes, which wait for the encryption key.
    const value = this.#sealer ? await this.#sealer.seal(stored, name) : stored;
    const write = async (condition?: { version: number }): Promise<boolean> => {
      if (text !== undefined) return (await this.#store.put(name, value, condition)) !== undefined;
      return condition?.version === 0 || this.#store.delete(name, condition);
    };
    if (fence === undefined) return void (await write());
    for (;;) {
      const record = await this.#store.get(name);
      // An unreadable record may be replaced.
      const last = record && (await this.#parse(record, name).catch(() => undefined));
      if (last && last.fence > fence)
        throw new QuiverError(
          'SHARED_STORE_LOCK_LOST',
          'Another process took over the lock of an OAuth storage, because this process did not renew it in time, and wrote newer values. Nothing was written. Read the values again.',
        );
      if (await write({ version: record?.version ?? 0 })) return;
    }
  }

  /** `fence` is the number of the lock owner that wrote the record; 0 without a lock. */
  async #parse({ value }: StoredRecord, name: string): Promise<{ fence: number; text: string }> {
    try {
      const stored: unknown = JSON.parse(this.#sealer ? await this.#sealer.open(value, name) : value);
      if (isObject(stored) && typeof stored['text'] === 'string' && typeof stored['fence'] === 'number')
        return { text: stored['text'], fence: stored['fence'] };
    } catch {
      // The cause stays out: a JSON error quotes the value, and with it a token.
    }
    throw new QuiverError(
      'OAUTH_STORAGE_UNREADABLE',
      'A record of an OAuth storage cannot be read: it is damaged, or encrypted with another key. Sign in again to replace it.',
    );
  }

  #nameOf(key: string): string {
    return `${this.#prefix}/${hash(key)}`;
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
