// What `npm run demo` runs: builds the packages, quietly, then starts the example with the arguments it was given.
import { spawnSync } from 'node:child_process';

const build = spawnSync('turbo', ['run', 'build', '--output-logs=errors-only'], { encoding: 'utf8' });
if (build.status !== 0) {
  console.error(build.stdout, build.stderr);
  process.exit(1);
}
const demo = spawnSync('node', ['examples/docs-server/src/main.ts', ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(demo.status ?? 1);
