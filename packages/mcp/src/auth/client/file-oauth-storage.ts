import { randomUUID } from 'node:crypto';
import { chmod, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { isQuiverError, QuiverError } from '@quiver/core';
import { checkOptions, type FileLock, type OptionChecks, withFileLock, unchecked } from '@quiver/core/internal';
import { isObject } from '../../protocol/json-rpc.js';
import type { OAuthStorage } from './oauth-storage.js';
import { TextSealer } from './text-sealer.js';

/** Options of `FileOAuthStorage`. */
export interface FileOAuthStorageOptions {
  /** Path of the file. Its folder is created when it is missing. */
  path: string;
  /** Encrypts the file with a key derived from this secret (AES-256-GCM, scrypt). Default: plain JSON that only the user can read. */
  encryptionKey?: string;
}

const checks: OptionChecks<FileOAuthStorageOptions> = unchecked<FileOAuthStorageOptions>()('path', 'encryptionKey');

/**
 * Stores tokens in one file that only its owner can read (mode 0600). The file is replaced as a whole: a crash leaves the old one.
 * Several processes may share it.
 *
 * @throws `OAUTH_STORAGE_UNREADABLE` from every method when the file is damaged or the key is another one; it is never overwritten
 */
export class FileOAuthStorage implements OAuthStorage {
  readonly #path: string;
  readonly #sealer: TextSealer | undefined;
  /** Changes of this process: with the lock alone, five at once take 500 ms instead of 60. */
  #queue: Promise<unknown> = Promise.resolve();
  /** Values of one version of the file, which every write replaces. Without it, a call costs 60 µs more, 147 µs with a key. */
  #cached: { readonly version: string; readonly values: ReadonlyMap<string, string> } | undefined;

  /** @throws `OPTIONS_INVALID` */
  constructor(options: FileOAuthStorageOptions) {
    checkOptions('FileOAuthStorage', options, checks);
    const { path, encryptionKey } = options;
    this.#path = path;
    this.#sealer = encryptionKey === undefined ? undefined : TextSealer.for(encryptionKey);
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.#read()).get(key);
  }

  set(key: string, value: string): Promise<void> {
    return this.#change((values) => values.set(key, value));
  }

  delete(key: string): Promise<void> {
    return this.#change((values) => values.delete(key));
  }

  exclusive<Result>(run: () => Promise<Result>): Promise<Result> {
    return withFileLock(`${this.#path}.session.lock`, run);
  }

  #change(change: (values: Map<string, string>) => unknown): Promise<void> {
    const changed = this.#queue.then(() => this.#commit(change));
    this.#queue = changed.catch(() => {});
    return changed;
  }

  async #commit(change: (values: Map<string, string>) => unknown): Promise<void> {
    try {
      await withFileLock(`${this.#path}.write.lock`, async (lock) => {
        // Under the lock the file counts, even if a file system with coarse times hides a change.
        this.#cached = undefined;
        const values = new Map(await this.#read());
        change(values);
        await this.#write(values, lock);
      });
    } catch (error) {
      if (!isQuiverError(error, 'FILE_LOCK_LOST')) throw error;
      // This process was suspended, and another one has written meanwhile: the change applies to what that one wrote.
      await this.#commit(change);
    }
  }

  async #read(): Promise<ReadonlyMap<string, string>> {
    let text: string;
    let version: string;
    try {
      const { ino, mtimeNs, size } = await stat(this.#path, { bigint: true });
      version = `${ino} ${mtimeNs} ${size}`;
      if (this.#cached?.version === version) return this.#cached.values;
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
      throw error;
    }
    try {
      const stored: unknown = JSON.parse(this.#sealer ? await this.#sealer.open(text) : text);
      if (!isObject(stored) || 'sealed' in stored) throw new TypeError('It is not a plain file of this storage.');
      const entries = Object.entries(stored).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
      const values = new Map(entries);
      this.#cached = { version, values };
      return values;
    } catch {
      // The cause stays out: a JSON error quotes the file, and with it a token.
      throw new QuiverError(
        'OAUTH_STORAGE_UNREADABLE',
        `${this.#path} cannot be read as an OAuth storage: it is damaged, or encrypted with another key. Delete it to sign in again.`,
      );
    }
  }

  async #write(values: Map<string, string>, lock: FileLock): Promise<void> {
    const text = JSON.stringify(Object.fromEntries(values));
    const temporary = `${this.#path}.${randomUUID()}`;
    try {
      await writeFile(temporary, this.#sealer ? await this.#sealer.seal(text) : text, { mode: 0o600, flush: true });
      await chmod(temporary, 0o600);
      await lock.requireHeld();
      await rename(temporary, this.#path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}
