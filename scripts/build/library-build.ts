import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'tsup';

interface ExportTarget {
  '@quiver/source': string;
}

/**
 * Build configuration of every package. It reads the entries from `exports`, `imports` and `bin` of the manifest, so the two cannot differ.
 * `tsc` writes the declarations afterwards (see docs/decisions/0003-esm-only.md).
 */
export function libraryBuild(packageDirectory: string): ReturnType<typeof defineConfig> {
  const manifest = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8')) as {
    version: string;
    exports: Record<string, ExportTarget | string>;
    imports?: Record<string, Record<string, ExportTarget | string>>;
    bin?: Record<string, string>;
  };
  const entry: Record<string, string> = {};
  // Modules that differ by platform, which bundlers choose by a condition.
  const chosen = Object.values(manifest.imports ?? {}).flatMap((targets) => [targets, ...Object.values(targets)]);
  for (const target of [...Object.values(manifest.exports), ...chosen]) {
    if (typeof target === 'string') continue;
    const source = target['@quiver/source'] as string;
    entry[source.replace('./src/', '').replace(/\.ts$/, '')] = source;
  }
  for (const file of Object.values(manifest.bin ?? {})) {
    const name = file.replace('./dist/', '').replace(/\.js$/, '');
    entry[name] = `./src/${name}.ts`;
  }
  return defineConfig({
    entry,
    outDir: 'dist',
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    splitting: true,
    sourcemap: true,
    // Each package contains its sources, to which the maps refer.
    esbuildOptions: (options) => {
      options.sourcesContent = false;
    },
    clean: true,
    dts: false,
    silent: true,
    external: [/^node:/, /^#/],
    define: { QUIVER_VERSION: JSON.stringify(manifest.version) },
    // Deno and Workers resolve Node modules only with the prefix `node:`.
    removeNodeProtocol: false,
    plugins: [
      {
        name: 'without-bare-imports',
        // esbuild repeats the chunks that other chunks import. Node resolves each import: a third of those of a server. No module of
        // ours is imported for its effects alone, except by programs, which have no exports. The empty lines keep the source map.
        renderChunk: (code, { exports = [] }) =>
          exports.length === 0 ? undefined : { code: code.replaceAll(/^import "\.[^"]*";$/gm, '') },
      },
    ],
  });
}
