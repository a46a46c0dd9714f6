import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = new URL('..', import.meta.url);
const configuration = new URL('.tsconfig.loose.json', root);
afterAll(() => rmSync(configuration, { force: true }));

describe('the type tests', () => {
  it('pass without exactOptionalPropertyTypes too, as most projects are set up', async () => {
    const compilerOptions = { exactOptionalPropertyTypes: false, noUncheckedIndexedAccess: false };
    writeFileSync(
      configuration,
      JSON.stringify({ extends: './tsconfig.json', compilerOptions, include: ['src/**/*.test-d.ts'] }),
    );
    const compiler = new URL('../../node_modules/.bin/tsc', root).pathname;
    const { stdout } = await run(compiler, ['--checkers', '1', '-p', configuration.pathname]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });
});
