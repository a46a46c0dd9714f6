import { record } from '../../record.mjs';
import { inTurn, median, ratiosOf, withSpread } from '../../statistics.mjs';
import { table } from '../report.mjs';
import { names } from '../systems.mjs';
import { measure } from './http-calls.mjs';

const compared = [
  { name: 'sdk1', mode: 'stateless', label: `${names.sdk1}, without sessions` },
  { name: 'quiver', mode: 'sessions', label: `${names.quiver}, with sessions` },
  { name: 'quiver', mode: 'modern', label: `${names.quiver}, 2026-07-28` },
];

/** Measures the CPU time per call of a server with 10 tools and of one with 100. */
export async function toolCount({ share, client, anchors, rounds, seconds }) {
  const rows = [];
  for (const { name, mode, label } of compared) {
    if (name !== 'quiver' && Object.keys(anchors).length === 0) continue;
    const servers = [await share(name, mode), await share(name, mode, 100)];
    const cpu = await inTurn(servers, rounds, async (server) => (await measure({ client, server, seconds })).cpu);
    const factors = ratiosOf(cpu[1], cpu[0]);
    record(`server/tools/100 tools/cpu-to-10 tools/${label}`, factors);
    rows.push([label, [median(cpu[0]).toFixed(1), median(cpu[1]).toFixed(1), withSpread(factors)]]);
  }
  return table(['10 tools', '100 tools', 'factor'], rows);
}
