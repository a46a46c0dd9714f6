// The program behind `npm test`. Runs every stage, also after a failure. The last line is the total: `N passed, N failed, N skipped`.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const scratch = mkdtempSync(join(tmpdir(), 'quiver-verify-'));
const vitestReport = join(scratch, 'vitest.json');
const hostNode = process.env.QUIVER_HOST_NODE ?? process.execPath;

/** Stages. A stage counts its tests; a stage without tests counts as one. */
const stages = [
  { name: 'format', command: ['pnpm', 'run', 'format:check'] },
  { name: 'lint', command: ['pnpm', 'run', 'lint'] },
  { name: 'build', command: ['pnpm', 'run', 'build'] },
  { name: 'types', command: ['pnpm', 'run', 'typecheck'] },
  { name: 'unused code', command: ['pnpm', 'run', 'knip'] },
  {
    name: 'unit and type tests',
    command: ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${vitestReport}`],
    count: () => countVitest(vitestReport),
  },
  { name: 'packages', command: ['pnpm', 'run', 'check:packages'] },
  { name: 'consumer', command: ['pnpm', 'run', 'check:consumer'] },
  {
    name: `built packages on this machine's Node (${versionOf(hostNode)})`,
    command: [hostNode, '--test', '--test-reporter=tap', ...compatibilitySuite()],
    count: countTap,
  },
  {
    name: 'examples, documentation and official conformance suites',
    command: ['node', '--test', '--test-reporter=tap', ...checks()],
    count: countTap,
  },
];

const total = { passed: 0, failed: 0, skipped: 0 };
/** Failed stages and tests, repeated at the end, because the output of the stages is long. */
const failures = [];
for (const { name, command, count } of stages) {
  console.log(`\n── ${name}`);
  const started = performance.now();
  const { status, output } = await run(command);
  const counted = (status === 0 || count ? count?.(output) : undefined) ?? {
    passed: status === 0 ? 1 : 0,
    failed: 0,
    skipped: 0,
  };
  if (status !== 0 && counted.failed === 0) counted.failed = 1;
  if (counted.failed > 0) failures.push(name, ...(counted.failures ?? []).map((failure) => `  ${failure}`));
  for (const key of Object.keys(total)) total[key] += counted[key];
  console.log(
    `── ${name}: ${status === 0 ? 'ok' : `failed (exit code ${status})`}, ${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
}
rmSync(scratch, { recursive: true, force: true });

if (failures.length > 0) console.log(`\nFailed:\n${failures.join('\n')}`);
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed === 0 ? 0 : 1);

function run([program, ...programArguments]) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, programArguments, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, CI: 'true' },
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      process.stdout.write(text);
    });
    child.on('error', reject);
    child.on('close', (status) => resolve({ status: status ?? 1, output }));
  });
}

function countVitest(file) {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, success, testResults } = JSON.parse(
      readFileSync(file, 'utf8'),
    );
    const failures = testResults
      .filter((result) => result.status === 'failed')
      .flatMap(({ name, message, assertionResults }) => {
        const failed = assertionResults.filter((test) => test.status === 'failed');
        const lines = failed.map((test) => `${test.fullName}: ${test.failureMessages.join('\n')}`);
        return [relative('.', name), ...(failed.length > 0 ? lines : [message])];
      });
    const failed = success ? numFailedTests : Math.max(1, numFailedTests);
    return { passed: numPassedTests, failed, skipped: numPendingTests + numTodoTests, failures };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

function countTap(output) {
  const number = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
  return {
    passed: number('pass'),
    failed: number('fail') + number('cancelled'),
    skipped: number('skipped') + number('todo'),
    failures: output.split('\n').filter((line) => /^ *not ok /.test(line) && !/# (SKIP|TODO)/i.test(line)),
  };
}

/** Checks that use the built packages like their users. */
function compatibilitySuite() {
  return ['scripts/consumer/compat', 'packages/core/test/compat'].flatMap(testFilesIn);
}

/** Programs that check themselves: every example, the conformance server, and the code in the documentation. */
function checks() {
  const programs = [...readdirSync('examples').map((name) => join('examples', name)), 'conformance', 'docs'];
  return programs.flatMap((directory) => testFilesIn(join(directory, 'check')));
}

function testFilesIn(directory) {
  return readdirSync(directory).flatMap((name) => (/\.test\.m?[jt]s$/.test(name) ? [join(directory, name)] : []));
}

function versionOf(node) {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
}
