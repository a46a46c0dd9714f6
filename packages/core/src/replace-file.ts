import { loadBuiltin } from './load-builtin.js';

/** Writes a file as a whole: a reader gets the old or the new text, also after the process was killed. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const { rename, rm, writeFile } = loadBuiltin('node:fs/promises');
  const temporary = `${path}.${crypto.randomUUID()}`;
  try {
    await writeFile(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
