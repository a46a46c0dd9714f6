// Runs a script of this repository on a machine that has only Node 20 and npm: `node scripts/bootstrap.mjs [script] [arguments]`.
// Installs missing dependencies with the pinned pnpm, then runs the script; without a script, it only installs. It is plain JavaScript
// without dependencies.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pnpm = join(root, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');
/** The Node that runs npm. npm and pnpm put the Node 24 of node_modules first on the PATH, so the PATH does not identify it. */
const hostNode = process.env.npm_node_execpath ?? process.execPath;
const [script, ...scriptArguments] = process.argv.slice(2);

if (!isInstalled()) {
  console.error('Installing dependencies once. This takes several minutes and 1 GB, most of it for the tests …');
  const status = install();
  if (status !== 0) {
    console.error(
      `Installing the dependencies failed with exit code ${status}. Check that the npm registry is reachable.`,
    );
    process.exit(1);
  }
}
if (script !== undefined) process.exit(run(process.execPath, [pnpm, 'run', '--silent', script, ...scriptArguments]));

/** Whether the lockfile is newer than the record that pnpm writes at every installation. */
function isInstalled() {
  const record = join(root, 'node_modules', '.modules.yaml');
  return (
    existsSync(pnpm) && existsSync(record) && statSync(record).mtimeMs >= statSync(join(root, 'pnpm-lock.yaml')).mtimeMs
  );
}

function install() {
  const options = ['install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only', '--loglevel=error'];
  if (existsSync(pnpm)) return run(process.execPath, [pnpm, ...options]);
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return run('npm', ['exec', '--yes', `--package=${packageManager}`, '--', 'pnpm', ...options]);
}

function run(command, commandArguments) {
  const { status, error } = spawnSync(command, commandArguments, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32' && command === 'npm',
    env: { ...process.env, QUIVER_HOST_NODE: hostNode, TURBO_TELEMETRY_DISABLED: '1' },
  });
  if (error) throw error;
  return status ?? 1;
}
