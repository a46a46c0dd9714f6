// Runs one of the official suites and parses its report.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Runner = 'conformance-0.1' | 'conformance-0.2';

export interface Outcome {
  /** Whether each scenario passed. */
  readonly scenarios: ReadonlyMap<string, boolean>;
  /** Scenarios without a score, with the reason. */
  readonly unscored: ReadonlyMap<string, string>;
  readonly exitCode: number | null;
  readonly output: string;
}

/** Folder of the conformance programs and working directory of the suites. */
const directory = fileURLToPath(new URL('..', import.meta.url));

export async function runOfficialSuite(runner: Runner, options: readonly string[]): Promise<Outcome> {
  const results = mkdtempSync(join(tmpdir(), 'quiver-conformance-'));
  const program = join(directory, 'node_modules', runner, 'dist', 'index.js');
  const child = spawn(process.execPath, [program, ...options, '-o', results], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  rmSync(results, { recursive: true, force: true });
  return { ...readSummary(output), exitCode, output };
}

function readSummary(output: string): Pick<Outcome, 'scenarios' | 'unscored'> {
  const summary = output.slice(Math.max(0, output.search(/=== (SUITE )?SUMMARY ===/)));
  const scenarios = [...summary.matchAll(/^([✓✗]) (\S+): \d+ passed/gm)].map(
    ([, mark, scenario = '']) => [scenario, mark === '✓'] as const,
  );
  const unscored = [...summary.matchAll(/^ {2}[✓✗] (\S+) \(([^)]+)\)/gm)].map(
    ([, scenario = '', why = '']) => [scenario, why] as const,
  );
  return { scenarios: new Map(scenarios), unscored: new Map(unscored) };
}
