// The program behind `npm test`, `npm run test:long` and `npm run test:changed`. Runs every stage, also after a failure. The last line is
// the total: `N passed, N failed, N skipped`.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { filesToRepeat, mergeRuns, readTestEvents, readVitestReport, sum } from './test-results.mjs';
import { selectTests } from './select-tests.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'quiver-verify-'));
const hostNode = process.env.QUIVER_HOST_NODE ?? process.execPath;
/** Results of the last `npm test`, which `npm run test:long` completes. */
const record = 'node_modules/.cache/quiver/test-results.json';
/** Compiled programs, whose folder also programs with another working directory find. */
const compiled = join(process.cwd(), 'node_modules/.cache/quiver/compiled');

/**
 * A stage runs a command. It counts its tests by file; a stage without tests counts as one.
 *
 * @typedef {{ name: string, command: string[], count?: () => Record<string, import('./test-results.mjs').Results> }} Stage
 */

const build = { name: 'build', command: ['pnpm', 'run', 'build'] };
const format = { name: 'format', command: ['pnpm', 'run', 'format:check'] };
const lint = { name: 'lint', command: ['pnpm', 'run', 'lint'] };
// More checkers, which each check the types that they share, take half as much work again.
const types = { name: 'types', command: ['pnpm', 'run', 'typecheck', '--checkers', '1'] };

const run = { all: runAll, long: runLong, changed: runChanged }[process.argv[2] ?? 'all'];
if (run === undefined) throw new Error(`Unknown run '${process.argv[2]}'. Pass all, long or changed.`);
const { passed, failed, skipped, failures } = await run();
rmSync(scratch, { recursive: true, force: true });
if (failures.length > 0) console.log(`\nFailed:\n${failures.join('\n')}`);
console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed === 0 ? 0 : 1);

/** All checks. Without the address of a service, its tests are skipped. */
async function runAll() {
  writeRecord({ isComplete: false });
  const results = await runLanes([
    // Runs the sources, so it does not wait for the build.
    [unitTests()],
    [
      format,
      lint,
      build,
      types,
      { name: 'unused code', command: ['pnpm', 'run', 'knip'] },
      { name: 'packages', command: ['pnpm', 'run', 'check:packages'] },
      { name: 'consumer', command: ['pnpm', 'run', 'check:consumer'] },
      nodeTests(`built packages on this machine's Node (${versionOf(hostNode)})`, compatibilitySuite(), hostNode),
      nodeTests('examples, documentation and official conformance suites', checks()),
    ],
  ]);
  writeRecord({ isComplete: true, files: results });
  return sum(Object.values(results));
}

/** Repeats the test files with tests that now run and were skipped. The total is that of this and the last `npm test`. */
async function runLong() {
  process.env.QUIVER_LONG = '1';
  const first = existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : { isComplete: false };
  if (!first.isComplete) console.log('The last npm test did not end: all tests run.');
  const files = first.isComplete ? filesToRepeat(first.files, (file) => readFileSync(file, 'utf8')) : undefined;
  const ofPackages = files?.filter((file) => file.startsWith('packages/'));
  const ofPrograms = files?.filter((file) => !file.startsWith('packages/'));
  const second = await runLanes([
    ofPackages?.length === 0 ? [] : [unitTests(ofPackages)],
    ofPrograms?.length === 0
      ? []
      : [build, nodeTests('examples, documentation and conformance', ofPrograms ?? checks())],
  ]);
  return sum(Object.values(mergeRuns(first.files ?? {}, second)));
}

/** Format, lint, types and the tests next to what changed since the branch left `main` (or another branch, given as argument). */
async function runChanged() {
  const git = (...command) => spawnSync('git', command, { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
  const [base = 'HEAD'] = git('merge-base', 'HEAD', process.argv[3] ?? 'main');
  const changed = [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')];
  const all = git('ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts').filter((file) =>
    existsSync(file),
  );
  const selected = selectTests(changed, all, (file) => readFileSync(file, 'utf8'));
  const ofPackages = selected.filter((file) => file.startsWith('packages/'));
  const ofPrograms = selected.filter((file) => !file.startsWith('packages/'));
  console.log(`${changed.length} changed files, ${selected.length} test files`);
  return sum(
    Object.values(
      await runLanes([
        ofPackages.length > 0 ? [unitTests(ofPackages)] : [],
        [format, lint, types, ...(ofPrograms.length > 0 ? [build, nodeTests('programs', ofPrograms)] : [])],
      ]),
    ),
  );
}

/** Runs lanes side by side, and the stages of a lane in order. Prints the output of a stage when it ends. */
async function runLanes(lanes) {
  const results = await Promise.all(
    lanes.map(async (stages) => {
      const ofLane = {};
      for (const stage of stages) Object.assign(ofLane, await runStage(stage));
      return ofLane;
    }),
  );
  return Object.assign({}, ...results);
}

async function runStage({ name, command, count }) {
  console.log(`── ${name}: started`);
  const started = performance.now();
  const { status, output } = await runCommand(command);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const outcome = status === 0 ? 'ok' : `failed (exit code ${status})`;
  console.log(`\n── ${name}\n${output.trimEnd()}\n── ${name}: ${outcome}, ${seconds} s\n`);
  const results = count ? readResults(count) : {};
  const { failed } = sum(Object.values(results));
  // A stage without tests, and one that failed without a failed test.
  if (!count || (status !== 0 && failed === 0)) {
    const isOk = status === 0;
    const failures = isOk ? [] : [`${name} (exit code ${status})`];
    results[`stage ${name}`] = { passed: isOk ? 1 : 0, failed: isOk ? 0 : 1, skipped: 0, failures };
  }
  return results;
}

function readResults(count) {
  try {
    return count();
  } catch {
    return {}; // The program ended before it wrote its report.
  }
}

function runCommand([program, ...programArguments]) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, programArguments, {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Programs that start often, like compilers and workers, are compiled once.
      env: { NODE_COMPILE_CACHE: compiled, ...process.env, CI: 'true' },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status: status ?? 1, output }));
  });
}

/** @param files - all test files by default */
function unitTests(files = []) {
  const report = join(scratch, 'vitest.json');
  return {
    name: 'unit tests',
    command: ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...files],
    count: () => readVitestReport(JSON.parse(readFileSync(report, 'utf8'))),
  };
}

function nodeTests(name, files, node = 'node') {
  const report = join(mkdtempSync(join(scratch, 'node-')), 'events');
  const reporters = { spec: 'stdout', './scripts/test-events.mjs': report };
  const options = Object.entries(reporters).flatMap(([reporter, destination]) => [
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${destination}`,
  ]);
  return {
    name,
    // By default, Node leaves one processor idle. These programs wait for others most of the time.
    command: [node, '--test', `--test-concurrency=${availableParallelism()}`, ...options, ...files],
    count: () => readTestEvents(readFileSync(report, 'utf8')),
  };
}

function writeRecord(content) {
  mkdirSync(dirname(record), { recursive: true });
  writeFileSync(record, JSON.stringify(content));
}

/** Checks that use the built packages like their users. */
function compatibilitySuite() {
  return ['scripts/consumer/compat', 'packages/core/test/compat'].flatMap(testFilesIn);
}

/** Programs that check themselves: every example, the conformance server, the code in the documentation, the scripts and a benchmark. */
function checks() {
  const examples = readdirSync('examples').map((name) => join('examples', name));
  const programs = [...examples, 'conformance', 'docs', 'scripts', 'benchmarks', 'benchmarks/field'];
  return programs.flatMap((directory) => testFilesIn(join(directory, 'check')));
}

function testFilesIn(directory) {
  return readdirSync(directory).flatMap((name) => (/\.test\.m?[jt]s$/.test(name) ? [join(directory, name)] : []));
}

function versionOf(node) {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
}
