// Chooses the tests that a change touches.
import { dirname, join } from 'node:path';

/**
 * Returns the test files that changed, those in the folder of a changed file, and those that import a changed file themselves. Every
 * file that depends on a change would be most of a package: many tests start a whole server and a whole client.
 *
 * @param {readonly string[]} changed - paths from the root of the repository
 * @param {readonly string[]} testFiles - all test files
 * @param {(file: string) => string} read
 */
export function selectTests(changed, testFiles, read) {
  const files = new Set(changed);
  const folders = new Set(changed.map(dirname));
  return testFiles.filter((test) => {
    // `examples/<name>/check/` tests all of `examples/<name>/`.
    const isBeside = dirname(test).endsWith('/check')
      ? changed.some((file) => file.startsWith(`${dirname(dirname(test))}/`))
      : folders.has(dirname(test));
    return files.has(test) || isBeside || importsOf(test, read(test)).some((file) => files.has(file));
  });
}

/** Returns the paths of the files that a file imports from the repository. */
export function importsOf(file, text) {
  const specifiers = Array.from(text.matchAll(/from '(\.[^']+)'/g), ([, specifier]) => specifier);
  return specifiers.map((specifier) => join(dirname(file), specifier.replace(/\.js$/, '.ts')));
}
