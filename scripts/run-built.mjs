// Builds the packages, quietly, then runs a program that uses them: `node scripts/run-built.mjs <file> [arguments]`.
import { spawnSync } from 'node:child_process';
import { runProgram } from './run-program.mjs';

const build = spawnSync('turbo', ['run', 'build', '--output-logs=errors-only'], { encoding: 'utf8' });
if (build.status !== 0) {
  console.error(build.stdout, build.stderr);
  process.exit(1);
}
process.exit(await runProgram(process.execPath, process.argv.slice(2)));
