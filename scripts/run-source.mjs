// Runs a program with the sources of the packages, which needs no build: `node scripts/run-source.mjs <file> [arguments]`.
import { spawnSync } from 'node:child_process';

const hooks = new URL('source-hooks.mjs', import.meta.url).href;
const program = spawnSync('node', ['--conditions=@quiver/source', '--import', hooks, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exit(program.status ?? 1);
