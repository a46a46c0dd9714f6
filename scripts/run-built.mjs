// Builds the packages, quietly, then runs a program that uses them: `node scripts/run-built.mjs <file> [arguments]`.
import { spawnSync } from 'node:child_process';

const build = spawnSync('turbo', ['run', 'build', '--output-logs=errors-only'], { encoding: 'utf8' });
if (build.status !== 0) {
  console.error(build.stdout, build.stderr);
  process.exit(1);
}
const program = spawnSync('node', process.argv.slice(2), { stdio: 'inherit' });
process.exit(program.status ?? 1);
