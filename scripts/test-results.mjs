// Results of test programs by test file, so that `npm run test:long` can repeat files and count each of their tests once.
import { relative } from 'node:path';
import { importsOf } from './select-tests.mjs';

/** @typedef {{ passed: number, failed: number, skipped: number, failures: string[] }} Results */

/** @returns {Results} */
export const noResults = () => ({ passed: 0, failed: 0, skipped: 0, failures: [] });

/**
 * Adds up results.
 *
 * @param {Iterable<Results>} all
 */
export function sum(all) {
  const total = noResults();
  for (const { passed, failed, skipped, failures } of all) {
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
    total.failures.push(...failures);
  }
  return total;
}

/**
 * Reads the report of Vitest's JSON reporter. A file that failed as a whole counts as one failed test.
 *
 * @returns {Record<string, Results>} by test file
 */
export function readVitestReport(report, root = process.cwd()) {
  const files = {};
  for (const { name, status, message, assertionResults } of report.testResults) {
    const file = relative(root, name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    const results = {
      passed: assertionResults.filter((test) => test.status === 'passed').length,
      failed: failed.length,
      skipped: assertionResults.filter((test) => ['pending', 'skipped', 'todo', 'disabled'].includes(test.status))
        .length,
      failures: failed.map((test) => `${file}: ${test.fullName}: ${test.failureMessages.join('\n')}`),
    };
    if (status === 'failed' && failed.length === 0) {
      results.failed = 1;
      results.failures.push(`${file}: ${assertionResults.length === 0 ? withoutTests(message) : message}`);
    }
    // A file whose values and types are tested is listed twice.
    files[file] = sum([files[file] ?? noResults(), results]);
  }
  return files;
}

/** Explains the error of a file that registers no test. Other errors stay unchanged. */
function withoutTests(message) {
  return /No test (suite )?found/.test(message)
    ? `${message}. The file registers no test without the variables that it reads: read them with readTestVariable() of ` +
        'scripts/test-variable.ts, or skip the tests instead of leaving them out.'
    : message;
}

/**
 * Reads the events that `scripts/test-events.mjs` wrote, one a line.
 *
 * @param {string} lines
 * @returns {Record<string, Results>} by test file
 */
export function readTestEvents(lines, root = process.cwd()) {
  const files = {};
  for (const line of lines.split('\n').filter(Boolean)) {
    const { file: path, name, outcome, error } = JSON.parse(line);
    const file = relative(root, path);
    const results = (files[file] ??= noResults());
    // Node reports a file without a test as a test that passed, and a file that ended early as one that failed.
    if (outcome === 'passed' && path.endsWith(name)) {
      results.failed += 1;
      results.failures.push(`${file}: the file registers no test. Skip tests instead of leaving them out.`);
    } else {
      results[outcome] += 1;
      if (outcome === 'failed') results.failures.push(`${file}: ${name}: ${error}`);
    }
  }
  return files;
}

/**
 * Returns the test files with skipped tests that name a variable which is set, or whose fixture names one. Others would
 * skip the same tests again, for example what a store cannot do.
 *
 * @param {Record<string, Results>} files
 * @param {(file: string) => string} read
 */
export function filesToRepeat(files, read, variables = process.env) {
  const namesOf = (text) => text.match(/QUIVER_[A-Z_]+|isLongRun/g) ?? [];
  const isSet = (name) => Boolean(variables[name === 'isLongRun' ? 'QUIVER_LONG' : name]);
  return Object.keys(files)
    .filter((file) => files[file].skipped > 0)
    .filter((file) => {
      const fixtures = importsOf(file, read(file)).filter((path) => path.endsWith('.fixture.ts'));
      return [file, ...fixtures].some((path) => namesOf(read(path)).some(isSet));
    })
    .toSorted();
}

/**
 * Results of two runs, of which the second repeated some files. A repeated file counts with its second results and the failures of the
 * first.
 *
 * @param {Record<string, Results>} first
 * @param {Record<string, Results>} second
 */
export function mergeRuns(first, second) {
  const files = { ...first };
  for (const [file, results] of Object.entries(second)) {
    const { failed = 0, failures = [] } = first[file] ?? {};
    files[file] = sum([results, { passed: 0, failed, skipped: 0, failures }]);
  }
  return files;
}
