// Measures MCPServer beside the servers of the official SDKs: calls per second and CPU per call over HTTP (with sessions, without,
// and in the stateless revision), lists, memory per session, stdio, cold start.
//
//   pnpm build && pnpm --filter @quiver/benchmarks mcp                 Quiver, SDK 1 and 2, and a bare node:http server
//   pnpm --filter @quiver/benchmarks mcp -- --with-anchors             also @mastra/mcp and fastmcp, installed into a temporary folder
//   options: --rounds 5, --seconds 2, --only sessions,stdio, --json results.json, --source (runs the TypeScript sources)
//
// All servers run at once; every round measures each of them in turn, ratios are taken within a round, and the median is shown.
// CPU is the server process's own and survives a busy machine; calls per second do not.
import { writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform } from 'node:os';
import { parseArgs } from 'node:util';
import { installAnchors } from './install-anchors.mjs';
import { startLoadClient, startServer } from './processes.mjs';
import { coldStart, stdioCalls } from './stdio.mjs';

const { values: flags } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string' },
    json: { type: 'string' },
    source: { type: 'boolean', default: false },
    'with-anchors': { type: 'boolean', default: false },
  },
});
const rounds = Number(flags.rounds);
const seconds = Number(flags.seconds);
const wanted = flags.only?.split(',');
const anchors = flags['with-anchors'] ? installAnchors() : { systems: {}, remove() {} };
const client = startLoadClient();
const raw = [];

const systemsOf = {
  sessions: ['sdk1', 'sdk2', 'quiver', 'bare'],
  stateless: ['sdk1', 'sdk2', 'quiver', 'bare'],
  modern: ['sdk2', 'quiver', 'bare'],
  stdio: ['sdk1', 'sdk2', 'quiver', 'bare'],
};
for (const [name, { modes }] of Object.entries(anchors.systems)) for (const mode of modes) systemsOf[mode].push(name);

const start = (name, mode, tools = 10) =>
  startServer({ name, mode, tools, source: flags.source, folder: anchors.systems[name]?.folder });

try {
  const machine = `${platform()} ${arch()}, ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`;
  console.log(`${machine}; ${rounds} rounds of ${seconds} s, median\n`);
  if (isWanted('sessions'))
    await http('sessions', [
      ['echo', 1],
      ['echo', 16],
      ['echo', 64],
      ['add', 16],
    ]);
  if (isWanted('stateless'))
    await http('stateless', [
      ['echo', 16],
      ['add', 16],
    ]);
  if (isWanted('modern'))
    await http('modern', [
      ['echo', 16],
      ['add', 16],
    ]);
  if (isWanted('tools')) await toolScaling();
  if (isWanted('list')) await lists();
  if (isWanted('memory')) await sessionMemory();
  if (isWanted('fetch')) await fetchPath();
  if (isWanted('stdio')) await stdio();
  if (isWanted('cold')) await cold();
  console.log(
    `load average at the end: ${loadavg()
      .map((value) => value.toFixed(2))
      .join(' ')}`,
  );
  if (flags.json) writeFileSync(flags.json, JSON.stringify({ machine, rounds, seconds, raw }, undefined, 2));
} finally {
  client.stop();
  anchors.remove();
}

function isWanted(name) {
  return !wanted || wanted.includes(name);
}

/** Calls per second and CPU per call. The base of the ratios is the first system. */
async function http(mode, cases) {
  const servers = await Promise.all(systemsOf[mode].map((name) => start(name, mode)));
  for (const server of servers)
    for (const [tool] of cases) await measure(server, { mode, tool, inFlight: 16, seconds: 2 });
  for (const [tool, inFlight] of cases) {
    const rows = new Map(servers.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const server of servers)
        rows.get(server.name).push(await measure(server, { mode, tool, inFlight, seconds }));
    }
    table(`${mode}, ${tool}, ${inFlight} in flight`, rows);
  }
  for (const server of servers) server.stop();
}

async function measure(server, { mode, tool, inFlight, seconds: duration }) {
  const before = await server.ask('usage');
  const load = await client.run({ job: 'load', url: server.url, mode, tool, inFlight, seconds: duration });
  const after = await server.ask('usage');
  if (load.wrong > 0) throw new Error(`${server.name} gave ${load.wrong} wrong answers`);
  const row = {
    system: server.name,
    mode,
    tool,
    inFlight,
    perSecond: (load.calls / load.milliseconds) * 1000,
    cpu: (after.cpu - before.cpu) / load.calls,
    p50: load.p50,
    p99: load.p99,
    rss: after.rss / 1e6,
  };
  raw.push(row);
  return row;
}

function table(title, rows) {
  const [base] = rows.values();
  console.log(
    `### ${title}\n\n| | calls/s | × | CPU µs per call | × | p50 ms | p99 ms | RSS MB |\n|---|---|---|---|---|---|---|---|`,
  );
  for (const [name, results] of rows) {
    const of = (key) => median(results.map((row) => row[key]));
    const ratio = (key) => median(results.map((row, round) => row[key] / base[round][key]));
    console.log(
      `| ${name} | ${of('perSecond').toFixed(0)} | ${ratio('perSecond').toFixed(2)} | ${of('cpu').toFixed(1)} | ${ratio('cpu').toFixed(3)} | ${of('p50').toFixed(2)} | ${of('p99').toFixed(2)} | ${of('rss').toFixed(0)} |`,
    );
  }
  console.log();
}

async function toolScaling() {
  console.log(
    '### 10 and 100 tools, echo, 16 in flight: CPU µs per call\n\n| | 10 | 100 | factor |\n|---|---|---|---|',
  );
  for (const [name, mode] of [
    ['sdk1', 'stateless'],
    ['quiver', 'sessions'],
    ['quiver', 'modern'],
  ]) {
    const servers = [await start(name, mode, 10), await start(name, mode, 100)];
    const results = [[], []];
    for (const server of servers) await measure(server, { mode, tool: 'echo', inFlight: 16, seconds: 2 });
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, server] of servers.entries()) {
        results[index].push((await measure(server, { mode, tool: 'echo', inFlight: 16, seconds })).cpu);
      }
    }
    const factor = median(results[1].map((cpu, round) => cpu / results[0][round]));
    console.log(
      `| ${name} (${mode}) | ${median(results[0]).toFixed(1)} | ${median(results[1]).toFixed(1)} | ${factor.toFixed(2)} |`,
    );
    for (const server of servers) server.stop();
  }
  console.log();
}

async function lists() {
  console.log('### tools/list with 1,000 tools\n\n| | ms | times faster | CPU ms per list |\n|---|---|---|---|');
  const servers = await Promise.all(['sdk1', 'sdk2', 'quiver'].map((name) => start(name, 'sessions', 1000)));
  const results = new Map(servers.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const server of servers) {
      const before = await server.ask('usage');
      const { p50, tools } = await client.run({ job: 'list', url: server.url, mode: 'sessions', times: 10 });
      if (tools !== 1000) throw new Error(`${server.name} listed ${tools} tools`);
      const row = { system: server.name, list: p50, cpu: ((await server.ask('usage')).cpu - before.cpu) / 10_000 };
      // The first round warms up.
      if (round > 0) results.get(server.name).push(row);
    }
  }
  const base = results.get('sdk1');
  for (const [name, rows] of results) {
    raw.push(...rows);
    const faster = median(rows.map(({ list }, round) => base[round].list / list));
    console.log(
      `| ${name} | ${median(rows.map(({ list }) => list)).toFixed(2)} | ${faster.toFixed(1)} | ${median(rows.map(({ cpu }) => cpu)).toFixed(2)} |`,
    );
  }
  for (const server of servers) server.stop();
  console.log();
}

async function sessionMemory() {
  console.log(
    '### Sessions: heap after collection\n\n| | KB per open session | KB kept after DELETE | CPU µs to open |\n|---|---|---|---|',
  );
  for (const name of ['sdk1', 'sdk2', 'quiver']) {
    const server = await start(name, 'sessions');
    const count = 2000;
    await client.run({ job: 'open', url: server.url, count: 500, end: true });
    const empty = await server.ask('heap');
    await client.run({ job: 'open', url: server.url, count, end: true });
    const ended = await server.ask('heap');
    await client.run({ job: 'open', url: server.url, count, end: false });
    const after = await server.ask('heap');
    const row = {
      system: name,
      open: (after.heapUsed - ended.heapUsed) / count / 1024,
      kept: (ended.heapUsed - empty.heapUsed) / count / 1024,
      cpu: (after.cpu - ended.cpu) / count,
    };
    raw.push(row);
    console.log(`| ${name} | ${row.open.toFixed(2)} | ${row.kept.toFixed(2)} | ${row.cpu.toFixed(0)} |`);
    server.stop();
  }
  console.log();
}

/** CPU of `fetch()` without a network, the making of `Request` and the reading of `Response` included. */
async function fetchPath() {
  const web = await start('quiver', 'fetch');
  const node = await start('quiver', 'stateless');
  const results = { web: [], node: [] };
  await web.run({ fetch: 20_000 });
  await measure(node, { mode: 'stateless', tool: 'echo', inFlight: 16, seconds: 2 });
  for (let round = 0; round < rounds; round += 1) {
    results.web.push((await web.run({ fetch: 20_000 })).fetched);
    results.node.push((await measure(node, { mode: 'stateless', tool: 'echo', inFlight: 16, seconds })).cpu);
  }
  console.log(
    '### fetch() against node:http, echo without sessions: CPU µs per call\n\n| node:http, socket included | fetch(), no socket | ratio |\n|---|---|---|',
  );
  const ratio = median(results.web.map((cpu, round) => cpu / results.node[round]));
  console.log(`| ${median(results.node).toFixed(1)} | ${median(results.web).toFixed(1)} | ${ratio.toFixed(2)} |\n`);
  raw.push({ system: 'quiver', fetch: results });
  web.stop();
  node.stop();
}

async function stdio() {
  for (const inFlight of [1, 32]) {
    const rows = new Map(systemsOf.stdio.map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const name of systemsOf.stdio) {
        const row = await stdioCalls({
          name,
          inFlight,
          seconds,
          source: flags.source,
          folder: anchors.systems[name]?.folder,
        });
        raw.push({ system: name, ...row });
        rows.get(name).push(row);
      }
    }
    const [base] = rows.values();
    console.log(`### stdio, echo, ${inFlight} in flight\n\n| | calls/s | × |\n|---|---|---|`);
    for (const [name, results] of rows) {
      const ratio = median(results.map(({ perSecond }, round) => perSecond / base[round].perSecond));
      console.log(
        `| ${name} | ${median(results.map(({ perSecond }) => perSecond)).toFixed(0)} | ${ratio.toFixed(2)} |`,
      );
    }
    console.log();
  }
}

async function cold() {
  const rows = new Map(systemsOf.stdio.map((name) => [name, []]));
  for (let round = 0; round < rounds + 3; round += 1) {
    for (const name of systemsOf.stdio) {
      rows.get(name).push(await coldStart({ name, source: flags.source, folder: anchors.systems[name]?.folder }));
    }
  }
  const [base] = rows.values();
  console.log('### Cold start over stdio: spawn to the answer of initialize\n\n| | ms (minimum) | × |\n|---|---|---|');
  for (const [name, results] of rows) {
    raw.push({ system: name, cold: results });
    const ratio = median(results.map((value, round) => value / base[round]));
    console.log(
      `| ${name} | ${median(results).toFixed(0)} (${Math.min(...results).toFixed(0)}) | ${ratio.toFixed(2)} |`,
    );
  }
  console.log();
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
