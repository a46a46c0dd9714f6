// Does everything that a release does, except to publish: `npm run release:dry`.
// Builds and checks the packages, packs them, installs the tarballs in empty folders, compares size and import time with
// release-budgets.json, checks licenses, writes an SBOM (CycloneDX), runs programs on Node 20, 22 and 24, Bun and Deno, and prints what
// `npm publish` would send. `--runtimes node` leaves out the downloaded runtimes.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: flags } = parseArgs({
  options: { runtimes: { type: 'string', default: 'node,node@22,node@24,bun,deno' } },
});
const budgets = JSON.parse(readFileSync(join(root, 'scripts/release-budgets.json'), 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'quiver-release-'));
const out = join(root, '.release');
/** The packages that programs use at run time, and the one for those who write them. */
const runtimeNames = ['core', 'mcp', 'rag', 'loaders'];
const names = [...runtimeNames, 'devtools'];
const problems = [];

/** Licenses that need no more than their notice. `BSD` is what `duck`, of mammoth, writes; its text has two clauses. */
const allowed =
  /^(MIT|MIT-0|ISC|0BSD|BSD(?:-[23]-Clause)?|Apache-2\.0|BlueOak-1\.0\.0|Unlicense|CC0-1\.0|Python-2\.0|Zlib)$/;

try {
  // The cache of the build adds its files to those of earlier builds.
  for (const name of names) rmSync(join(root, 'packages', name, 'dist'), { recursive: true, force: true });
  run(root, 'pnpm', ['run', 'build']);
  run(root, 'node', ['scripts/check-packages.mjs']);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  const tarballs = Object.fromEntries(names.map((name) => [name, pack(`packages/${name}`)]));
  const docs = pack('docs');
  for (const [title, budget] of Object.entries(budgets)) compareWithBudget(title, budget, tarballs);
  const folder = install('programs', { ...tarballs, docs }, ['zod@4']);
  checkLicenses(folder);
  writeFileSync(
    join(out, 'sbom.cdx.json'),
    run(folder, 'npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev']),
  );
  for (const runtime of flags.runtimes.split(',')) runPrograms(folder, runtime);
  for (const [name, file] of Object.entries({ ...tarballs, docs })) {
    const { status, stderr } = spawnSync('npm', ['publish', '--dry-run', '--access', 'public', file], {
      encoding: 'utf8',
    });
    const summary =
      stderr.match(/^npm notice (?:name|version|filename|package size|unpacked size|total files):.*$/gm) ?? [];
    console.log(`\nnpm publish @quiver/${name}\n${summary.map((line) => line.replace('npm notice', '')).join('\n')}`);
    if (status !== 0) problems.push(`npm publish --dry-run of @quiver/${name} failed: ${stderr.slice(-500)}`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const problem of problems) console.error(`✗ ${problem}`);
console.log(problems.length > 0 ? `\n${problems.length} problems` : `\nReady. Tarballs and SBOM are in ${out}.`);
process.exitCode = problems.length > 0 ? 1 : 0;

function run(cwd, program, programArguments) {
  return execFileSync(program, programArguments, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

function pack(folder) {
  const listed = run(join(root, folder), 'pnpm', ['pack', '--pack-destination', out, '--json']);
  return JSON.parse(listed).filename;
}

/** Installs tarballs in an empty folder, as users install the packages. */
function install(name, tarballs, others = []) {
  const folder = join(scratch, name);
  mkdirSync(folder);
  const files = Object.fromEntries(Object.entries(tarballs).map(([key, file]) => [`@quiver/${key}`, `file:${file}`]));
  const manifest = {
    name: 'quiver-release',
    version: '0.0.0',
    private: true,
    type: 'module',
    dependencies: files,
    overrides: files,
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  run(folder, 'npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--silent', ...others]);
  return folder;
}

function compareWithBudget(title, budget, tarballs) {
  const names = title === 'all' ? runtimeNames : title.split(' + ');
  const folder = install(title.replaceAll(' ', ''), Object.fromEntries(names.map((name) => [name, tarballs[name]])));
  const code = names.map((name) => `import '@quiver/${name}';`).join('');
  const cpu = (text) => {
    const script = `${text}process.stdout.write(String(process.cpuUsage().user + process.cpuUsage().system));`;
    const samples = Array.from({ length: 5 }, () =>
      Number(run(folder, process.execPath, ['--input-type=module', '-e', script])),
    );
    return Math.min(...samples) / 1000;
  };
  const measured = {
    packages: installedPackages(folder).length,
    megabytes: Number((sizeOf(join(folder, 'node_modules')) / 1e6).toFixed(1)),
    importMs: Math.round(cpu(code) - cpu('')),
  };
  console.log(
    `${title}: ${measured.packages} packages, ${measured.megabytes} MB, ${measured.importMs} ms of CPU to import`,
  );
  for (const [unit, most] of Object.entries(budget))
    if (measured[unit] > most) problems.push(`${title}: ${measured[unit]} ${unit}, at most ${most} are allowed`);
}

function installedPackages(folder) {
  const lock = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'));
  return Object.entries(lock.packages);
}

function sizeOf(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function checkLicenses(folder) {
  for (const [path] of installedPackages(folder)) {
    const { name, license = 'none' } = JSON.parse(readFileSync(join(folder, path, 'package.json'), 'utf8'));
    const alternatives = String(license.type ?? license)
      .replaceAll(/[()]/g, '')
      .split(' OR ');
    if (!alternatives.some((one) => one.split(' AND ').every((part) => allowed.test(part))))
      problems.push(`${name} has the license ${JSON.stringify(license)}`);
  }
}

/** Runs the programs of the README that end without a signal, as printed, and the server of the documentation. */
function runPrograms(folder, runtime) {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [server, , search] = Array.from(readme.matchAll(/```ts\n(.*?)```/gs), ([, program]) => program);
  writeFileSync(join(folder, 'search-folder.mjs'), search);
  const client = `import { MCPClient } from '@quiver/mcp/client';
    const mcp = new MCPClient({ servers: { it: { url } } });
    const { it_weather: remote } = await mcp.listTools();
    console.log(JSON.stringify(await remote.execute({ city: 'Oslo' })));
    await mcp.disconnect();
    await server.close();`;
  writeFileSync(join(folder, 'server.mjs'), `${server}\n${client}`);
  const notes = join(root, 'examples/minimal/notes');
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 'the server answers', method: 'ping' });
  for (const [program, expected] of [
    [['node_modules/@quiver/docs/server.mjs'], 'the server answers'],
    [['search-folder.mjs', notes, 'Where can I buy a winter coat?'], 'Harbor Street'],
    [['server.mjs'], '{"city":"Oslo","celsius":4}'],
  ]) {
    const [command, ...words] = commandOf(runtime);
    const env = { ...process.env, PORT: '0' };
    const { stdout, stderr } = spawnSync(command, [...words, ...program], {
      cwd: folder,
      env,
      input: `${ping}\n`,
      encoding: 'utf8',
      timeout: 60_000,
    });
    const passed = stdout?.includes(expected);
    console.log(`${runtime}: ${program[0]} ${passed ? 'ok' : 'failed'}`);
    if (!passed) problems.push(`${program[0]} failed on ${runtime}: ${`${stdout}${stderr}`.slice(-800)}`);
  }
}

/** The command of a runtime; npm packages contain those that this machine does not have. */
function commandOf(runtime) {
  if (runtime === 'node') return [process.env.npm_node_execpath ?? process.execPath];
  const [name] = runtime.split('@');
  const folder = join(scratch, runtime);
  if (!readdirSync(scratch).includes(runtime)) {
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{}');
    run(folder, 'npm', ['install', '--no-audit', '--no-fund', '--silent', runtime]);
  }
  const words = name === 'deno' ? ['run', '--allow-all', '--node-modules-dir=manual'] : [];
  return [join(folder, 'node_modules/.bin', name), ...words];
}
