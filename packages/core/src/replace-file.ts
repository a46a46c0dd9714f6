import { loadBuiltin } from './load-builtin.js';

/** Writes a file as a whole: a reader gets the old or the new content, also after the process was killed. */
export async function replaceFile(path: string, content: string | Uint8Array, signal?: AbortSignal): Promise<void> {
  const { rename, rm, writeFile } = loadBuiltin('node:fs/promises');
  const temporary = `${path}.${crypto.randomUUID()}`;
  try {
    await writeFile(temporary, content, { signal });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
