import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { selectTests } from '../select-tests.mjs';
import { filesToRepeat, mergeRuns, readTestEvents, readVitestReport, sum } from '../test-results.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
// Inside the repository, so that test files find their packages.
mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
const scratch = mkdtempSync(join(root, 'node_modules/.cache/test-commands-'));
after(() => rmSync(scratch, { recursive: true, force: true }));
const countsOf = ({ passed, failed, skipped }) => ({ passed, failed, skipped });

describe('the results of Vitest', () => {
  const read = (files) => {
    const folder = mkdtempSync(join(scratch, 'vitest-'));
    for (const [name, text] of Object.entries({ ...files, 'vitest.config.mjs': 'export default {};' }))
      writeFileSync(join(folder, name), text);
    const report = join(folder, 'report.json');
    const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--reporter=json', `--outputFile=${report}`];
    const { QUIVER_REDIS_URL: _url, ...env } = process.env;
    const { stderr } = spawnSync(process.execPath, [...args, '--root', folder], {
      encoding: 'utf8',
      env,
    });
    try {
      return readVitestReport(JSON.parse(readFileSync(report, 'utf8')), folder);
    } catch (cause) {
      throw new Error(stderr, { cause });
    }
  };
  const helper = join(root, 'scripts/test-variable.ts');

  test('report a file without a test as a failure that says what to do', () => {
    const files = read({
      'empty.test.ts': `import { test } from 'vitest';
        test.each(process.env.QUIVER_REDIS_URL ? [1] : [])('with Redis %d', () => {});`,
      'variable.test.ts': `import { test } from 'vitest';
        import { readTestVariable } from '${helper}';
        test.each(readTestVariable('QUIVER_REDIS_URL') ? [1] : [])('with Redis %d', () => {});`,
    });
    assert.deepEqual(countsOf(files['empty.test.ts']), { passed: 0, failed: 1, skipped: 0 });
    assert.match(files['empty.test.ts'].failures[0], /^empty\.test\.ts: .*No test .*readTestVariable/);
    assert.deepEqual(files['variable.test.ts'], { passed: 0, failed: 0, skipped: 1, failures: [] });
  });

  test('count by file, and name what failed', () => {
    const files = read({
      'some.test.ts': `import { expect, test } from 'vitest';
        test('holds', () => {}); test.skip('is skipped', () => {}); test('breaks', () => expect(1).toBe(2));`,
      'throws.test.ts': `throw new Error('not loaded');`,
    });
    assert.deepEqual(countsOf(files['some.test.ts']), { passed: 1, failed: 1, skipped: 1 });
    assert.match(files['some.test.ts'].failures[0], /^some\.test\.ts: breaks: AssertionError: expected 1 to be 2/);
    assert.deepEqual(countsOf(files['throws.test.ts']), { passed: 0, failed: 1, skipped: 0 });
    assert.match(files['throws.test.ts'].failures[0], /not loaded/);
  });
});

test('the results of node --test count by file, and refuse a file without a test', () => {
  const folder = mkdtempSync(join(scratch, 'node-'));
  const files = {
    'some.test.mjs': `import { describe, test } from 'node:test';
      describe('a suite', () => { test('holds', () => {}); test('breaks', () => { throw new Error('why'); }); });
      describe('skipped', { skip: 'no service' }, () => test('never', () => {}));`,
    'hook.test.mjs': `import { after, describe, test } from 'node:test';
      describe('a suite', () => { after(() => { throw new Error('a hook'); }); test('holds', () => {}); });`,
    'empty.test.mjs': '',
    'throws.test.mjs': `throw new Error('not loaded');`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const reporter = join(root, 'scripts/test-events.mjs');
  const paths = Object.keys(files).map((name) => join(folder, name));
  const options = ['--test', `--test-reporter=${reporter}`, '--test-reporter-destination=stdout'];
  const { stdout } = spawnSync(process.execPath, [...options, ...paths], { encoding: 'utf8', env });
  const results = readTestEvents(stdout, folder);
  assert.deepEqual(Object.fromEntries(Object.entries(results).map(([file, result]) => [file, countsOf(result)])), {
    'some.test.mjs': { passed: 1, failed: 1, skipped: 1 },
    'hook.test.mjs': { passed: 1, failed: 1, skipped: 0 },
    'empty.test.mjs': { passed: 0, failed: 1, skipped: 0 },
    'throws.test.mjs': { passed: 0, failed: 1, skipped: 0 },
  });
  assert.deepEqual(results['some.test.mjs'].failures, ['some.test.mjs: breaks: why']);
  assert.match(results['empty.test.mjs'].failures[0], /registers no test/);
});

test('a file with tests that run now is repeated and counts once, with the failures of both runs', () => {
  const result = (passed, failed, skipped) => ({ passed, failed, skipped, failures: Array(failed).fill('x') });
  const first = { a: result(5, 0, 0), b: result(3, 1, 2), c: result(1, 0, 4) };
  const texts = {
    a: '$QUIVER_REDIS_URL',
    b: '$QUIVER_REDIS_URL',
    c: "import { open } from './c.fixture.js';",
    'c.fixture.ts': 'isLongRun',
    d: 'QUIVER_QDRANT_URL',
    e: '',
  };
  const skipped = { ...first, d: result(1, 0, 1), e: result(1, 0, 1) };
  const variables = { QUIVER_REDIS_URL: 'redis:', QUIVER_LONG: '1' };
  assert.deepEqual(
    filesToRepeat(skipped, (file) => texts[file], variables),
    ['b', 'c'],
  );
  const total = sum(Object.values(mergeRuns(first, { b: result(6, 0, 0), c: result(3, 1, 1) })));
  assert.deepEqual(total, { passed: 14, failed: 2, skipped: 1, failures: ['x', 'x'] });
});

test('test files read the variables of services only with readTestVariable()', () => {
  const sources = ['core', 'mcp', 'rag', 'loaders', 'devtools'].flatMap((name) =>
    readdirSync(join(root, 'packages', name, 'src'), { recursive: true, withFileTypes: true }),
  );
  const offenders = sources
    .filter((entry) => /\.(test|fixture)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => /process\.env(\.|\[')QUIVER_/.test(readFileSync(file, 'utf8')));
  assert.deepEqual(offenders, []);
});

test('a change selects its test files, those in its folder, and those that import it', () => {
  const texts = {
    'packages/rag/src/graph/beside.test.ts': '',
    'packages/rag/src/tools/importer.test.ts': "import { a } from '../graph/engine.js';",
    'packages/rag/src/tools/other.test.ts': "import { a } from '../graph/other.js';",
    'packages/mcp/src/changed.test.ts': '',
    'docs/check/code.test.ts': '',
    'examples/traces/check/traces.test.ts': '',
  };
  const select = (...changed) => selectTests(changed, Object.keys(texts), (file) => texts[file]);
  assert.deepEqual(select('packages/rag/src/graph/engine.ts'), [
    'packages/rag/src/graph/beside.test.ts',
    'packages/rag/src/tools/importer.test.ts',
  ]);
  assert.deepEqual(select('packages/mcp/src/changed.test.ts', 'docs/guides/rag.md', 'README.md'), [
    'packages/mcp/src/changed.test.ts',
    'docs/check/code.test.ts',
  ]);
});

// Continuous integration, with a program in place of `npm` that says what it was called with.
test('continuous integration tests without services first, then with them, and fails if one of both does', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'quiver-ci-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, '.ci/run'), join(folder, '.ci/run'));
  mkdirSync(join(folder, '.ci/services'));
  mkdirSync(join(folder, 'bin'));
  const mode = { mode: 0o755 };
  for (const service of ['postgres', 'chroma', 'chromium', 'redis', 'proxies']) {
    const text = `#!/bin/sh\necho "export QUIVER_${service.toUpperCase()}_URL=started"\n`;
    writeFileSync(join(folder, `.ci/services/${service}.sh`), text, mode);
  }
  const npm = '#!/bin/sh\necho "$* with $(env | grep -c ^QUIVER_)"\n[ "$*" != "$FAIL" ]\n';
  writeFileSync(join(folder, 'bin/npm'), npm, mode);
  const { PATH } = process.env;
  const run = (fail) =>
    spawnSync('bash', [join(folder, '.ci/run')], {
      encoding: 'utf8',
      // A home without the caches of benchmarks, which the run would name.
      env: {
        HOME: folder,
        PATH: `${join(folder, 'bin')}${delimiter}${PATH}`,
        QUIVER_QDRANT_URL: 'set before',
        FAIL: fail,
      },
    });
  const stdout = 'test --silent with 0\nrun --silent test:long with 6\n';
  for (const [fail, status] of [
    ['nothing', 0],
    ['test --silent', 1],
    ['run --silent test:long', 1],
  ]) {
    const result = run(fail);
    assert.deepEqual({ status: result.status, stdout: result.stdout }, { status, stdout }, result.stderr);
  }
});

test('a signal to npm ends the program that a script runs', { skip: process.platform === 'win32' }, async () => {
  const folder = mkdtempSync(join(scratch, 'program-'));
  const script = `node ${JSON.stringify(join(root, 'scripts/run-source.mjs'))} program.mjs`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { program: script } }));
  writeFileSync(join(folder, 'program.mjs'), `console.log('runs'); setInterval(() => {}, 1e6);`);
  // pnpm installs `node` as a shell script.
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  const text = `#!/bin/sh\n"${process.execPath}" "$@"\nexit $?\n`;
  writeFileSync(join(folder, 'node_modules/.bin/node'), text, { mode: 0o755 });
  // npm itself runs without that shell script.
  const PATH = process.env.PATH.split(delimiter).filter((entry) => !entry.includes('node_modules'));
  const npm = spawn('npm', ['run', '--silent', 'program'], {
    cwd: folder,
    env: { ...process.env, PATH: PATH.join(delimiter) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(npm.stdout, 'data');
  npm.stdout.resume();
  npm.kill('SIGTERM');
  // The pipe closes when the last process that has inherited it ends.
  await once(npm.stdout, 'close', { signal: AbortSignal.timeout(20_000) });
});
