import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { scratchFolder } from '../../mcp/test/scratch-folder.ts';

const require = createRequire(new URL('../../../package.json', import.meta.url));

/** Compilers that the tests run. */
export const compilers = {
  'TypeScript 5.4': 'typescript-v5.4',
  'TypeScript 5.9': 'typescript-v5',
  'TypeScript 7': 'typescript',
} as const;

/** Compiles files as a strict program checks its own code. Returns the errors. */
export function compile(compiler: keyof typeof compilers, files: Record<string, string>): string {
  const folder = scratchFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const program = join(dirname(require.resolve(`${compilers[compiler]}/package.json`)), 'bin/tsc');
  const flags = '--noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --pretty false';
  const settings = `${flags} --skipLibCheck false --target es2022 --lib es2022 --module nodenext`.split(' ');
  const args = [...settings, ...Object.keys(files).map((name) => join(folder, name))];
  const { stdout, stderr, error } = spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' });
  if (error) throw error;
  return stdout + stderr;
}
