import { record } from '../../record.mjs';
import { inTurn, median, ratiosOf, withSpread } from '../../statistics.mjs';
import { table } from '../report.mjs';
import { names } from '../systems.mjs';

/** Measures `tools/list` with 1,000 tools, over all pages. */
export async function toolList({ start, client, official, rounds }) {
  const servers = await Promise.all([...official, 'quiver'].map((name) => start(name, 'sessions', 1000)));
  const list = async (server, times) => {
    const before = await server.ask('usage');
    const { p50, tools } = await client.run({ job: 'list', url: server.url, mode: 'sessions', times });
    if (tools !== 1000) throw new Error(`${server.name} listed ${tools} tools`);
    return { milliseconds: p50, cpu: ((await server.ask('usage')).cpu - before.cpu) / times / 1000 };
  };
  for (const server of servers) await list(server, 40);
  const results = await inTurn(servers, rounds, (server) => list(server, 10));
  for (const server of servers) server.stop();
  const rows = servers.map(({ name }, index) => {
    const valuesOf = (key, system = index) => results[system].map((row) => row[key]);
    const of = (key) => median(valuesOf(key)).toFixed(2);
    const faster = (key) => withSpread(ratiosOf(valuesOf(key, 0), valuesOf(key)), 1);
    record(`server/list/1,000 tools/cpu-to-sdk1/${names[name]}`, ratiosOf(valuesOf('cpu'), valuesOf('cpu', 0)));
    return [name, [of('milliseconds'), faster('milliseconds'), of('cpu'), faster('cpu')]];
  });
  return table(['ms', 'times faster', 'CPU ms', 'times less'], rows);
}
