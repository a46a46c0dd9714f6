import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { serveHttp } from '../../../test/after-test.ts';
import { modern, rpc, toRequest } from '../../../test/clients/wire.ts';
import { createServerState } from '../create-server-state.js';
import { MCPServer } from '../mcp-server.js';
import { Connection } from '../connection/connection.js';

let runs = 0;
let cancelled = 0;
const tools = {
  count: toolOf('count', async () => (runs += 1)),
  never: toolOf('never', async (_input, { abortSignal }) => {
    runs += 1;
    abortSignal?.addEventListener('abort', () => (cancelled += 1));
    await new Promise(() => {});
  }),
};
const config = { name: 'Closed', version: '1.0.0', tools };

test('a body that arrives after the end runs nothing', async () => {
  const server = new MCPServer(config);
  const { http, port } = await serveHttp((req, res) => {
    void server.startHTTP({ url: new URL(req.url ?? '', 'http://localhost'), httpPath: '/mcp', req, res });
  });
  const { headers, body } = modern('tools/call', { name: 'count' });
  const text = JSON.stringify(body);
  const head = { host: 'localhost', 'content-type': 'application/json', 'content-length': text.length, ...headers };
  const socket = connect(port, '127.0.0.1');
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${String(value)}`);
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  await once(http, 'request');
  const before = runs;
  await server.close({ grace: 50 });
  socket.write(text);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 503 /);
  expect(runs).toBe(before);
});

test.each([
  ['a request of the stateless revision', modern('tools/call', { name: 'never' })],
  ['a batch', { headers: {}, body: [rpc('tools/call', { name: 'never' })] }],
])('%s that outlives the grace is cancelled, and ends with an error', async (_what, request) => {
  const server = new MCPServer(config);
  const [before, cancelledBefore] = [runs, cancelled];
  const response = server.fetch(toRequest(request), { serverless: true });
  await expect.poll(() => runs).toBe(before + 1);
  await server.close({ grace: 10 });
  expect(cancelled).toBe(cancelledBefore + 1);
  const [error] = [await (await response).json()].flat() as [{ id: number; error: object }];
  expect(error).toMatchObject({ id: 1, error: { code: -32603, data: { code: 'REQUEST_INTERRUPTED' } } });
});

test('a connection that was closed takes no message', async () => {
  const peer = new Connection({ server: createServerState(config).state, write: () => {} });
  peer.close();
  const before = runs;
  await peer.receive(rpc('tools/call', { name: 'count' }));
  expect(runs).toBe(before);
});

test('a server that was closed cannot be started again', async () => {
  const server = new MCPServer(config);
  const listening = server.listen();
  await server.close();
  await expect(listening).rejects.toMatchObject({ code: 'SERVER_CLOSED' });
  await expect(server.listen()).rejects.toMatchObject({ code: 'SERVER_CLOSED' });
  await expect(server.startStdio()).rejects.toMatchObject({ code: 'SERVER_CLOSED' });
});
