import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { InMemoryEventStore } from '@quiver/mcp/server';
import { createConformanceServer } from '../src/server.ts';

const server = createConformanceServer();
const results = mkdtempSync(join(tmpdir(), 'quiver-conformance-'));
let url = '';

before(async () => {
  const { port } = await server.listen({ eventStore: new InMemoryEventStore() });
  url = `http://localhost:${port}/mcp`;
});

after(async () => {
  await server.close({ grace: 1000 });
  rmSync(results, { recursive: true, force: true });
});

interface Suite {
  readonly name: string;
  readonly runner: 'conformance-0.1' | 'conformance-0.2';
  readonly select: readonly string[];
  /** Scenarios that decide; every one has to pass. */
  readonly required: number;
}

const suites: readonly Suite[] = [
  { name: 'suite 0.1.16', runner: 'conformance-0.1', select: ['--suite', 'all'], required: 32 },
  { name: '2025-11-25', runner: 'conformance-0.2', select: ['--requirements', '2025-11-25'], required: 30 },
  { name: '2026-07-28', runner: 'conformance-0.2', select: ['--requirements', '2026-07-28'], required: 37 },
];

for (const suite of suites) {
  describe(`official conformance, ${suite.name}`, () => {
    let outcome: Outcome;
    before(async () => {
      outcome = await run(suite);
    });

    test(`all ${suite.required} required scenarios pass`, () => {
      const required = [...outcome.scenarios].filter(([name]) => !outcome.unscored.has(name));
      assert.deepEqual(
        required.filter(([, passed]) => !passed).map(([name]) => name),
        [],
        outcome.output,
      );
      assert.equal(required.length, suite.required);
      assert.equal(outcome.exitCode, 0);
    });

    test('of the scenarios that are not scored, only extensions fail', () => {
      const failed = [...outcome.unscored].filter(
        ([name, why]) => why !== 'extension' && outcome.scenarios.get(name) === false,
      );
      assert.deepEqual(failed, []);
    });
  });
}

interface Outcome {
  /** Whether each scenario passed. */
  readonly scenarios: ReadonlyMap<string, boolean>;
  /** Scenarios that do not count, and why. */
  readonly unscored: ReadonlyMap<string, string>;
  readonly exitCode: number | null;
  readonly output: string;
}

async function run({ name, runner, select }: Suite): Promise<Outcome> {
  const program = fileURLToPath(new URL(`../node_modules/${runner}/dist/index.js`, import.meta.url));
  const options = ['server', '--url', url, ...select, '-o', join(results, name)];
  const child = spawn(process.execPath, [program, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const summary = output.slice(output.indexOf('=== SUMMARY ==='));
  const scenarios = [...summary.matchAll(/^([✓✗]) (\S+): \d+ passed/gm)].map(
    ([, mark, scenario = '']) => [scenario, mark === '✓'] as const,
  );
  const unscored = [...summary.matchAll(/^ {2}[✓✗] (\S+) \(([^)]+)\)/gm)].map(
    ([, scenario = '', why = '']) => [scenario, why] as const,
  );
  return { scenarios: new Map(scenarios), unscored: new Map(unscored), exitCode, output };
}
