import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { runOfficialSuite, type Outcome, type Runner } from './official-suite.ts';

/** Node options of this process, so that the client resolves the same sources or builds. */
const inherited = process.execArgv.filter((argument) => !argument.startsWith('--test'));
const command = [JSON.stringify(process.execPath), ...inherited, join('src', 'client.ts')].join(' ');

interface Suite {
  readonly name: string;
  readonly runner: Runner;
  readonly select: readonly string[];
  /** Arguments that run one scenario of the suite. */
  readonly alone: (scenario: string) => readonly string[];
  /** Number of required scenarios. All of them must pass. */
  readonly required: number;
  /** Scenarios of extensions that must also pass. */
  readonly extensions: readonly string[];
  /** Whether it runs with `QUIVER_LONG` only. */
  readonly isLong?: boolean;
}

const extensions = [
  'auth/client-credentials-basic',
  'auth/client-credentials-jwt',
  'auth/enterprise-managed-authorization',
  'auth/dpop',
  'auth/dpop-nonce',
  'auth/wif-jwt-bearer',
];
const suites: readonly Suite[] = [
  {
    name: 'suite 0.1.16',
    runner: 'conformance-0.1',
    select: ['--suite', 'all'],
    alone: (scenario) => ['--scenario', scenario],
    required: 26,
    extensions: [],
    // The other suites have its scenarios of current revisions.
    isLong: true,
  },
  ...[
    { revision: '2025-11-25', required: 18 },
    { revision: '2026-07-28', required: 32 },
  ].map(({ revision, required }): Suite => ({
    name: revision,
    runner: 'conformance-0.2',
    select: ['--requirements', revision],
    alone: (scenario) => ['--scenario', scenario, '--spec-version', revision],
    required,
    extensions,
  })),
];

for (const { name, runner, select, alone, required, extensions: optional, isLong } of suites) {
  const skip = isLong && !process.env['QUIVER_LONG'] && 'QUIVER_LONG is not set';
  describe(`official client conformance suite ${name}`, { skip }, () => {
    let outcome: Outcome;
    const failed: string[] = [];

    before(async () => {
      const run = (choice: readonly string[]): Promise<Outcome> =>
        runOfficialSuite(runner, ['client', '--command', command, '--timeout', '120000', ...choice]);
      outcome = await run(select);
      // The suite runs all scenarios at once, and some of them measure time. This test repeats failed scenarios alone, because load can
      // make them fail. Scenarios cannot affect each other otherwise: each has a separate client process.
      for (const [scenario, passed] of outcome.scenarios) {
        if (passed || isForeign(scenario)) continue;
        const again = await run(alone(scenario));
        const verdict = again.exitCode === 0 ? 'passed' : 'failed';
        console.log(`${name}: ${scenario} failed in the parallel run and ${verdict} alone.`);
        if (again.exitCode !== 0) failed.push(`${scenario}\n${again.output}`);
      }
    });

    /** Extensions that the client does not implement. */
    const isForeign = (scenario: string): boolean =>
      outcome.unscored.get(scenario) === 'extension' && !optional.includes(scenario);

    test(`passes all ${required} required scenarios and those of ${optional.length} extensions`, () => {
      assert.deepEqual(failed, [], failed.join('\n'));
      const decisive = [...outcome.scenarios.keys()].filter((scenario) => !outcome.unscored.has(scenario));
      assert.equal(decisive.length, required, outcome.output);
      assert.deepEqual(
        optional.filter((scenario) => !outcome.scenarios.has(scenario)),
        [],
      );
    });
  });
}
