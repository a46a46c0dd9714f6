import { toErrorMessage, type Logger } from '@quiver/core';
import { isObject } from '../../protocol/json-rpc.js';
import type { OAuthStorage } from './oauth-storage.js';

/**
 * A storage as the provider uses it: objects instead of text, and no failure ends a call. An unreadable value counts as absent; a value
 * that cannot be written is kept in memory. The first failure is logged.
 */
export class StoredValues {
  readonly #storage: OAuthStorage;
  readonly #logger: Logger;
  /** Values that the storage did not accept. */
  readonly #unsaved = new Map<string, string | undefined>();
  #warned = false;

  constructor(storage: OAuthStorage, logger: Logger) {
    this.#storage = storage;
    this.#logger = logger;
  }

  async read(key: string): Promise<Record<string, unknown> | undefined> {
    try {
      const text = this.#unsaved.has(key) ? this.#unsaved.get(key) : await this.#storage.get(key);
      if (text === undefined || text === null) return undefined;
      const value: unknown = JSON.parse(text);
      if (isObject(value)) return value;
      this.#warn(`The OAuth storage did not return the object that was stored under '${key}'; it counts as absent.`);
    } catch (error) {
      // A JSON error quotes the text, and with it a token.
      const reason = error instanceof SyntaxError ? 'it is not JSON' : toErrorMessage(error);
      this.#warn(`The OAuth storage cannot read '${key}', which counts as absent: ${reason}.`);
    }
    return undefined;
  }

  async write(key: string, value: object | undefined): Promise<void> {
    const text = value && JSON.stringify(value);
    try {
      await (text === undefined ? this.#storage.delete(key) : this.#storage.set(key, text));
      this.#unsaved.delete(key);
    } catch (error) {
      this.#unsaved.set(key, text);
      this.#warn(`The OAuth storage cannot write '${key}', which is kept in memory only: ${toErrorMessage(error)}.`);
    }
  }

  /** Runs without a lock if the storage cannot lock. */
  async exclusive<Result>(run: () => Promise<Result>): Promise<Result> {
    if (!this.#storage.exclusive) return run();
    let outcome: Promise<Result> | undefined;
    try {
      return await this.#storage.exclusive(() => (outcome = run()));
    } catch (error) {
      // The run has begun: its result counts, even if the lock failed.
      if (outcome) return outcome;
      this.#warn(
        `The OAuth storage cannot lock, so that other processes may refresh the same token: ${toErrorMessage(error)}.`,
      );
      return run();
    }
  }

  #warn(message: string): void {
    if (!this.#warned) this.#logger.warn(message);
    this.#warned = true;
  }
}
