// Compares MCPClient with the clients of the official SDKs: CPU per call, calls per second, start, memory per connection.
//
//   pnpm build && pnpm --filter @quiver/benchmarks mcp-client                  Quiver, SDK 1 and 2
//   pnpm --filter @quiver/benchmarks mcp-client -- --with-anchors              also @mastra/mcp and @ai-sdk/mcp, in a temporary folder
//   options: --rounds 5, --seconds 1, --only load,bearer,fetch,http-sse,stdio,payload,start,heap, --json results.json, --source (runs the TypeScript sources)
//
// Every client runs in a separate process and calls one server in another process. Every round measures each client in turn; the
// tables show the median of the ratios within a round. CPU is the CPU time of the client process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installClients } from './clients/install.mjs';
import { sourceArguments } from './processes.mjs';
import { median, ratiosOf, withSpread } from '../statistics.mjs';
import { table } from './report.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';

const flags = readFlags({
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '0.7' },
  only: { type: 'string' },
  json: { type: 'string' },
  source: { type: 'boolean', default: false },
  'with-anchors': { type: 'boolean', default: false },
});
const rounds = Number(flags.rounds);
const seconds = Number(flags.seconds);
const wanted = flags.only?.split(',');
const here = dirname(fileURLToPath(import.meta.url));
const anchors = flags['with-anchors'] ? installClients() : { folderOf: {}, remove() {} };
const raw = [];

/** Measured systems. The first one is the base of the ratios. */
const systems = [
  { label: 'SDK 1.32.2', name: 'sdk1', era: 'legacy' },
  { label: 'SDK 2.4.0', name: 'sdk2', era: 'legacy' },
  { label: 'SDK 2.4.0, 2026-07-28', name: 'sdk2', era: 'modern' },
  { label: '**Quiver**', name: 'quiver', era: 'legacy' },
  { label: '**Quiver**, 2026-07-28', name: 'quiver', era: 'modern' },
  { label: '**Quiver**, `callTool`', name: 'quiver', era: 'legacy', variant: 'direct' },
  ...(flags['with-anchors']
    ? [
        { label: '@mastra/mcp 1.18.0', name: 'mastra', install: 'mastra1', era: 'legacy' },
        { label: '@mastra/mcp 2.0.0, 2026-07-28', name: 'mastra', install: 'mastra2', era: 'modern' },
        { label: '@ai-sdk/mcp 2.0.99', name: 'ai-sdk', install: 'ai-sdk', era: 'legacy' },
      ]
    : []),
];

/** The systems of the tables without loads: a way to call has no start or memory of its own. */
const shownOnce = systems.filter((system) => !system.variant);

/** Further comparisons. The first system of each is the base of its ratios. */
const [sdk1, quiver] = [
  { label: 'SDK 1.32.2', name: 'sdk1', era: 'legacy' },
  { label: '**Quiver**', name: 'quiver', era: 'legacy' },
];
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
  const child = start(join(here, 'clients/process.mjs'), args, ['--expose-gc', ...sourceArguments(flags.source)]);
  return {
    label,
    run: async (message) => {
      child.send(message);
      const { result, error } = await child.next();
      if (error) throw new Error(`${label}: ${error}`);
      raw.push({ system: label, ...message, ...result });
      return result;
    },
    stop: child.stop,
  };
}

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
  if (flags.json) writeFileSync(flags.json, JSON.stringify({ machine, rounds, seconds, raw }, undefined, 2));
} finally {
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
  const clients = compared.map(startClient);
  for (const client of clients) {
    await client.run({ job: 'open', url, form });
    // The SDK needs several seconds of warm-up to reach its full speed.
    await client.run({ job: 'load', inFlight: 16, seconds: 2 });
  }
  const tables = [];
  for (const { title, ...settings } of cases) {
    const rows = clients.map(() => []);
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, client] of clients.entries())
        rows[index].push(await client.run({ job: 'load', seconds, ...settings }));
    }
    tables.push({ title, rows });
  }
  for (const client of clients) client.stop();
  return tables;
}

function printCalls(title, compared, tables) {
  for (const { title: column, rows } of tables) recordRatios(`client/${title}/${column}`, compared, rows, 'cpu');
  console.log(`**${title}**: CPU µs per call, × · calls per second, ×\n`);
  print(
    tables.map((table) => table.title),
    (index) => tables.map(({ rows }) => `${cell(rows, index, 'cpu', 0)} · ${cell(rows, index, 'perSecond', 0)}`),
    compared,
  );
}

async function starts() {
  const rows = await fresh(rounds, { job: 'start', url, count: 20 });
  for (const key of ['totalCpu', 'warmCpu']) recordRatios(`client/Start/${key}`, shownOnce, rows, key);
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
  const rows = await fresh(Math.min(rounds, 3), { job: 'heap', url, count: 100 });
  for (const key of ['held', 'read', 'without']) recordRatios(`client/Memory/${key}`, shownOnce, rows, key);
  console.log('**Memory**: KB of heap per open connection, after collection, ×\n');
  print(
    ['its 50 tools held', 'each of them read', 'tools dropped'],
    (index) => [cell(rows, index, 'held', 0), cell(rows, index, 'read', 0), cell(rows, index, 'without', 0)],
    shownOnce,
  );
}

/** Records the ratio of each row to the first one. */
function recordRatios(name, compared, rows, key) {
  const valuesOf = (index) => rows[index].map((row) => row[key]);
  for (const [index, { label }] of compared.entries())
    record(`${name}/${label}`, ratiosOf(valuesOf(index), valuesOf(0)));
}

/** @param cellsOf - the cells of a system by its number */
function print(columns, cellsOf, shown) {
  const rows = shown.map((system, index) => [system.label, cellsOf(index)]);
  console.log(`${table(columns, new Map(rows))}\n`);
}

/** Measures every system in a new process. */
async function fresh(times, message) {
  const rows = shownOnce.map(() => []);
  for (let round = 0; round < times; round += 1) {
    for (const [index, system] of shownOnce.entries()) {
      const client = startClient(system);
      rows[index].push(await client.run(message));
      client.stop();
    }
  }
  return rows;
}

function cell(rows, index, key, digits) {
  const values = rows[index].map((row) => row[key]);
  const base = rows[0].map((row) => row[key]);
  return `${median(values).toFixed(digits)}, ${withSpread(ratiosOf(values, base))}`;
}
