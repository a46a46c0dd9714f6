import process from 'node:process';
import { expect, it } from 'vitest';

/** Variables that name what some tests need: services, a browser, the test collections, definitions of tools. */
export type TestVariable =
  | 'QUIVER_CHROMA_URL'
  | 'QUIVER_CHROMIUM'
  | 'QUIVER_DATA'
  | 'QUIVER_POSTGRES_URL'
  | 'QUIVER_QDRANT_URL'
  | 'QUIVER_REDIS_URL'
  | 'QUIVER_TOOLS_CACHE';

/**
 * Returns the value of a variable, `undefined` if it is not set or empty. Test files read these variables only here.
 *
 * Registers a test that is skipped if the variable is not set. Thus a file that needs a service has a test without it too, and
 * `npm run test:long` runs the file again, because it repeats the files with skipped tests.
 */
export function readTestVariable(name: TestVariable): string | undefined {
  const value = process.env[name] || undefined;
  it.skipIf(value === undefined)(`${name} is set`, () => {
    expect(value).toBeTypeOf('string');
  });
  return value;
}

/** Whether tests that take long run too, as in `npm run test:long`. */
export const isLongRun: boolean = Boolean(process.env['QUIVER_LONG']);
