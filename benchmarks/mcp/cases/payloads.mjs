import { record } from '../../record.mjs';
import { inTurn, median, ratiosOf, withSpread } from '../../statistics.mjs';
import { table } from '../report.mjs';
import { names } from '../systems.mjs';
import { measure } from './http-calls.mjs';

const sizes = { '1 MB': 1e6, '10 MB': 1e7 };
const sdk1Limit = 4e6;

/** Measures the CPU time per call that echoes one or ten megabytes, with one call in flight. */
export async function payloads({ share, client, rounds, seconds }) {
  const servers = [];
  for (const name of ['bare', 'quiver', 'sdk1']) servers.push(await share(name, 'stateless'));
  const cells = new Map(servers.map(({ name }) => [name, []]));
  for (const [title, size] of Object.entries(sizes)) {
    const measured = servers.filter(({ name }) => name !== 'sdk1' || size < sdk1Limit);
    const cpu = await inTurn(
      measured,
      rounds,
      async (server) => (await measure({ client, server, inFlight: 1, seconds, size })).cpu,
    );
    for (const [index, { name }] of servers.entries()) {
      const values = cpu[index];
      const ratios = values && ratiosOf(values, cpu[0]);
      if (values) record(`server/payload/${title}/cpu-to-bare/${names[name]}`, ratios);
      const cell = values ? `${(median(values) / 1000).toFixed(1)} · ${withSpread(ratios)}` : 'rejects more than 4 MB';
      cells.get(name).push(cell);
    }
  }
  return table(Object.keys(sizes), cells);
}
