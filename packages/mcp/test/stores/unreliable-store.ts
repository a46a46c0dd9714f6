import { QuiverError } from '@quiver/core';
import type { SharedStore } from '../../src/shared-store/shared-store.js';

/** A store of one instance whose connection can be cut. The subscriptions of a cut store receive nothing. */
export class UnreliableStore implements SharedStore {
  isCut = false;
  /** Number of operations that failed. */
  failures = 0;
  readonly #store: SharedStore;

  constructor(store: SharedStore) {
    this.#store = store;
  }

  #open(): SharedStore {
    if (!this.isCut) return this.#store;
    this.failures += 1;
    throw new QuiverError('SHARED_STORE_UNAVAILABLE', 'The connection to the store was cut.');
  }

  get = async (...given: Parameters<SharedStore['get']>): ReturnType<SharedStore['get']> => this.#open().get(...given);
  put = async (...given: Parameters<SharedStore['put']>): ReturnType<SharedStore['put']> => this.#open().put(...given);
  delete = async (...given: Parameters<SharedStore['delete']>): ReturnType<SharedStore['delete']> =>
    this.#open().delete(...given);
  keys = async (...given: Parameters<SharedStore['keys']>): ReturnType<SharedStore['keys']> =>
    this.#open().keys(...given);
  append = async (...given: Parameters<SharedStore['append']>): ReturnType<SharedStore['append']> =>
    this.#open().append(...given);
  read = async (...given: Parameters<SharedStore['read']>): ReturnType<SharedStore['read']> =>
    this.#open().read(...given);
  publish = async (...given: Parameters<SharedStore['publish']>): ReturnType<SharedStore['publish']> =>
    this.#open().publish(...given);
  subscribe = async (channel: string, listener: (message: string) => void): ReturnType<SharedStore['subscribe']> =>
    this.#open().subscribe(channel, (message) => this.isCut || listener(message));
  take = async (...given: Parameters<SharedStore['take']>): ReturnType<SharedStore['take']> =>
    this.#open().take(...given);
  close = async (): Promise<void> => {};
}
