import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

export interface WalkOptions {
  readonly isExcluded: (path: string) => boolean;
  readonly signal: AbortSignal | undefined;
  /** A folder that cannot be read. */
  readonly onUnreadable: (path: string, error: unknown) => void;
}

/** The files below a folder, as paths from there with `/`, in the order of their names. Links are not followed. */
export async function* walkFolder(root: string, options: WalkOptions): AsyncGenerator<string> {
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    options.signal?.throwIfAborted();
    const entries: { path: string; isFolder: boolean }[] = [];
    try {
      for await (const entry of await opendir(join(root, folder))) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if ((entry.isDirectory() || entry.isFile()) && !options.isExcluded(path)) {
          entries.push({ path, isFolder: entry.isDirectory() });
        }
      }
    } catch (error) {
      if (folder === '') throw error;
      options.onUnreadable(folder, error);
    }
    entries.sort((a, b) => (a.path < b.path ? -1 : 1));
    for (const { path, isFolder } of entries) if (!isFolder) yield path;
    for (const { path, isFolder } of entries.toReversed()) if (isFolder) waiting.push(path);
  }
}
