import { median, ratiosOf, withSpread } from '../../statistics.mjs';
import { table } from '../report.mjs';
import { measure, warmUp } from './http-calls.mjs';

const sizes = { '1 MB': 1e6, '10 MB': 1e7 };
const sdk1Limit = 4e6;

/** Measures the CPU time per call that echoes one or ten megabytes, with one call in flight. */
export async function payloads({ start, client, rounds, seconds }) {
  const servers = [];
  for (const name of ['bare', 'quiver', 'sdk1']) servers.push(await start(name, 'stateless'));
  const options = { client, mode: 'stateless' };
  for (const server of servers) await warmUp({ ...options, server, tools: ['echo'] });
  const cells = new Map(servers.map(({ name }) => [name, []]));
  for (const size of Object.values(sizes)) {
    const measured = servers.filter(({ name }) => name !== 'sdk1' || size < sdk1Limit);
    const cpu = new Map(servers.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const server of measured)
        cpu
          .get(server.name)
          .push((await measure({ ...options, server, tool: 'echo', inFlight: 1, seconds, size })).cpu);
    }
    for (const [name, values] of cpu) {
      const cell =
        values.length > 0 && `${(median(values) / 1000).toFixed(1)} · ${withSpread(ratiosOf(values, cpu.get('bare')))}`;
      cells.get(name).push(cell || 'rejects more than 4 MB');
    }
  }
  for (const server of servers) server.stop();
  return table(Object.keys(sizes), cells);
}
