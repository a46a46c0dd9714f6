import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../../packages/', import.meta.url));

/** Something that programs import. */
interface EntryPoint {
  /** For example `@quiver/core/tools`. */
  name: string;
  /** Path of the source file. */
  file: string;
  /** Whether the first comment of the file says `@internal`. */
  internal: boolean;
}

/** Returns the entry points of the packages, from their `exports`. */
export function readEntryPoints(): EntryPoint[] {
  return ['core', 'mcp', 'rag', 'loaders', 'devtools'].flatMap((folder) => {
    const { name, exports } = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8')) as {
      name: string;
      exports: Record<string, string | { '@quiver/source': string }>;
    };
    return Object.entries(exports).flatMap(([subpath, entry]) => {
      if (typeof entry === 'string') return [];
      const file = join(packages, folder, entry['@quiver/source']);
      const comment = /^\/\*\*[^]*?\*\//.exec(readFileSync(file, 'utf8'))?.[0] ?? '';
      return [{ name: name + subpath.slice(1), file, internal: comment.includes('@internal') }];
    });
  });
}

/** Returns the names of the stores, in the order of the table that compares their situations. */
export function readStoreNames(): string[] {
  const page = readFileSync(new URL('../guides/choose-chunks-and-store.md', import.meta.url), 'utf8');
  return [...new Set(Array.from(page.matchAll(/\]\(stores\/(?!moving)(\w+)\.md\)/g), ([, name]) => name as string))];
}
