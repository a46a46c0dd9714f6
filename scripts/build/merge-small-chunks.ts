import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { build } from 'esbuild';
import type { Options } from 'tsup';

type Plugin = NonNullable<Options['plugins']>[number];
type Chunk = Parameters<NonNullable<Plugin['renderChunk']>>[1];

/**
 * Merges the small chunks of a build into `shared.js`: esbuild writes one for each set of entries that share modules, and Node compiles 12,000 characters in
 * less time than it needs for one more file (see docs/decisions/0386-files-of-a-build.md). Chunks with other imports than each other and `@quiver/core` stay:
 * bundlers would resolve these for every program.
 *
 * @param limit - characters of a small chunk
 */
export function mergeSmallChunks(limit: number): Plugin {
  const chunks = new Map<string, Chunk>();
  return {
    name: 'merge-small-chunks',
    renderChunk: (_code, chunk) => void chunks.set(chunk.path, chunk),
    async buildEnd() {
      const small = new Map([...chunks].filter(([path]) => basename(path).startsWith('chunk-')));
      const isMergeable = ({ code, imports = [] }: Chunk): boolean =>
        code.length < limit && imports.every(({ path }) => path.startsWith('@quiver/core') || small.has(resolve(path)));
      for (let count = Infinity; small.size < count;) {
        count = small.size;
        for (const [path, chunk] of small) if (!isMergeable(chunk)) small.delete(path);
      }
      const [first] = small.keys();
      if (first === undefined) return;
      const exported = [...small.values()].flatMap(({ exports = [] }) => exports);
      if (new Set(exported).size < exported.length)
        throw new Error(`Two small chunks export the same name: ${exported}`);
      const names = [...small.keys()].map((path) => basename(path));
      await build({
        stdin: { contents: names.map((name) => `export * from './${name}';`).join('\n'), resolveDir: dirname(first) },
        outfile: resolve(dirname(first), 'shared.js'),
        bundle: true,
        format: 'esm',
        target: 'es2022',
        packages: 'external',
        sourcemap: true,
        sourcesContent: false,
      });
      for (const path of chunks.keys()) {
        if (small.has(path)) for (const file of [path, `${path}.map`]) rmSync(file);
        else {
          const code = readFileSync(path, 'utf8');
          writeFileSync(
            path,
            code.replaceAll(/(?<=\/)chunk-\w+\.js(?=";)/g, (name) => (names.includes(name) ? 'shared.js' : name)),
          );
        }
      }
    },
  };
}
