import { type IncomingMessage, type ServerResponse } from 'node:http';
import { createTool } from '@quiver/core/tools';
import { expect, onTestFinished, test } from 'vitest';
import { InMemoryStore } from '../shared-store/in-memory-store.js';
import { MCPServer } from '../server/mcp-server.js';
import type { MCPClient } from './mcp-client.js';
import { eras } from '../../test/eras.ts';
import { serveHttp } from '../../test/after-test.ts';
import { clientOf } from '../../test/clients/client-of.ts';

type Serve = (req: IncomingMessage, res: ServerResponse) => unknown;

/** Starts a balancer that sends each request where `serve` says, and a client behind it. */
async function connectClient(protocol: 'legacy' | 'modern', serve: Serve): Promise<MCPClient> {
  const { origin } = await serveHttp(serve);
  return clientOf({ it: { url: `${origin}/mcp`, protocol } });
}

const startHTTP =
  (server: MCPServer): Serve =>
  (req, res) =>
    server.startHTTP({ url: new URL(req.url ?? '', 'http://localhost'), httpPath: '/mcp', req, res });

test.each(eras)('sends requests again that a closed server has not started, in the %s era', async (protocol) => {
  let runs = 0;
  const tools = { count: createTool({ id: 'count', description: 'Counts', execute: async () => (runs += 1) }) };
  const sharedStore = new InMemoryStore();
  const [a, b] = [1, 2].map(() => new MCPServer({ name: 'Two', version: '1', tools, sharedStore })) as [
    MCPServer,
    MCPServer,
  ];
  onTestFinished(() => b.close({ grace: 0 }));
  let refused = 0;
  let turn = 0;
  const client = await connectClient(protocol, (req, res) => {
    turn += 1;
    res.once('finish', () => (refused += res.statusCode === 503 ? 1 : 0));
    return startHTTP(turn % 2 === 0 ? a : b)(req, res);
  });
  await client.listTools();
  await a.close();
  // The handshake, too.
  for (let count = 1; count <= 3; count += 1) {
    if (count === 2) await client.reconnectServer('it');
    const { content } = await client.callTool({ serverName: 'it', name: 'count' });
    expect(content).toEqual([{ type: 'text', text: String(count) }]);
  }
  expect(refused).toBeGreaterThan(0);
  expect(runs).toBe(3);
});

test('sends no other refused request again, and gives up after four attempts', async () => {
  const server = new MCPServer({ name: 'One', version: '1', tools: {} });
  let isOverloaded = false;
  const requests: string[] = [];
  const client = await connectClient('modern', (req, res) => {
    requests.push(String(req.headers['mcp-method']));
    if (isOverloaded) return res.writeHead(503, { 'retry-after': '1' }).end();
    return startHTTP(server)(req, res);
  });
  await client.listTools();
  isOverloaded = true;
  requests.length = 0;
  const call = (): Promise<unknown> => client.callTool({ serverName: 'it', name: 'count' });
  await expect(call()).rejects.toMatchObject({ details: { httpStatus: 503 } });
  expect(requests).toEqual(['tools/call']);
  isOverloaded = false;
  await server.close();
  requests.length = 0;
  await expect(call()).rejects.toMatchObject({ details: { httpStatus: 503, data: { code: 'SERVER_CLOSED' } } });
  expect(requests).toEqual(Array.from({ length: 4 }, () => 'tools/call'));
});
