// CPU of a call through a gateway, compared with a direct one. Client, gateway and server run in this process over HTTP, so the time contains all of
// them: a direct call costs a client and a server, a proxied one both twice.
//
// node scripts/run-built.mjs benchmarks/mcp/gateway.mjs [--calls 3000] [--rounds 7]
import process from 'node:process';
import { parseArgs } from 'node:util';
import { createTool } from '@quiver/core/tools';
import { MCPClient } from '@quiver/mcp/client';
import { MCPServer } from '@quiver/mcp/server';

const { values } = parseArgs({ options: { calls: { type: 'string' }, rounds: { type: 'string' } } });
const calls = Number(values.calls ?? 3000);
const rounds = Number(values.rounds ?? 7);
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

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

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

async function measure(client, name) {
  const before = process.cpuUsage();
  await run(client, name, calls);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
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
  const pairs = [];
  for (let round = 0; round < rounds; round += 1)
    pairs.push([await measure(direct, 'echo'), await measure(proxied, 'up_echo')]);
  rows.push({
    era: protocol,
    'direct, µs': Math.round(median(pairs.map(([one]) => one))),
    'proxied, µs': Math.round(median(pairs.map(([, other]) => other))),
    ratio: median(pairs.map(([one, other]) => other / one)).toFixed(2),
    'other requests': [...received]
      .filter(([method]) => method !== 'tools/call')
      .reduce((sum, [, count]) => sum + count, 0),
  });
  await Promise.all([direct.disconnect(), proxied.disconnect()]);
  await gateway.close();
}
await upstream.close();
console.table(rows);
