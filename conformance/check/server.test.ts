import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { InMemoryEventStore } from '@quiver/mcp/server';
import { createConformanceServer } from '../src/server.ts';
import { runOfficialSuite, type Outcome, type Runner } from './official-suite.ts';

const server = createConformanceServer();
let url = '';

before(async () => {
  const { port } = await server.listen({ eventStore: new InMemoryEventStore() });
  url = `http://localhost:${port}/mcp`;
});

after(() => server.close({ grace: 1000 }));

interface Suite {
  readonly name: string;
  readonly runner: Runner;
  readonly select: readonly string[];
  /** Number of required scenarios. All of them must pass. */
  readonly required: number;
  /** Number of scenarios of the tasks extension. One of them, on notifications, is always skipped by the suite. */
  readonly tasks: number;
}

const suites: readonly Suite[] = [
  { name: 'suite 0.1.16', runner: 'conformance-0.1', select: ['--suite', 'all'], required: 32, tasks: 0 },
  { name: '2025-11-25', runner: 'conformance-0.2', select: ['--requirements', '2025-11-25'], required: 30, tasks: 0 },
  { name: '2026-07-28', runner: 'conformance-0.2', select: ['--requirements', '2026-07-28'], required: 37, tasks: 10 },
];

for (const { name, runner, select, required, tasks } of suites) {
  describe(`official server conformance suite ${name}`, () => {
    let outcome: Outcome;
    before(async () => {
      outcome = await runOfficialSuite(runner, ['server', '--url', url, ...select]);
    });

    test(`passes all ${required} required scenarios`, () => {
      const decisive = [...outcome.scenarios].filter(([scenario]) => !outcome.unscored.has(scenario));
      assert.deepEqual(
        decisive.filter(([, passed]) => !passed).map(([scenario]) => scenario),
        [],
        outcome.output,
      );
      assert.equal(decisive.length, required);
      assert.equal(outcome.exitCode, 0);
    });

    test('passes the scenarios without a score', () => {
      const failed = [...outcome.unscored.keys()].filter((scenario) => outcome.scenarios.get(scenario) === false);
      assert.deepEqual(failed, [], outcome.output);
      assert.equal([...outcome.unscored.keys()].filter((scenario) => scenario.startsWith('tasks-')).length, tasks);
    });
  });
}
