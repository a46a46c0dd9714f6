// Measures calls of sessions with and without a shared store, in one and in two processes, and prints the table of
// docs/deploy/several-processes.md.
//
//   pnpm build && QUIVER_REDIS_URL=… QUIVER_POSTGRES_URL=… node benchmarks/mcp/several-processes.mjs
//   options: --rounds 5, --seconds 0.7
//
// Workload: calls of an echo tool over keep-alive HTTP, 16 sessions per process, one call at a time in each. Every round measures each
// store in turn; figures are medians. CPU is the time of the server process, without the store's server.
import { loadavg } from 'node:os';
import { readFlags } from '../read-flags.mjs';
import { startLoadClient, startServer } from './processes.mjs';
import { median } from '../statistics.mjs';
import { table } from './report.mjs';

const flags = readFlags({ rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '0.7' } });
const seconds = Number(flags.seconds);
const modes = [
  'none',
  'memory',
  ...(process.env.QUIVER_REDIS_URL ? ['redis'] : []),
  ...(process.env.QUIVER_POSTGRES_URL ? ['postgres'] : []),
];
const clients = [startLoadClient(), startLoadClient()];
const pairs = new Map();
for (const mode of modes) {
  const start = () => startServer({ name: 'shared', mode, tools: 1 });
  pairs.set(mode, [await start(), await start()]);
}

async function measure(server, client) {
  const options = { mode: 'sessions', tool: 'echo' };
  await client.run({ job: 'connect', url: server.url, inFlight: 16, ...options });
  const before = await server.ask('cpu');
  const { calls, milliseconds, wrong, p50 } = await client.run({ job: 'load', seconds, ...options });
  if (wrong > 0) throw new Error(`${wrong} wrong answers`);
  const after = await server.ask('cpu');
  return { perSecond: (calls * 1000) / milliseconds, cpu: (after.cpu - before.cpu) / calls, p50 };
}

const figures = new Map(modes.map((mode) => [mode, { one: [], two: [] }]));
// The first round warms up.
for (let round = 0; round <= Number(flags.rounds); round += 1) {
  for (const [mode, servers] of pairs) {
    const one = await measure(servers[0], clients[0]);
    const two = await Promise.all(servers.map((server, index) => measure(server, clients[index])));
    if (round === 0) continue;
    figures.get(mode).one.push(one);
    figures.get(mode).two.push(two[0].perSecond + two[1].perSecond);
  }
}
const rows = [...figures].map(([mode, { one, two }]) => [
  mode,
  [
    Math.round(median(one.map(({ cpu }) => cpu))),
    median(one.map(({ p50 }) => p50)).toFixed(2),
    Math.round(median(one.map(({ perSecond }) => perSecond))),
    Math.round(median(two)),
  ],
]);
console.log(table(['CPU µs per call', 'p50 ms', 'calls/s, 1 process', 'calls/s, 2 processes'], rows));
console.log(`load ${loadavg()[0].toFixed(1)}`);
for (const { stop } of [...clients, ...[...pairs.values()].flat()]) stop();
