// Runs one script of this repository on a machine that has only Node 20 and npm: `node scripts/bootstrap.mjs <script> [args]`.
// It installs what is missing through the pinned pnpm, then hands over to the script.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const [script, ...args] = process.argv.slice(2);
const localPnpm = join(root, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');
const lockfile = join(root, 'pnpm-lock.yaml');
const installed = join(root, 'node_modules', '.modules.yaml');

function run(command, commandArguments, options = {}) {
  const result = spawnSync(command, commandArguments, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32' && command === 'npm',
    ...options,
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', ...options.env },
  });
  if (result.error) throw result.error;
  return result.status ?? 1;
}

function install() {
  const flags = ['install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only', '--loglevel=error'];
  const status = existsSync(localPnpm)
    ? run(process.execPath, [localPnpm, ...flags])
    : run('npm', ['exec', '--yes', '--', manifest.packageManager, ...flags], { stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    console.error(`Installing the dependencies failed (exit code ${status}). Is the npm registry within reach?`);
    process.exit(1);
  }
}

const isFresh = existsSync(installed) && statSync(installed).mtimeMs >= statSync(lockfile).mtimeMs;
if (!isFresh) {
  console.error('Installing dependencies …');
  install();
}
