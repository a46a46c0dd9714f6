// Runs a script of this repository on a machine that has only Node 20 and npm: `node scripts/bootstrap.mjs [script] [arguments]`.
// Installs missing dependencies with the pinned pnpm, then runs the script; without a script, it only installs. The demo and
// the documentation server need only the `dependencies` of the root and of the packages that they run. It is plain JavaScript without dependencies.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from './run-program.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pnpm = join(root, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');
/** The Node that runs npm. npm and pnpm put the Node 24 of node_modules first on the PATH, so the PATH does not identify it. */
const hostNode = process.env.npm_node_execpath ?? process.execPath;
const [script, ...scriptArguments] = process.argv.slice(2);
const record = join(root, 'node_modules', '.modules.yaml');
/** Whether everything is installed, also what only the tests need. */
const hasAll = existsSync(record) && /"?devDependencies"?: true/.test(readFileSync(record, 'utf8'));
/** Whether the script needs no tools of development. It removes nothing after a complete installation. */
const isProgram = ['run-demo', 'docs:mcp:run'].includes(script) && !hasAll;

if (!isInstalled()) {
  const size = isProgram ? '0.2 GB, most of it Node 24' : 'several minutes and 1.3 GB, most of it for the tests';
  console.error(`Installing dependencies once. This takes ${size} …`);
  const status = await install();
  if (status !== 0) {
    console.error(
      `Installing the dependencies failed with exit code ${status}. Check that the npm registry is reachable.`,
    );
    process.exit(1);
  }
}
if (script !== undefined)
  process.exit(await run(process.execPath, [pnpm, 'run', '--silent', script, ...scriptArguments]));

/** Whether the record of the last installation is newer than the lockfile, and includes what the script needs. */
function isInstalled() {
  if (!existsSync(pnpm) || !existsSync(record)) return false;
  if (statSync(record).mtimeMs < statSync(join(root, 'pnpm-lock.yaml')).mtimeMs) return false;
  return isProgram || hasAll;
}

function install() {
  const options = ['install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only', '--loglevel=error'];
  // pnpm links all packages again when it adds those of the tests. By default, it prompts before it does that.
  options.push('--config.confirmModulesPurge=false');
  const programs = ['quiver-monorepo', '@quiver-examples/docs-server...', '@quiver/docs...'];
  if (isProgram) options.push('--prod', ...programs.flatMap((name) => ['--filter', name]));
  if (existsSync(pnpm)) return run(process.execPath, [pnpm, ...options]);
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return run('npm', ['exec', '--yes', `--package=${packageManager}`, '--', 'pnpm', ...options]);
}

function run(command, commandArguments) {
  return runProgram(command, commandArguments, {
    cwd: root,
    // The documentation server writes messages of MCP to the standard output.
    stdio: commandArguments.includes('install') ? ['ignore', 2, 2] : 'inherit',
    shell: process.platform === 'win32' && command === 'npm',
    env: { ...process.env, QUIVER_HOST_NODE: hostNode, TURBO_TELEMETRY_DISABLED: '1' },
  });
}
