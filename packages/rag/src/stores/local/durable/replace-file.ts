import { rename, unlink, writeFile } from 'node:fs/promises';

/** Writes a file under another name and renames it, so that readers find the former content or this one. Of several at once, the last one stays. */
export async function replaceFile(file: string, data: Uint8Array, signal?: AbortSignal): Promise<void> {
  const temporary = `${file}.${crypto.randomUUID()}`;
  try {
    await writeFile(temporary, data, { signal });
    await rename(temporary, file);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}
