import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const packages = ['sqlite-vec@0.1.9', '@lancedb/lancedb@0.39.0', 'minisearch@7.2.0', '@orama/orama@3.1.18'];

/**
 * Other people's engines, pinned and without install scripts (about 600 MB), in a temporary folder that `remove` deletes.
 *
 * @returns the modules `sqliteVec`, `lance` and `keyword`, loaded from there
 */
export async function installAnchors() {
  const folder = mkdtempSync(join(tmpdir(), 'quiver-anchors-'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', ...packages], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const load = (name) => {
    copyFileSync(fileURLToPath(new URL(`anchors/${name}.mjs`, import.meta.url)), join(folder, `${name}.mjs`));
    return import(pathToFileURL(join(folder, `${name}.mjs`)).href);
  };
  return {
    sqliteVec: await load('sqlite-vec'),
    lance: await load('lancedb'),
    minisearch: await load('minisearch'),
    orama: await load('orama'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
