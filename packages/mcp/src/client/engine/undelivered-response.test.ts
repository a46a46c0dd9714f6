import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { serveHttp } from '../../../test/after-test.ts';
import { clientOf } from '../../../test/clients/client-of.ts';
import { MCPServer } from '../../server/mcp-server.js';
import { MCPClient } from '../mcp-client.js';

const ask = toolOf(
  'ask',
  async (_input, { mcp }) =>
    (await mcp.elicitation.sendRequest({ message: 'Go?', requestedSchema: { type: 'object', properties: {} } })).action,
);

/** A client of 2025-11-25 whose responses pass a balancer, which fails as often as the test wants. 0 breaks the connection. */
async function connect(status: number, failures: number, timeout = 30_000) {
  const server = new MCPServer({ name: 'S', version: '1', tools: { ask } });
  const { port } = await server.listen();
  let answers = 0;
  const { origin } = await serveHttp(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const isAnswer = body.length > 0 && !('method' in (JSON.parse(body.toString()) as object));
    if (isAnswer && (answers += 1) <= failures)
      return status === 0 ? void incoming.socket.destroy() : void outgoing.writeHead(status).end();
    const { method, url: path, headers } = incoming;
    const forwarded = request({ port, host: '127.0.0.1', method, path, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers).flushHeaders();
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    forwarded.end(body);
  });
  const url = `${origin}/mcp`;
  const warnings: string[] = [];
  const log = ({ level, message }: { level: string; message: string }): void => {
    if (level === 'warning') warnings.push(message);
  };
  const mcp = new MCPClient({ id: crypto.randomUUID(), servers: { s: { url, protocol: 'legacy', timeout, log } } });
  onTestFinished(async () => {
    await mcp.disconnect();
    await server.close({ grace: 0 });
  });
  await mcp.elicitation.onRequest('s', async () => ({ action: 'accept', content: {} }));
  return { call: () => mcp.callTool({ serverName: 's', name: 'ask' }), warnings, count: () => answers };
}

test.each([502, 503, 0])('sends a response again that a balancer failed to pass on with status %s', async (status) => {
  const { call, count } = await connect(status, 2);
  expect((await call()).content).toMatchObject([{ text: 'accept' }]);
  expect(count()).toBe(3);
});

test('fails the call with the reason when the server refuses the response', async () => {
  const { call, warnings } = await connect(400, Infinity);
  const reason = 'the response to its request elicitation/create could not be sent: HTTP 400';
  await expect(call()).rejects.toThrow(reason);
  expect(warnings.join()).toContain(reason);
});

test('names the reason when the time of the call is over', async () => {
  const { call } = await connect(502, Infinity, 300);
  await expect(call()).rejects.toMatchObject({
    code: 'MCP_REQUEST_TIMEOUT',
    message: expect.stringMatching(
      /within 300 ms: the response to its request elicitation\/create could not be sent: HTTP 502/,
    ),
  });
});

test('answers for the roots although the call ended meanwhile', async () => {
  let answered = (_message: unknown): void => {};
  const answer = new Promise((resolve) => (answered = resolve));
  const { origin } = await serveHttp(async (incoming, outgoing) => {
    let body = '';
    for await (const chunk of incoming) body += String(chunk);
    const { id, method } = JSON.parse(body || '{}') as { id?: number; method?: string };
    const respond = (result: object): string => JSON.stringify({ jsonrpc: '2.0', id, result });
    if (id === undefined) return void outgoing.writeHead(incoming.method === 'GET' ? 405 : 202).end();
    if (!method) answered(JSON.parse(body));
    if (!method) return void outgoing.writeHead(202).end();
    if (method === 'initialize') {
      const facts = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'S', version: '1' },
      };
      return void outgoing.writeHead(200, { 'content-type': 'application/json' }).end(respond(facts));
    }
    const ask = JSON.stringify({ jsonrpc: '2.0', id: 'r', method: 'roots/list' });
    // Both in one piece.
    const events = [ask, respond({ content: [] })].map((data) => `data: ${data}\n\n`).join('');
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).end(events);
  });
  const url = `${origin}/mcp`;
  const roots = [{ uri: 'file:///notes' }];
  const mcp = clientOf({ s: { url, protocol: 'legacy', roots } });
  await mcp.callTool({ serverName: 's', name: 'any' });
  expect(await answer).toEqual({ jsonrpc: '2.0', id: 'r', result: { roots } });
});
