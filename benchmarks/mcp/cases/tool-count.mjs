import { record } from '../../record.mjs';
import { median, ratiosOf, withSpread } from '../../statistics.mjs';
import { table } from '../report.mjs';
import { names } from '../systems.mjs';
import { measure, warmUp } from './http-calls.mjs';

const compared = [
  { name: 'sdk1', mode: 'stateless', label: `${names.sdk1}, without sessions` },
  { name: 'quiver', mode: 'sessions', label: `${names.quiver}, with sessions` },
  { name: 'quiver', mode: 'modern', label: `${names.quiver}, 2026-07-28` },
];

/** Measures the CPU time per call of a server with 10 tools and of one with 100. */
export async function toolCount({ start, client, rounds, seconds }) {
  const rows = [];
  for (const { name, mode, label } of compared) {
    const servers = [await start(name, mode, 10), await start(name, mode, 100)];
    for (const server of servers) await warmUp({ client, server, mode, tools: ['echo'] });
    const cpu = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, server] of servers.entries())
        cpu[index].push((await measure({ client, server, mode, tool: 'echo', inFlight: 16, seconds })).cpu);
    }
    const factors = ratiosOf(cpu[1], cpu[0]);
    record(`server/cpu-100-to-10-tools/${label}`, factors);
    rows.push([label, [median(cpu[0]).toFixed(1), median(cpu[1]).toFixed(1), withSpread(factors)]]);
    for (const server of servers) server.stop();
  }
  return table(['10 tools', '100 tools', 'factor'], rows);
}
