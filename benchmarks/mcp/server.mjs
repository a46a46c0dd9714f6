// Compares MCPServer with the servers of the official SDKs, and prints the tables of docs/reference/benchmarks/mcp-server.md.
//
//   pnpm build && pnpm --filter @quiver/benchmarks mcp                 Quiver, SDK 1, and a bare node:http server
//   pnpm --filter @quiver/benchmarks mcp -- --with-anchors             also SDK 2, and @mastra/mcp and fastmcp, installed into a temporary folder
//   options: --rounds 5, --seconds 0.6, --only sessions,stdio
//
// Every server runs in a process for all cases. Every round measures each of them in turn; the tables show the median of the ratios within a
// round. CPU is the CPU time of the server process: unlike calls per second, it is reliable on a busy machine.
import { arch, cpus, loadavg, platform } from 'node:os';
import { fetchPath } from './cases/fetch-path.mjs';
import { callFigures, callRatios, httpCalls, warmUp } from './cases/http-calls.mjs';
import { operation } from './cases/operation.mjs';
import { payloads } from './cases/payloads.mjs';
import { sessionMemory } from './cases/session-memory.mjs';
import { stdio } from './cases/stdio.mjs';
import { toolCount } from './cases/tool-count.mjs';
import { toolList } from './cases/tool-list.mjs';
import { installAnchors } from './install-anchors.mjs';
import { startLoadClient, startServer } from './processes.mjs';
import { readFlags } from '../read-flags.mjs';

const flags = readFlags({
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '0.6' },
  only: { type: 'string' },
  'with-anchors': { type: 'boolean', default: false },
});
const { systems: anchors, remove } = flags['with-anchors'] ? installAnchors() : { systems: {}, remove() {} };
const client = startLoadClient();
const start = (name, mode, tools = 10) => startServer({ name, mode, tools, folder: anchors[name]?.folder });
/** Servers that several cases measure, by name, mode and number of tools. */
const shared = new Map();
const context = {
  anchors,
  client,
  official: ['sdk1', 'sdk2'].filter((name) => name === 'sdk1' || name in anchors),
  rounds: Number(flags.rounds),
  seconds: Number(flags.seconds),
  start,
  /** Starts and warms up a server, or returns the one that runs. The bare server is the same in all modes. */
  share: async (name, mode, tools) => {
    const key = name === 'bare' ? name : [name, mode, tools].join();
    if (!shared.has(key)) {
      shared.set(key, await start(name, mode, tools));
      await warmUp({ client, server: shared.get(key) });
    }
    return { ...shared.get(key), mode };
  },
};
const began = performance.now();

const fromOneToMany = [
  ['echo', 1],
  ['echo', 16],
  ['echo', 64],
  ['add', 16],
];
const loaded = [
  ['echo', 16],
  ['add', 16],
];
const parts = {
  async sessions() {
    const results = await httpCalls({ ...context, mode: 'sessions', cases: fromOneToMany });
    return (
      `**With sessions** (2025-11-25): calls per second × · CPU per call ×\n\n${callRatios(results)}\n\n` +
      `Absolute numbers of one of these cases, echo, 16 in flight:\n\n${callFigures(results['echo@16'])}`
    );
  },
  async stateless() {
    const results = await httpCalls({ ...context, mode: 'stateless', cases: loaded });
    return `**Without sessions** (2025-11-25, \`serverless: true\`)\n\n${callRatios(results)}`;
  },
  async modern() {
    const results = await httpCalls({ ...context, mode: 'modern', cases: loaded });
    return (
      `**2026-07-28**; SDK 1 does not support it; its row shows its calls without sessions\n\n` + callRatios(results)
    );
  },
  async 'http-sse'() {
    const results = await httpCalls({ ...context, mode: 'http-sse', cases: fromOneToMany.slice(0, 3) });
    return `**HTTP+SSE** (2024-11-05)\n\n${callRatios(results)}`;
  },
  tools: async () => `**More tools**: CPU µs per call, echo, 16 in flight\n\n${await toolCount(context)}`,
  list: async () => `**A list of 1,000 tools** (340 KB)\n\n${await toolList(context)}`,
  operation: async () =>
    `**Authorization and middleware**: echo, 16 in flight, without sessions\n\n${await operation(context)}`,
  payload: async () => `**Large payloads**, there and back: CPU ms per call ×\n\n${await payloads(context)}`,
  memory: async () => `**Memory of sessions**: heap after collection\n\n${await sessionMemory(context)}`,
  fetch: () => fetchPath(context),
  stdio: async () =>
    '**stdio**: calls per second × · CPU of the server per call ×, and milliseconds from spawn to the `initialize` response (minimum) ×\n\n' +
    (await stdio(context)),
};

try {
  const machine = `${platform()} ${arch()}, ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`;
  console.log(
    `Taken on ${machine}; ${flags.rounds} rounds of ${flags.seconds} s: medians, and ratios (×) with the least and the largest of the rounds.\n`,
  );
  const wanted = flags.only?.split(',') ?? Object.keys(parts);
  for (const name of wanted) {
    console.log(`${await parts[name]()}\n`);
    console.error(`[${name} done after ${((performance.now() - began) / 1000).toFixed(0)} s]`);
  }
  const loads = loadavg().map((value) => value.toFixed(1));
  console.log(`Load average at the end, over 1, 5 and 15 minutes: ${loads.join(', ')}.`);
} finally {
  for (const { stop } of shared.values()) stop();
  client.stop();
  remove();
}
