/** Storage for tokens and registrations, as text under a key. Every method may be asynchronous. */
export interface OAuthStorage {
  set(key: string, value: string): void | Promise<void>;
  get(key: string): string | undefined | Promise<string | undefined>;
  delete(key: string): void | Promise<void>;
  /**
   * Runs one function at a time, in all processes that share the storage. Optional: without it, two processes may refresh the same
   * token at once, and servers that rotate refresh tokens then sign the user out.
   */
  exclusive?<Result>(run: () => Promise<Result>): Promise<Result>;
}

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
