import { record } from '../../record.mjs';
import { inTurn, median, ratiosOf, withSpread } from '../../statistics.mjs';
import { table } from '../report.mjs';
import { names, systemsOf } from '../systems.mjs';

/** Loads one server for a fixed time. Returns the calls per second and the CPU time of its process per call. */
export async function measure({ client, server, tool = 'echo', inFlight = 16, seconds, size }) {
  const { url, token, mode } = server;
  await client.run({ job: 'connect', url, token, mode, tool, inFlight });
  const before = await server.ask('usage');
  const load = await client.run({ job: 'load', mode, tool, seconds, size });
  const after = await server.ask('usage');
  if (load.wrong > 0) throw new Error(`${server.name} sent ${load.wrong} wrong responses`);
  return {
    perSecond: (load.calls / load.milliseconds) * 1000,
    cpu: (after.cpu - before.cpu) / load.calls,
    p50: load.p50,
    p99: load.p99,
    rss: after.rss / 1e6,
  };
}

const maxWarmUps = 8;

/**
 * Loads a server until its speed stops increasing. SDK 1 needs several seconds for that; a shorter warm-up would favor the other
 * servers.
 */
export async function warmUp({ client, server }) {
  let best = Infinity;
  let withoutGain = 0;
  for (let count = 0; count < maxWarmUps && withoutGain < 2; count += 1) {
    const { cpu } = await measure({ client, server, tool: count % 2 === 0 ? 'echo' : 'add', seconds: 0.4 });
    withoutGain = cpu < best * 0.9 ? 0 : withoutGain + 1;
    best = Math.min(best, cpu);
  }
}

/** @returns results by `<tool>@<in flight>`, then by system, one per round */
export async function httpCalls({ mode, cases, anchors, share, client, rounds, seconds }) {
  const servers = [];
  for (const system of systemsOf(mode, anchors)) servers.push(await share(system.name, system.mode));
  const results = {};
  for (const [tool, inFlight] of cases) {
    const measured = await inTurn(servers, rounds, (server) => measure({ client, server, tool, inFlight, seconds }));
    const rows = Object.fromEntries(servers.map(({ name }, index) => [name, measured[index]]));
    results[`${tool}@${inFlight}`] = rows;
    for (const [name, own] of Object.entries(rows)) {
      for (const base of ['sdk1', 'bare'].filter((system) => system in rows))
        record(`server/${mode}/${tool}@${inFlight}/cpu-to-${base}/${names[name]}`, cpuRatios(own, rows[base]));
    }
  }
  return results;
}

function cpuRatios(rows, base) {
  const cpu = (list) => list.map((row) => row.cpu);
  return ratiosOf(cpu(rows), cpu(base));
}

/** Returns the ratios to the first system: calls per second · CPU per call. */
export function callRatios(results) {
  const columns = Object.keys(results).map((key) => key.replace('@', ', ').concat(' in flight'));
  const [first] = Object.values(results);
  const rows = Object.keys(first).map((name) => [
    name,
    Object.values(results).map((bySystem) => {
      const [base] = Object.values(bySystem);
      const ratio = (key, digits) => {
        const [own, others] = [bySystem[name], base].map((list) => list.map((row) => row[key]));
        return withSpread(ratiosOf(own, others), digits);
      };
      return `${ratio('perSecond')} · ${ratio('cpu', 3)}`;
    }),
  ]);
  return table(columns, rows);
}

export function callFigures(bySystem) {
  const rows = Object.entries(bySystem).map(([name, results]) => {
    const of = (key, digits) => median(results.map((row) => row[key])).toFixed(digits);
    return [name, [of('perSecond', 0), of('cpu', 1), of('p50', 2), of('p99', 2), of('rss', 0)]];
  });
  return table(['calls/s', 'CPU µs per call', 'p50 ms', 'p99 ms', 'RSS MB'], rows);
}
