import { parseArgs } from 'node:util';

/** The flags a benchmark was called with. pnpm passes on the `--` before them. */
export function readFlags(options) {
  return parseArgs({ args: process.argv.slice(2).filter((argument) => argument !== '--'), options }).values;
}
