// Measures `@quiver/core/tools`: packages and megabytes of an installation, import time, and time per tool call.
//
//   pnpm --filter @quiver/benchmarks core                       Quiver alone
//   pnpm --filter @quiver/benchmarks core -- --compare          compared with @mastra/core (installs 130 MB into a temporary folder)
//   options: --rounds 7, --json results.json
//
// Build first (`pnpm build`): the benchmark packs the package and installs it from the tarball, as users do.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFlags } from '../read-flags.mjs';
import { median } from '../statistics.mjs';

const mastraVersion = '1.71.0';
const zodVersion = '4.6.7';
const flags = readFlags({
  compare: { type: 'boolean', default: false },
  rounds: { type: 'string', default: '7' },
  json: { type: 'string' },
});
const rounds = Number(flags.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new TypeError('--rounds must be a positive whole number');

const scratch = mkdtempSync(join(tmpdir(), 'quiver-benchmark-'));
try {
  main();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function main() {
  const systems = [{ name: '@quiver/core', folder: installQuiver(), entry: '@quiver/core/tools' }];
  if (flags.compare) systems.push({ name: '@mastra/core', folder: installMastra(), entry: '@mastra/core/tools' });
  else
    console.log(
      'Without @mastra/core; add --compare to install it into a temporary folder (130 MB) and measure it too.\n',
    );

  for (const system of systems) {
    system.imports = [];
    system.calls = [];
    system.packages = countPackages(join(system.folder, 'node_modules'));
    system.megabytes = sizeOf(join(system.folder, 'node_modules')) / 1e6;
    run(system, 'import.mjs');
  }
  // The systems are interleaved, so that a temporary load of the machine affects all of them.
  for (let round = 0; round < rounds; round += 1) {
    for (const system of systems) system.imports.push(run(system, 'import.mjs'));
    for (const system of systems) system.calls.push(run(system, 'calls.mjs'));
  }
  const machine = `${platform()} ${arch()}, ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, load ${loadavg()[0].toFixed(2)}`;
  console.log(`${machine}, ${rounds} rounds, median (minimum)\n`);
  console.log('| | packages | MB on disk | import ms | µs per call |\n|---|---|---|---|---|');
  for (const { name, packages, megabytes, imports, calls } of systems) {
    const cells = [name, packages, megabytes.toFixed(1), summary(imports), summary(calls)];
    console.log(`| ${cells.join(' | ')} |`);
  }
  const [quiver, mastra] = systems;
  if (mastra) {
    const ratios = (key) => quiver[key].map((value, round) => mastra[key][round] / value);
    console.log(
      `\nRatio per round, median: import ${median(ratios('imports')).toFixed(1)}×, call ${median(ratios('calls')).toFixed(1)}×`,
    );
  }
  if (flags.json) {
    writeFileSync(
      flags.json,
      `${JSON.stringify({ machine, systems: systems.map(({ folder: _folder, ...rest }) => rest) }, null, 2)}\n`,
    );
  }
}

function installQuiver() {
  const core = fileURLToPath(new URL('../../packages/core', import.meta.url));
  execFileSync('pnpm', ['pack', '--pack-destination', scratch], { cwd: core, stdio: 'pipe' });
  const tarball = readdirSync(scratch).find((name) => name.endsWith('.tgz'));
  return install('quiver', [join(scratch, tarball)]);
}

function installMastra() {
  console.log(`Installing @mastra/core ${mastraVersion} …\n`);
  return install('mastra', [`@mastra/core@${mastraVersion}`]);
}

function install(name, specifiers) {
  const folder = join(scratch, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', ...options, ...specifiers, `zod@${zodVersion}`], { cwd: folder, stdio: 'pipe' });
  cpSync(new URL('./import.mjs', import.meta.url), join(folder, 'import.mjs'));
  cpSync(new URL('./calls.mjs', import.meta.url), join(folder, 'calls.mjs'));
  return folder;
}

/** Each measurement is a fresh process, and prints one number. */
function run({ folder, entry }, script) {
  const output = execFileSync(process.execPath, [script, entry], { cwd: folder, encoding: 'utf8' });
  const value = Number(output);
  if (!(value > 0)) throw new Error(`${script} ${entry} printed ${output}`);
  return value;
}

function countPackages(folder) {
  let count = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.name.startsWith('@')) count += countPackages(path);
    else count += 1 + (hasFolder(path, 'node_modules') ? countPackages(join(path, 'node_modules')) : 0);
  }
  return count;
}

function hasFolder(path, name) {
  return readdirSync(path, { withFileTypes: true }).some((entry) => entry.isDirectory() && entry.name === name);
}

function sizeOf(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .reduce((sum, entry) => sum + sizeOf(join(path, entry.name)), 0);
}

function summary(values) {
  return `${format(median(values))} (${format(Math.min(...values))})`;
}

function format(value) {
  return value < 10 ? value.toFixed(2) : value.toFixed(0);
}
