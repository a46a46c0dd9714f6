// A server over every HTTP transport that closes on SIGTERM, and then has nothing left to stay alive for. Prints its URLs.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InMemoryEventStore, MCPServer } from '@quiver/mcp/server';
import { exampleTools, waiting } from '../servers/example-tools.ts';

const server = new MCPServer({ name: 'Closing', version: '1.0.0', tools: exampleTools });
const { url } = await server.listen({ eventStore: new InMemoryEventStore() });
const http = createServer((req, res) => {
  const target = new URL(req.url ?? '', 'http://localhost');
  void server.startSSE({ url: target, ssePath: '/sse', messagePath: '/message', req, res });
});
http.listen(0, '127.0.0.1', () => {
  // oxlint-disable-next-line no-console -- the parent process waits for this line
  console.log(JSON.stringify({ url, sse: `http://127.0.0.1:${(http.address() as AddressInfo).port}/sse` }));
});
// oxlint-disable-next-line no-console -- the parent process waits for this line
setInterval(() => waiting.count === 20 && console.log('started'), 20).unref();
process.once('SIGTERM', async () => {
  await server.close();
  // Afterwards, so that the connections whose streams have ended are idle and close at once.
  http.close();
});
