import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Installs third-party packages, pinned and without install scripts, into a new temporary folder.
 *
 * @param packages - such as `zod@4.6.7`
 * @param programs - URLs of modules that import the packages; they are copied into the folder, so that their imports resolve
 * @returns `load`, which imports a package or, by its file name, a program; and `remove`, which deletes the folder
 */
export function installPackages(packages, programs = []) {
  const folder = mkdtempSync(join(tmpdir(), 'quiver-anchors-'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', ...packages], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const program of programs.map((url) => fileURLToPath(url)))
    copyFileSync(program, join(folder, basename(program)));
  let entries = 0;
  return {
    folder,
    load: (name) => {
      if (name.endsWith('.mjs')) return import(pathToFileURL(join(folder, name)).href);
      const entry = join(folder, `entry-${(entries += 1)}.mjs`);
      writeFileSync(entry, `export * from '${name}';\n`);
      return import(pathToFileURL(entry).href);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
