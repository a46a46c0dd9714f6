import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { QuiverError } from '@quiver/core';
import { checkOptions, oneOf, type OptionChecks, stringList } from '@quiver/core/internal';
import type { MCPServer } from '@quiver/mcp/server';
import { createTestClient } from './test-client.js';

/** Options of `conformance()`. */
export interface ConformanceOptions {
  /** Requirements of one protocol version; needs version 0.2 of the suite. Default: the suite's own choice. */
  requirements?: '2025-11-25' | '2026-07-28';
  /** Scenarios that may fail. */
  ignore?: readonly string[];
}

/** Result of `conformance()`: names of the scenarios. Those that may fail and did are in neither list. */
export interface ConformanceReport {
  passed: string[];
  /** Scenarios that need tools, resources or prompts of the suite, which this server does not have. */
  notApplicable: string[];
}

/** A check in a result of the suite. */
interface Check {
  status: string;
  description?: string;
  errorMessage?: string;
}

const packageName = '@modelcontextprotocol/conformance';
const checks: OptionChecks<ConformanceOptions> = {
  requirements: oneOf('2025-11-25', '2026-07-28'),
  ignore: stringList,
};

/** Scenarios that any server can pass, with the capability that they need. The others call tools, resources and prompts by fixed names. */
const generalScenarios: Readonly<Record<string, string | undefined>> = {
  'dns-rebinding-protection': undefined,
  'http-header-validation': undefined,
  'logging-set-level': 'logging',
  ping: undefined,
  'prompts-list': 'prompts',
  'resources-list': 'resources',
  'server-initialize': undefined,
  'server-session-lifecycle': undefined,
  'server-stateless': undefined,
  'tools-list': 'tools',
};

/**
 * Runs the official conformance suite, `@modelcontextprotocol/conformance`, against a server. The suite needs Node.js 22.
 *
 * @param server - is served at a free port for the run; or the URL of a running server
 * @throws `CONFORMANCE_UNAVAILABLE` if the suite is not installed or does not run; `CONFORMANCE_FAILED` with the failed checks, by
 *   scenario; `OPTIONS_INVALID`
 * @example
 * import { test } from 'node:test';
 *
 * test('conforms to the protocol', async () => {
 *   await conformance(server);
 * });
 */
export async function conformance(
  server: MCPServer | string | URL,
  options: ConformanceOptions = {},
): Promise<ConformanceReport> {
  checkOptions('conformance', options, checks);
  const program = await findProgram();
  if (typeof server === 'string' || server instanceof URL) return runSuite(program, String(server), options);
  const { port, close } = await server.listen({ port: 0 });
  try {
    return await runSuite(program, `http://localhost:${port}/mcp`, options);
  } finally {
    await close();
  }
}

async function runSuite(
  program: string,
  url: string,
  { requirements, ignore = [] }: ConformanceOptions,
): Promise<ConformanceReport> {
  const { capabilities, hasFixtures } = await describeServer(url);
  const folder = await mkdtemp(join(tmpdir(), 'quiver-conformance-'));
  try {
    const selected = requirements ? ['--requirements', requirements] : [];
    const output = await run(program, ['server', '--url', url, '-o', folder, ...selected]);
    const unscored = new Set(Array.from(output.matchAll(/^ {2}[✓✗] (\S+) \(/gm), ([, scenario]) => scenario));
    const report: ConformanceReport = { passed: [], notApplicable: [] };
    const failures: string[] = [];
    const results = await readResults(folder);
    if (results.length === 0) throw unavailable(`did not run: ${output.trim().slice(-maxOutput)}`);
    for (const [scenario, all] of results) {
      const needed = generalScenarios[scenario];
      const isGeneral = scenario in generalScenarios && (needed === undefined || capabilities[needed] !== undefined);
      const failed = all.filter(({ status }) => status === 'FAILURE');
      const counted = failed.filter(
        ({ errorMessage = '' }) => hasFixtures || (isGeneral && !ofFixtures.test(errorMessage)),
      );
      if (counted.length === 0) report[failed.length === 0 || isGeneral ? 'passed' : 'notApplicable'].push(scenario);
      else if (!ignore.includes(scenario) && !unscored.has(scenario))
        failures.push(...counted.map(({ errorMessage, description }) => `${scenario}: ${errorMessage ?? description}`));
    }
    if (failures.length === 0) return report;
    const list = failures.join('\n');
    throw new QuiverError('CONFORMANCE_FAILED', `The server does not conform to the protocol:\n${list}`, {
      details: { failures },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Failed checks about what the suite expects a server to offer, such as `test_simple_text`. */
const ofFixtures = /\btest_|Not testable/;
const maxOutput = 500;

async function describeServer(
  url: string,
): Promise<{ capabilities: Readonly<Record<string, unknown>>; hasFixtures: boolean }> {
  await using client = await createTestClient({ url });
  const tools = await client.tools();
  const { capabilities = {} } = client.mcp.status()['server'] ?? {};
  return { capabilities: { ...capabilities }, hasFixtures: tools.some(({ name }) => name.startsWith('test_')) };
}

/** The suite is a program, which the project or this package has installed. */
async function findProgram(): Promise<string> {
  for (const from of [join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      const manifest = createRequire(from).resolve(`${packageName}/package.json`);
      const { bin } = JSON.parse(await readFile(manifest, 'utf8')) as { bin: Record<string, string> };
      return join(dirname(manifest), bin['conformance'] ?? 'dist/index.js');
    } catch {
      // Not installed there.
    }
  }
  throw unavailable(`is not installed: npm install -D ${packageName}`);
}

function unavailable(problem: string): QuiverError {
  return new QuiverError('CONFORMANCE_UNAVAILABLE', `The conformance suite ${problem}`);
}

/** Returns the output also of a run with failures. */
function run(program: string, args: string[]): Promise<string> {
  const options = { maxBuffer: Number.POSITIVE_INFINITY };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], options, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}

async function readResults(folder: string): Promise<[scenario: string, checks: Check[]][]> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('server-')).toSorted();
  return Promise.all(
    names.map(async (name): Promise<[string, Check[]]> => {
      const scenario = name.slice('server-'.length).replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
      return [scenario, JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')) as Check[]];
    }),
  );
}
