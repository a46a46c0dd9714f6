import { record } from '../../record.mjs';
import { median, ratiosOf, withSpread } from '../../statistics.mjs';
import { table } from '../report.mjs';

const times = 20;

/** Measures `tools/list` with 1,000 tools, over all pages. */
export async function toolList({ start, client, rounds }) {
  const servers = await Promise.all(['sdk1', 'sdk2', 'quiver'].map((name) => start(name, 'sessions', 1000)));
  const results = new Map(servers.map(({ name }) => [name, []]));
  // The first rounds warm up.
  for (let round = -2; round < rounds; round += 1) {
    for (const server of servers) {
      const before = await server.ask('usage');
      const { p50, tools } = await client.run({ job: 'list', url: server.url, mode: 'sessions', times });
      if (tools !== 1000) throw new Error(`${server.name} listed ${tools} tools`);
      const cpu = ((await server.ask('usage')).cpu - before.cpu) / times / 1000;
      if (round >= 0) results.get(server.name).push({ milliseconds: p50, cpu });
    }
  }
  for (const server of servers) server.stop();
  const base = results.get('sdk1');
  const cpuOf = (name) => results.get(name).map(({ cpu }) => cpu);
  record('server/list-of-1000/cpu-to-sdk1/Quiver', ratiosOf(cpuOf('quiver'), cpuOf('sdk1')));
  const rows = [...results].map(([name, list]) => {
    const of = (key) => median(list.map((row) => row[key])).toFixed(2);
    const faster = (key) => {
      const [less, more] = [list, base].map((rows) => rows.map((row) => row[key]));
      return withSpread(ratiosOf(more, less), 1);
    };
    return [name, [of('milliseconds'), faster('milliseconds'), of('cpu'), faster('cpu')]];
  });
  return table(['ms', 'times faster', 'CPU ms', 'times less'], rows);
}
