// Prints the microseconds of CPU per call of a tool, directly and through an MCP server in this process, without subscribers of the trace
// channels and with them. The last rows use the SDK of OpenTelemetry, which drops the spans after their end; "spans by hand" creates as
// many spans as `instrument()` does, without Quiver's events.
//
//   pnpm --filter @quiver/benchmarks traces
//   options: --rounds 9; --share 1, of the calls of a measurement; --call tool or server; --base <folder of another checkout with built packages>, measured in the same rounds
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { observe } from '@quiver/core';
import { instrument } from '@quiver/core/otel';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { inTurn, median, ratiosOf, table, timed, withSpread } from '../statistics.mjs';

const flags = readFlags({
  rounds: { type: 'string', default: '9' },
  share: { type: 'string', default: '1' },
  base: { type: 'string' },
  call: { type: 'string' },
  // For the processes that measure: one system each.
  system: { type: 'string' },
});
const rounds = Number(flags.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new TypeError('--rounds must be a positive whole number');

const inputSchema = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
};
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'benchmark', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const params = { name: 'add', arguments: { a: 1, b: 2 }, _meta: meta };
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
const headers = {
  host: 'localhost',
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'add',
};

/** The calls to measure, with the packages of one checkout. */
function createCalls({ createTool }, { MCPServer }) {
  const execute = async ({ a, b }) => ({ sum: a + b });
  const add = createTool({ id: 'add', description: 'Adds two numbers', inputSchema, execute });
  const mcp = new MCPServer({ name: 'benchmark', version: '1.0.0', tools: { add } });
  return {
    tool: async () => {
      const { sum } = await add.execute({ a: 1, b: 2 }, { toolCallId: 'call' });
      if (sum !== 3) throw new Error(`The tool returned a wrong sum: ${sum}`);
    },
    server: async () => {
      const response = await mcp.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
      const text = await response.text();
      if (!text.includes('{\\"sum\\":3}')) throw new Error(`The server returned a wrong sum: ${text}`);
    },
  };
}

async function load(root) {
  const from = (path) => import(pathToFileURL(resolve(root, 'packages', path)).href);
  return createCalls(await from('core/dist/tools/index.js'), await from('mcp/dist/server/index.js'));
}

function startSdk() {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

function startBoth() {
  startSdk();
  instrument();
}

/** Runs a call within a span with the attributes that `instrument()` sets at least. */
function withSpan(call) {
  const tracer = trace.getTracer('benchmark');
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'add',
    'gen_ai.tool.call.id': 'call',
  };
  return () => {
    const span = tracer.startSpan('execute_tool add', { attributes });
    return context.with(trace.setSpan(context.active(), span), call).finally(() => span.end());
  };
}

const nothing = () => {};
const systems = {
  ...(flags.base !== undefined && { base: { start: nothing } }),
  'no subscribers': { start: nothing },
  'observe(), empty function': { start: () => observe(() => {}) },
  'instrument(), no SDK': { start: () => instrument() },
  'one span by hand, SDK': { start: startSdk, wrap: withSpan },
  'instrument(), SDK': { start: startBoth },
};
const counts = { tool: 100_000, server: 10_000 };

if (flags.system === undefined) await main();
else console.log(await measure(flags.system, flags.call));

async function main() {
  for (const call of flags.call === undefined ? Object.keys(counts) : [flags.call]) {
    const names = Object.keys(systems);
    const results = await inTurn(names, rounds, async (name) => run(name, call));
    const plain = results[names.indexOf('no subscribers')];
    const rows = names.map((name, index) => {
      const values = results[index];
      const factors = ratiosOf(values, plain);
      if (name.startsWith('observe') || name.startsWith('instrument'))
        record(`traces/${call}/cpu-to-no subscribers/Quiver, ${name}`, factors);
      const more = median(values.map((value, round) => value - plain[round])).toFixed(2);
      return [name, `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)})`, more, withSpread(factors, 3)];
    });
    console.log(`\n${table([call, 'CPU µs per call, median (minimum)', 'additional µs, median', 'factor'], rows)}`);
  }
}

/** Each measurement is a fresh process: the compiler optimizes one system only. */
function run(system, call) {
  const base = flags.base === undefined ? [] : ['--base', flags.base];
  const words = ['--system', system, '--call', call, '--share', flags.share, ...base];
  return Number(execFileSync(process.execPath, [fileURLToPath(import.meta.url), ...words], { encoding: 'utf8' }));
}

async function measure(name, callName) {
  const { start, wrap = (call) => call } = systems[name];
  const root = name === 'base' ? flags.base : fileURLToPath(new URL('../..', import.meta.url));
  const calls = await load(root);
  start();
  const call = wrap(calls[callName]);
  const count = counts[callName] * Number(flags.share);
  const repeat = async (times) => {
    for (let index = 0; index < times; index += 1) await call();
  };
  await repeat(count / 2);
  return ((await timed(() => repeat(count))).cpu * 1000) / count;
}
