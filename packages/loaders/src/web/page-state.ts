import { appendFile, readFile, truncate } from 'node:fs/promises';
import { QuiverError, toErrorMessage } from '@quiver/core';
import { replaceFile } from '@quiver/core/internal';
import type { LoadedDocument } from '../formats/document-loader.js';

/** Validators of a page, which the server compares at the next request. Plain data. */
export interface PageRecord {
  etag?: string;
  lastModified?: string;
  /** Hash of the response, with which pages of servers without validators are compared. */
  hash?: string;
  /** Results of a run that did not end. The next run continues with them. */
  unfinished?: UnfinishedPage;
}

/** A page of a run that did not end. */
export interface UnfinishedPage {
  /** Time of the response, in milliseconds since 1970. */
  time: number;
  /** URL after redirects, if it is another one. */
  target?: string;
  /** Texts of the page, which may not be stored. Missing if the page did not change. */
  documents?: LoadedDocument[];
}

/** Validators by URL. */
export interface PageState extends Map<string, PageRecord> {
  /** Called for each page before its documents are returned, with their texts. Default: nothing, so an interrupted run starts again. */
  save?(url: string, record: PageRecord): Promise<void>;
}

/** The state in a file: a JSON record per line. A later line of a page replaces an earlier one. */
class FileState extends Map<string, PageRecord> implements PageState {
  readonly #path: string;
  /** Length of the file without a line that was cut off, until the first line is added. */
  #length: number | undefined;

  constructor(path: string, lines: string) {
    super();
    this.#path = path;
    const end = lines.lastIndexOf('\n') + 1;
    if (end < lines.length) this.#length = Buffer.byteLength(lines.slice(0, end));
    for (const line of lines.slice(0, end).split('\n')) {
      if (line === '') continue;
      const { url, ...record } = JSON.parse(line) as { url: unknown };
      if (typeof url !== 'string') throw new TypeError('a line has no URL');
      this.set(url, parseRecord(record));
    }
  }

  async save(url: string, record: PageRecord): Promise<void> {
    if (this.#length !== undefined) await truncate(this.#path, this.#length);
    this.#length = undefined;
    await appendFile(this.#path, toLine(url, record));
  }
}

const toLine = (url: string, record: PageRecord): string => `${JSON.stringify({ url, ...record })}\n`;

/**
 * Reads the state that `writePageState` wrote, and what a run has added since that did not end. A missing file is an empty state.
 * `loadPages` adds the pages to this file while it runs.
 *
 * @throws `PAGE_STATE_INVALID` for a damaged file
 */
export async function readPageState(path: string): Promise<PageState> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  try {
    return new FileState(path, text);
  } catch (cause) {
    throw new QuiverError(
      'PAGE_STATE_INVALID',
      `The state of pages in ${path} cannot be read: ${toErrorMessage(cause)}. Delete the file; every page is then loaded again.`,
      { cause },
    );
  }
}

function parseRecord(record: Partial<Record<keyof PageRecord, unknown>>): PageRecord {
  const { etag, lastModified, hash, unfinished } = record;
  return {
    ...(typeof etag === 'string' && { etag }),
    ...(typeof lastModified === 'string' && { lastModified }),
    ...(typeof hash === 'string' && { hash }),
    // Written by this module, and checked by the constructor of `MDocument`.
    ...(typeof unfinished === 'object' && unfinished !== null && { unfinished: unfinished as UnfinishedPage }),
  };
}

/**
 * Writes the state of pages, atomically and without the texts of pages that were returned. Call it after the pages are stored: a page
 * whose validators are written, and whose text is not stored, would be missing until it changes.
 */
export async function writePageState(path: string, state: PageState): Promise<void> {
  await replaceFile(path, Array.from(state, ([url, record]) => toLine(url, record)).join(''));
}
