import { parseArgs } from 'node:util';

/** Returns the command-line flags of a benchmark. Ignores the `--` that pnpm passes before them. */
export function readFlags(options) {
  return parseArgs({ args: process.argv.slice(2).filter((argument) => argument !== '--'), options }).values;
}
