import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefaultLogger, QuiverError, toErrorMessage } from '@quiver/core';
import { packageVersion, replaceFile } from '@quiver/core/internal';
import type { LoadedDocument, SkippedFile } from '../formats/document-loader.js';

/** The texts of a file, and its parts without text. Plain data. */
export interface CachedFile {
  readonly documents: readonly LoadedDocument[];
  readonly parts: readonly SkippedFile[];
}

/** Texts of files in a folder, one file for each. The texts of a file that has changed are replaced. */
export class DocumentCache {
  readonly #folder: string;
  /** Everything apart from the content that the texts depend on. */
  readonly #settings: string;

  private constructor(folder: string, settings: object) {
    this.#folder = folder;
    this.#settings = JSON.stringify([packageVersion, settings]);
  }

  /** @throws `FOLDER_UNREADABLE` for a folder that cannot be created */
  static async open(folder: string, settings: object): Promise<DocumentCache> {
    await mkdir(folder, { recursive: true }).catch((cause: unknown) => {
      const problem = `The folder of the cache, ${folder}, cannot be created: ${toErrorMessage(cause)}`;
      throw new QuiverError('FOLDER_UNREADABLE', problem, { cause });
    });
    return new DocumentCache(folder, settings);
  }

  /**
   * Returns the texts of a file, or reads them. Texts of a file with a part that failed are not kept, so that the next run repeats it.
   *
   * @param path - absolute path of the file
   */
  async get(path: string, bytes: Uint8Array, read: () => Promise<CachedFile>): Promise<CachedFile> {
    const entry = join(this.#folder, `${createHash('sha256').update(path).digest('hex')}.json`);
    const key = createHash('sha256').update(this.#settings).update(bytes).digest('hex');
    const known = await readEntry(entry, key);
    if (known) return known;
    const file = await read();
    if (file.parts.every(({ error }) => error === undefined)) {
      await replaceFile(entry, `${key}\n${JSON.stringify(file)}`).catch((error: unknown) =>
        getDefaultLogger().warn(`The texts of ${path} were not kept in the cache: ${toErrorMessage(error)}`),
      );
    }
    return file;
  }
}

/** Returns `undefined` for a missing, outdated or damaged entry. */
async function readEntry(entry: string, key: string): Promise<CachedFile | undefined> {
  try {
    const text = await readFile(entry, 'utf8');
    return text.startsWith(`${key}\n`) ? (JSON.parse(text.slice(key.length + 1)) as CachedFile) : undefined;
  } catch {
    return undefined;
  }
}
