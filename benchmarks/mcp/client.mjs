// Compares MCPClient with the clients of the official SDKs: CPU per call, calls per second, start, memory per connection.
//
//   pnpm build && pnpm --filter @quiver/benchmarks mcp-client                  Quiver and SDK 1
//   pnpm --filter @quiver/benchmarks mcp-client -- --with-anchors              also SDK 2, and @mastra/mcp and @ai-sdk/mcp in a temporary folder
//   options: --rounds 5, --seconds 1, --only load,bearer,fetch,http-sse,stdio,payload,start,heap
//
// Every client runs in a separate process and calls one server in another process. Every round measures each client in turn; the
// tables show the median of the ratios within a round. CPU is the CPU time of the client process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { arch, cpus, loadavg, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installClients } from './clients/install.mjs';
import { inTurn, median, ratiosOf, withSpread } from '../statistics.mjs';
import { table } from './report.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';

const flags = readFlags({
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '0.7' },
  only: { type: 'string' },
  'with-anchors': { type: 'boolean', default: false },
});
const rounds = Number(flags.rounds);
const seconds = Number(flags.seconds);
const wanted = flags.only?.split(',');
const here = dirname(fileURLToPath(import.meta.url));
const anchors = flags['with-anchors'] ? installClients() : { folderOf: {}, remove() {} };

/** Measured systems. The first one is the base of the ratios. */
const sdk1 = { label: 'SDK 1.32.2', name: 'sdk1', era: 'legacy' };
const quiver = { label: '**Quiver**', name: 'quiver', era: 'legacy' };
const systems = [
  sdk1,
  quiver,
  { label: '**Quiver**, 2026-07-28', name: 'quiver', era: 'modern' },
  { label: '**Quiver**, `callTool`', name: 'quiver', era: 'legacy', variant: 'direct' },
  ...(flags['with-anchors']
    ? [
        { label: 'SDK 2.4.0', name: 'sdk2', era: 'legacy' },
        { label: 'SDK 2.4.0, 2026-07-28', name: 'sdk2', era: 'modern' },
        { label: '@mastra/mcp 1.18.0', name: 'mastra', install: 'mastra1', era: 'legacy' },
        { label: '@mastra/mcp 2.0.0, 2026-07-28', name: 'mastra', install: 'mastra2', era: 'modern' },
        { label: '@ai-sdk/mcp 2.0.99', name: 'ai-sdk', install: 'ai-sdk', era: 'legacy' },
      ]
    : []),
];

/** The systems of the tables without loads: a way to call has no start or memory of its own. */
const shownOnce = systems.filter((system) => !system.variant);

/** Further comparisons. The first system of each is the base of its ratios. */
const variant = (name, system) => ({ ...system, variant: name });
const [one, sixteen, sixtyFour] = [1, 16, 64].map((inFlight) => ({ title: `${inFlight} in flight`, inFlight }));
const comparisons = {
  bearer: {
    title: 'With an OAuth provider',
    systems: [variant('bearer', sdk1), variant('bearer', quiver)],
    cases: [one, sixteen],
  },
  fetch: {
    title: 'With a custom `fetch`',
    systems: [{ label: 'bare loop over `fetch`', name: 'fetch' }, variant('fetch', quiver), variant('fetch', sdk1)],
    cases: [one, sixteen],
  },
  'http-sse': {
    title: 'Over HTTP+SSE',
    form: 'http-sse',
    systems: [variant('http-sse', sdk1), variant('http-sse', quiver)],
    cases: [one, sixteen, sixtyFour],
  },
  stdio: {
    title: 'Over stdio',
    systems: [variant('stdio', sdk1), variant('stdio', quiver), { label: 'bare loop over the pipe', name: 'pipe' }],
    cases: [one, sixteen],
  },
  payload: {
    title: 'Large payloads, there and back',
    systems: [sdk1, quiver],
    cases: [
      { title: '1 MB', inFlight: 1, size: 1e6 },
      { title: '10 MB', inFlight: 1, size: 1e7 },
    ],
  },
};

function start(file, args = [], execArgv = []) {
  // Warnings of the measured packages must not appear between the tables. Errors arrive as messages.
  const stdio = ['ignore', 'ignore', 'ignore', 'ipc'];
  const child = fork(file, args, { execArgv, stdio, env: { ...process.env, NODE_ENV: 'production' } });
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${file} exited with code ${code}`)));
  failed.catch(() => {});
  return {
    next: async () => (await Promise.race([once(child, 'message'), failed]))[0],
    send: (message) => child.send(message),
    stop: () => void child.kill('SIGKILL'),
  };
}

function startClient({ label, name, install, era = 'legacy', variant: way = '' }) {
  const folder = install === undefined ? join(here, 'clients') : anchors.folderOf[install];
  const args = [join(folder, `${name}.mjs`), era, way];
  const child = start(join(here, 'clients/process.mjs'), args, ['--expose-gc']);
  return {
    run: async (message) => {
      child.send(message);
      const { result, error } = await child.next();
      if (error) throw new Error(`${label}: ${error}`);
      return result;
    },
    stop: child.stop,
  };
}

/** Clients by their system: several tables measure the same process. */
const started = new Map();
const server = start(join(here, 'clients/server.mjs'));
const { url } = await server.next();
try {
  const machine = `${platform()} ${arch()}, ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`;
  console.log(`${machine}; ${rounds} rounds: medians, and ratios (×) with the least and the largest of the rounds\n`);
  if (isWanted('load')) await load();
  for (const [name, comparison] of Object.entries(comparisons)) if (isWanted(name)) await compare(comparison);
  if (isWanted('start')) await starts();
  if (isWanted('heap')) await heaps();
  const loads = loadavg().map((value) => value.toFixed(2));
  console.log(`load average at the end: ${loads.join(' ')}`);
} finally {
  for (const { stop } of started.values()) stop();
  server.stop();
  anchors.remove();
}

function isWanted(name) {
  return !wanted || wanted.includes(name);
}

async function load() {
  const tables = [
    ...(await measure(systems, 'json', [one, sixteen, sixtyFour])).map((row) => ({
      ...row,
      title: `JSON, ${row.title}`,
    })),
    ...(await measure(systems, 'sse', [sixteen])).map((row) => ({
      ...row,
      title: `event stream, ${row.title}`,
    })),
  ];
  printCalls('Calls', systems, tables);
}

async function compare({ title, systems: compared, cases, form = 'json' }) {
  printCalls(title, compared, await measure(compared, form, cases));
}

/** @returns `{ title, rows }` per case, with one row per system and one result per round */
async function measure(compared, form, cases) {
  const clients = [];
  for (const system of compared) {
    // The SDK needs several seconds of warm-up to reach its full speed.
    const warmUp = started.has(system) ? 0.4 : 1.5;
    if (!started.has(system)) started.set(system, startClient(system));
    const client = started.get(system);
    await client.run({ job: 'open', url, form });
    await client.run({ job: 'load', inFlight: 16, seconds: warmUp });
    clients.push(client);
  }
  const tables = [];
  for (const { title, ...settings } of cases) {
    const rows = await inTurn(clients, rounds, (client) => client.run({ job: 'load', seconds, ...settings }));
    tables.push({ title, rows });
  }
  return tables;
}

function printCalls(title, compared, tables) {
  for (const { title: column, rows } of tables) recordRatios(`${title}/${column}`, 'cpu', compared, rows, 'cpu');
  console.log(`**${title}**: CPU µs per call, × · calls per second, ×\n`);
  print(
    tables.map((table) => table.title),
    (index) => tables.map(({ rows }) => `${cell(rows, index, 'cpu', 0)} · ${cell(rows, index, 'perSecond', 0)}`),
    compared,
  );
}

async function starts() {
  const rows = await fresh(rounds, { job: 'start', url, count: 20 });
  for (const [name, key] of Object.entries({ 'code loaded': 'totalCpu', 'connected again': 'warmCpu' }))
    recordRatios(`Start/${name}`, 'cpu', shownOnce, rows, key);
  console.log('**Start**: 20 servers of 50 tools, connected and listed: ms, × · CPU ms, ×\n');
  print(
    ['code loaded, connected', 'connected again'],
    (index) => [
      `${cell(rows, index, 'total', 0)} · ${cell(rows, index, 'totalCpu', 0)}`,
      `${cell(rows, index, 'warm', 1)} · ${cell(rows, index, 'warmCpu', 1)}`,
    ],
    shownOnce,
  );
}

async function heaps() {
  const rows = await fresh(Math.min(rounds, 3), { job: 'heap', url, count: 50 });
  for (const [name, key] of Object.entries({ 'tools held': 'held', 'tools read': 'read', 'tools dropped': 'without' }))
    recordRatios(`Memory/${name}`, 'heap', shownOnce, rows, key);
  console.log('**Memory**: KB of heap per open connection, after collection, ×\n');
  print(
    ['its 50 tools held', 'each of them read', 'tools dropped'],
    (index) => [cell(rows, index, 'held', 0), cell(rows, index, 'read', 0), cell(rows, index, 'without', 0)],
    shownOnce,
  );
}

/** Records the ratio of each row to the first one, and to SDK 1. */
function recordRatios(name, measured, compared, rows, key) {
  const valuesOf = (index) => rows[index].map((row) => row[key]);
  for (const [base, { name: system }] of compared.entries())
    if (base === 0 || system === 'sdk1')
      for (const [index, { label }] of compared.entries())
        record(`client/${name}/${measured}-to-${system}/${label}`, ratiosOf(valuesOf(index), valuesOf(base)));
}

/** @param cellsOf - the cells of a system by its number */
function print(columns, cellsOf, shown) {
  const rows = shown.map((system, index) => [system.label, cellsOf(index)]);
  console.log(`${table(columns, new Map(rows))}\n`);
}

/** Measures every system in a new process. */
function fresh(times, message) {
  return inTurn(shownOnce, times, async (system) => {
    const client = startClient(system);
    const result = await client.run(message);
    client.stop();
    return result;
  });
}

function cell(rows, index, key, digits) {
  const values = rows[index].map((row) => row[key]);
  const base = rows[0].map((row) => row[key]);
  return `${median(values).toFixed(digits)}, ${withSpread(ratiosOf(values, base))}`;
}
