// Checks the packages before publication: the manifests (publint), the types for every module resolution (attw), that `exports`,
// the build and the pinned public names agree, and that imports have the published sizes.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pinned = JSON.parse(readFileSync(join(root, 'scripts', 'public-names.json'), 'utf8'));
const { packageVersion } = await import('../packages/core/dist/internal.js');
const problems = [];
const scratch = mkdtempSync(join(tmpdir(), 'quiver-packages-'));

const packAll = ['--filter', './packages/*', 'pack', '--pack-destination', scratch];
execFileSync('pnpm', packAll, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
for (const name of readdirSync(join(root, 'packages'))) {
  const directory = join(root, 'packages', name);
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  if (manifest.version !== packageVersion)
    problems.push(`${manifest.name} ${manifest.version}: the build says that it is version ${packageVersion}`);
  const tarball = join(scratch, `quiver-${name}-${manifest.version}.tgz`);
  await checkManifest(directory, manifest, tarball);
  checkTypes(directory, tarball);
  await checkNames(directory, manifest);
}
for (const entry of Object.keys(pinned)) {
  const [scope, name, ...subpath] = entry.split('/');
  const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
  if (!(`./${subpath.join('/')}`.replace(/^\.\/$/, '.') in manifest.exports))
    problems.push(`${scope}/${name} pins names of ${entry} but does not export it`);
}

await checkSizes();
rmSync(scratch, { recursive: true });

if (problems.length > 0) {
  console.error(problems.map((problem) => `✗ ${problem}`).join('\n'));
  process.exit(1);
}
console.log(`${Object.keys(pinned).length} entry points checked`);

/** Bundles the imports in the table of the page, and compares their sizes with the published ones, of which they may differ by 3 %. */
async function checkSizes() {
  const page = readFileSync(join(root, 'docs/guides/bundle.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)`\s+\| `(@quiver[^`]*)`\s+\| (\d+) KB\s+\| (\d+) KB/gm)];
  if (rows.length !== 6) problems.push(`docs/guides/bundle.md has ${rows.length} sizes of imports, not 6`);
  for (const [, name, entry, ...published] of rows) {
    const { outputFiles } = await build({
      stdin: { contents: `export { ${name} } from '${entry}'`, resolveDir: join(root, 'docs') },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'node',
      external: ['zod', 'ai', '@ai-sdk/*', '@opentelemetry/api', 'gpt-tokenizer'],
    });
    const [{ contents }] = outputFiles;
    for (const [place, bytes] of [contents.length, gzipSync(contents).length].entries()) {
      const difference = Math.abs(bytes / 1000 - published[place]);
      if (difference > Math.max(1, 0.03 * published[place]))
        problems.push(
          `${name} of ${entry} is ${Math.round(bytes / 1000)} KB${place === 1 ? ' compressed' : ''}: docs/guides/bundle.md says ${published[place]} KB`,
        );
    }
  }
}

async function checkManifest(directory, manifest, tarball) {
  const { buffer } = new Uint8Array(readFileSync(tarball));
  const { messages } = await publint({ strict: true, pack: { tarball: buffer } });
  problems.push(...messages.map((message) => `${manifest.name}: ${formatMessage(message, manifest)}`));
  for (const hook of ['preinstall', 'install', 'postinstall', 'prepare']) {
    if (manifest.scripts?.[hook])
      problems.push(`${manifest.name}: runs a '${hook}' script on the machines of its users`);
  }
}

function checkTypes(directory, tarball) {
  const options = ['--profile', 'esm-only', '--no-emoji', '--format', 'ascii'];
  const { status, stdout } = spawnSync('attw', [tarball, ...options], { encoding: 'utf8' });
  if (status !== 0) problems.push(`${directory}: attw\n${stdout}`);
}

/** Compares the pinned values with the built module. The consumer check compiles the pinned types. */
async function checkNames(directory, manifest) {
  for (const [subpath, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'string') continue;
    const entry = `${manifest.name}${subpath.slice(1)}`;
    const missing = Object.values(target).filter((file) => !existsSync(join(directory, file)));
    if (missing.length > 0) {
      problems.push(`${entry}: ${missing.join(', ')} does not exist`);
      continue;
    }
    const expected = pinned[entry];
    // The names of `internal` are not public.
    if (subpath === './internal') continue;
    if (!expected) {
      problems.push(`${entry} is exported but not listed in scripts/public-names.json`);
      continue;
    }
    const actual = Object.keys(await import(pathToFileURL(join(directory, target.default)).href)).toSorted();
    const list = expected.values.toSorted();
    for (const value of list.filter((value) => !actual.includes(value)))
      problems.push(`${entry} no longer exports '${value}'`);
    for (const value of actual.filter((value) => !list.includes(value)))
      problems.push(`${entry} exports '${value}', which scripts/public-names.json does not list`);
  }
}
