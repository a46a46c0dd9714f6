import { median, ratioOf, table } from '../report.mjs';
import { measure, warmUp } from './http-calls.mjs';

/** Measures the CPU time per call with a static token behind `createOAuthMiddleware()`, and without authorization. */
export async function authorization({ start, client, rounds, seconds }) {
  const servers = [await start('quiver', 'stateless'), await start('quiver', 'authorized')];
  const options = { client, mode: 'stateless' };
  for (const server of servers) await warmUp({ ...options, server, tools: ['echo'] });
  const cpu = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, server] of servers.entries())
      cpu[index].push((await measure({ ...options, server, tool: 'echo', inFlight: 16, seconds })).cpu);
  }
  for (const server of servers) server.stop();
  const cells = [median(cpu[0]).toFixed(1), median(cpu[1]).toFixed(1), ratioOf(cpu[1], cpu[0]).toFixed(2)];
  return table(['without', 'static token', 'factor'], [['quiver', cells]]);
}
