import { randomUUID } from 'node:crypto';
import { readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { invalidArgument } from '../../../store/check-arguments.js';
import type { DerivedData } from '../../../store/vector-store.js';

const extension = '.qvderived';

/**
 * Derived data as files beside the logs, `<index>.<name>.qvderived`. Any process may write them, also one that only reads the
 * indexes: a file is replaced as a whole, and the last one stays.
 */
export function derivedFiles(folder: string): DerivedData & { deleteOf(indexName: string): Promise<void> } {
  const fileOf = (indexName: string, name: string): string => {
    if (!/^[a-z0-9][a-z0-9-]*$/i.test(name))
      throw invalidArgument(`'${name}' cannot name derived data: use letters, digits and '-'.`);
    return join(folder, `${indexName}.${name}${extension}`);
  };
  return {
    async read({ indexName, name, signal }) {
      return readFile(fileOf(indexName, name), signal && { signal }).catch(ifMissing);
    },
    async write({ indexName, name, data, signal }) {
      const file = fileOf(indexName, name);
      const temporary = `${file}.${randomUUID()}`;
      try {
        await writeFile(temporary, data, signal && { signal });
        await rename(temporary, file);
      } catch (error) {
        await unlink(temporary).catch(ifMissing);
        throw error;
      }
      return true;
    },
    async prepare() {},
    async deleteOf(indexName) {
      const files = await readdir(folder);
      // No name of an index holds a point, so another index cannot be meant.
      const own = files.filter((file) => file.startsWith(`${indexName}.`) && file.includes(extension));
      for (const file of own) await unlink(join(folder, file)).catch(ifMissing);
    },
  };
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
