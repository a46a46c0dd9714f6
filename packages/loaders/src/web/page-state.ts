import { readFile } from 'node:fs/promises';
import { QuiverError, toErrorMessage } from '@quiver/core';
import { replaceFile } from '@quiver/core/replace-file';

/** Validators of a page, which the server compares at the next request. */
export interface PageRecord {
  etag?: string;
  lastModified?: string;
}

/** Validators by URL. */
export type PageState = Map<string, PageRecord>;

/**
 * Reads the state that `writePageState` wrote. A missing file is an empty state.
 *
 * @throws `PAGE_STATE_INVALID` for a damaged file
 */
export async function readPageState(path: string): Promise<PageState> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
  try {
    const entries = Object.entries(JSON.parse(text) as Record<string, unknown>);
    return new Map(entries.map(([url, record]) => [url, parseRecord(record)]));
  } catch (cause) {
    throw new QuiverError(
      'PAGE_STATE_INVALID',
      `The state of pages in ${path} cannot be read: ${toErrorMessage(cause)}. Delete the file; every page is then loaded again.`,
      { cause },
    );
  }
}

function parseRecord(record: unknown): PageRecord {
  if (typeof record !== 'object' || record === null) throw new TypeError('a record is not an object');
  const { etag, lastModified } = record as Record<string, unknown>;
  return {
    ...(typeof etag === 'string' && { etag }),
    ...(typeof lastModified === 'string' && { lastModified }),
  };
}

/**
 * Writes the state of pages as JSON, atomically. Call it after the pages are stored: a page whose validators are written, and whose text
 * is not stored, would be missing until it changes.
 */
export async function writePageState(path: string, state: PageState): Promise<void> {
  await replaceFile(path, `${JSON.stringify(Object.fromEntries(state), null, 1)}\n`);
}
