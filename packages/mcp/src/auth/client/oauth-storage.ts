import { isQuiverError, toErrorMessage, type Logger } from '@quiver/core';
import { objectWith, type OptionCheck } from '@quiver/core/internal';
import { isObject } from '../../protocol/json-rpc.js';
import { redactToken } from '../redact-token.js';

/** Storage for tokens and registrations, as text under a key. Every method may be asynchronous. */
export interface OAuthStorage {
  set(key: string, value: string): void | Promise<void>;
  get(key: string): string | undefined | Promise<string | undefined>;
  delete(key: string): void | Promise<void>;
  /** Runs one function at a time in all processes. Without it, two may use one refresh token, and strict servers sign the user out. */
  exclusive?<Result>(run: () => Promise<Result>): Promise<Result>;
}

export const storageValue: OptionCheck = objectWith('a storage', 'get', 'set', 'delete');

/** Stores everything in memory, until the process ends. */
export class InMemoryOAuthStorage implements OAuthStorage {
  readonly #values = new Map<string, string>();

  set(key: string, value: string): void {
    this.#values.set(key, value);
  }

  get(key: string): string | undefined {
    return this.#values.get(key);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}

/**
 * A storage as the provider uses it: objects of one server instead of text. An unreadable value counts as absent; one that cannot be
 * written is kept in memory. The first failure is logged, without the key, because the URL of a server may contain a secret.
 */
export class StoredValues {
  /** Server that the values belong to, because providers of several servers may share a storage. */
  serverUrl: string | undefined;
  readonly storage: OAuthStorage;
  readonly #logger: Logger;
  /** Values that the storage did not accept. */
  readonly #unsaved = new Map<string, string | undefined>();
  #warned = false;

  constructor(storage: OAuthStorage, logger: Logger) {
    this.storage = storage;
    this.#logger = logger;
  }

  /** @param issuer - the authorization server, for values that differ between them */
  keyOf(name: string, issuer?: string): string {
    return [name, this.serverUrl, issuer].filter((part) => part !== undefined).join(':');
  }

  async read(name: string, issuer?: string): Promise<Record<string, unknown> | undefined> {
    const key = this.keyOf(name, issuer);
    try {
      const text = this.#unsaved.has(key) ? this.#unsaved.get(key) : await this.storage.get(key);
      if (text === undefined || text === null) return undefined;
      const value: unknown = JSON.parse(text);
      if (isObject(value)) return value;
      throw new TypeError('it is not an object');
    } catch (error) {
      // A JSON error quotes the text, and with it a token.
      const reason = error instanceof SyntaxError ? 'it is not JSON' : toErrorMessage(error);
      this.#warn(`The OAuth storage cannot read '${name}', which counts as absent: ${reason}.`);
      return undefined;
    }
  }

  async write(name: string, value: object | undefined, issuer?: string): Promise<void> {
    const key = this.keyOf(name, issuer);
    const text = value && JSON.stringify(value);
    try {
      await (text === undefined ? this.storage.delete(key) : this.storage.set(key, text));
      this.#unsaved.delete(key);
    } catch (error) {
      // Another process has stored newer values, which count from now on.
      const isOutdated = isQuiverError(error, 'SHARED_STORE_LOCK_LOST');
      if (isOutdated) this.#unsaved.delete(key);
      else this.#unsaved.set(key, text);
      // Errors of databases quote the parameters of the query.
      const reason = redactToken(toErrorMessage(error), text ?? '');
      const consequence = isOutdated ? 'is discarded' : 'is kept in memory only';
      this.#warn(`The OAuth storage cannot write '${name}', which ${consequence}: ${reason}.`);
    }
  }

  /** Runs a function exclusively among all that share the storage; without a lock if the storage cannot lock. */
  async exclusive<Result>(run: () => Promise<Result>): Promise<Result> {
    if (!this.storage.exclusive) return run();
    let outcome: Promise<Result> | undefined;
    try {
      return await this.storage.exclusive(() => (outcome = run()));
    } catch (error) {
      // The run has begun: its result counts, even if the lock failed.
      if (outcome) return outcome;
      const consequence = 'so that other processes may refresh the same token';
      this.#warn(`The OAuth storage cannot lock, ${consequence}: ${toErrorMessage(error)}.`);
      return run();
    }
  }

  #warn(message: string): void {
    if (!this.#warned) this.#logger.warn(message);
    this.#warned = true;
  }
}
