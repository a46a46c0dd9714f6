// CPU of a call through a gateway, compared with a direct one. Client, gateway and server run in this process over HTTP, so the time contains all of
// them: a direct call costs a client and a server, a proxied one both twice.
//
// node scripts/run-built.mjs benchmarks/mcp/gateway.mjs [--calls 3000] [--rounds 7]
import { createTool } from '@quiver/core/tools';
import { MCPClient } from '@quiver/mcp/client';
import { MCPServer } from '@quiver/mcp/server';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { inTurn, median, ratiosOf, table, timed, withSpread } from '../statistics.mjs';

const values = readFlags({ calls: { type: 'string', default: '3000' }, rounds: { type: 'string', default: '7' } });
const calls = Number(values.calls);
const rounds = Number(values.rounds);
/** Calls in flight at once. */
const width = 16;

const echo = createTool({
  id: 'echo',
  description: 'Returns its text',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  execute: async ({ text }) => text,
});

/** Requests that the server has received, by method. */
const received = new Map();
const upstream = new MCPServer({ name: 'Upstream', version: '1.0.0', tools: { echo } });
upstream.use({
  onRequest: ({ method }, next) => {
    received.set(method, (received.get(method) ?? 0) + 1);
    return next();
  },
});
const { url } = await upstream.listen();

async function run(client, name, count) {
  const args = { text: 'hello' };
  let left = count;
  const work = async () => {
    while (left-- > 0) {
      const { content } = await client.callTool({ serverName: 'it', name, args });
      if (content[0]?.text !== 'hello') throw new Error('wrong result');
    }
  };
  await Promise.all(Array.from({ length: width }, work));
}

const rows = [];
for (const protocol of ['legacy', 'modern']) {
  const gateway = new MCPServer({ name: 'Gateway', version: '1.0.0', tools: {} });
  await gateway.proxy('up', { url, protocol, enableProgressTracking: false });
  const listening = await gateway.listen();
  const connect = (address) =>
    new MCPClient({
      id: `${protocol} ${address}`,
      servers: { it: { url: address, protocol, enableProgressTracking: false } },
    });
  const direct = connect(url);
  const proxied = connect(listening.url);
  await run(direct, 'echo', calls);
  await run(proxied, 'up_echo', calls);
  received.clear();
  const routes = [
    [direct, 'echo'],
    [proxied, 'up_echo'],
  ];
  const measured = await inTurn(routes, rounds, ([client, name]) => timed(() => run(client, name, calls)));
  const cpu = measured.map((own) => own.map((one) => (one.cpu * 1000) / calls));
  const ratios = ratiosOf(cpu[1], cpu[0]);
  record(`gateway/${protocol}/cpu-to-direct call/Quiver`, ratios);
  const others = [...received].filter(([method]) => method !== 'tools/call');
  const figures = cpu.map((own) => median(own).toFixed(0));
  rows.push([protocol, ...figures, withSpread(ratios), others.reduce((sum, [, count]) => sum + count, 0)]);
  await Promise.all([direct.disconnect(), proxied.disconnect()]);
  await gateway.close();
}
await upstream.close();
console.log(table(['era', 'direct, µs', 'proxied, µs', 'ratio', 'other requests'], rows));
