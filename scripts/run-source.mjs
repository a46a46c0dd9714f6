// Runs a program with the sources of the packages, which needs no build: `node scripts/run-source.mjs <file> [arguments]`.
import { runProgram } from './run-program.mjs';

const hooks = new URL('source-hooks.mjs', import.meta.url).href;
process.exit(
  await runProgram(process.execPath, ['--conditions=@quiver/source', '--import', hooks, ...process.argv.slice(2)]),
);
