import { EventEmitter, once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Client as ClientV2, SSEClientTransport as SSEV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SSEV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEvents } from '../../../test/clients/event-reader.ts';
import { exampleTools } from '../../../test/servers/example-tools.ts';
import { initializeParams, rpc, send } from '../../../test/clients/wire.ts';
import type { Authenticate } from '../../auth/server/authentication.js';
import { MCPServer } from '../../server/mcp-server.js';

interface Said {
  content: [{ text: string }];
}

const identity = { name: 'sse', version: '1' };
const paths = { ssePath: '/sse', messagePath: '/message' };
const urlOf = (target: string | undefined): URL => new URL(target ?? '', 'http://localhost');
const portOf = (http: unknown): number => ((http as Server).address() as AddressInfo).port;

/** The three ways to mount it, each with a separate server. */
const mounts: [string, (server: MCPServer) => Promise<Server>][] = [
  [
    'startSSE',
    async (server) =>
      listening(createServer((req, res) => void server.startSSE({ url: urlOf(req.url), ...paths, req, res }))),
  ],
  [
    'startHonoSSE with req and res',
    async (server) =>
      listening(createServer((req, res) => void server.startHonoSSE({ url: urlOf(req.url), ...paths, req, res }))),
  ],
  [
    "startHonoSSE with Hono's context",
    async (server) => {
      const app = new Hono();
      app.all('*', (context) => server.startHonoSSE({ url: new URL(context.req.url), ...paths, context }));
      return new Promise((resolve) => {
        const http = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(http as Server));
      });
    },
  ],
];

function listening(http: Server): Promise<Server> {
  return new Promise((resolve) => http.listen(0, '127.0.0.1', () => resolve(http)));
}

describe.each(mounts)('%s', (name, mount) => {
  const server = new MCPServer({ name: 'SSE', version: '1.0.0', tools: exampleTools });
  let http: Server;
  let base: string;
  beforeAll(async () => {
    http = await mount(server);
    base = `http://127.0.0.1:${portOf(http)}`;
  });
  afterAll(async () => {
    await server.close();
    http.closeAllConnections();
    http.close();
  });

  const connectV1 = async (): Promise<ClientV1> => {
    const client = new ClientV1(identity, { capabilities: { elicitation: {} } });
    await client.connect(new SSEV1(new URL(`${base}/sse`)));
    return client;
  };

  test('a message before any stream is refused', async () => {
    const answer = await send(`${base}/message?sessionId=a`, { body: rpc('ping') });
    expect([answer.status, answer.text]).toEqual([503, 'SSE connection not established']);
  });

  test('serves lists, calls and progress to clients of both official SDKs', async () => {
    const client2 = new ClientV2(identity);
    await client2.connect(new SSEV2(new URL(`${base}/sse`)));
    const client1 = await connectV1();
    expect((await client1.listTools()).tools).toHaveLength(Object.keys(exampleTools).length);
    expect((await client2.listTools()).tools).toHaveLength(Object.keys(exampleTools).length);
    const seen: number[] = [];
    await client1.callTool({ name: 'steps' }, undefined, { onprogress: ({ progress }) => void seen.push(progress) });
    expect(seen).toEqual([1, 2]);
    expect(await client2.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).toMatchObject({
      structuredContent: { sum: 3 },
    });
    await client1.close();
    await client2.close();
  });

  test('separates the responses and requests of 40 clients with equal ids', async () => {
    const texts = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const client = await connectV1();
        client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
          action: 'accept',
          content: params.message.includes('name') ? { name: `user ${index}` } : { age: index },
        }));
        const result = (await client.callTool({ name: 'contact' })) as unknown as Said;
        await client.close();
        return result.content[0].text;
      }),
    );
    expect(texts).toEqual(Array.from({ length: 40 }, (_, index) => `Hello user ${index}, ${index}`));
  });

  test.skipIf(name.endsWith('context'))(
    'sends events without chunks, on a connection that ends with the stream',
    async () => {
      const stream = await readEvents(`${base}/sse`);
      expect(stream.headers).toMatchObject({ connection: 'close' });
      expect(stream.headers).not.toHaveProperty('transfer-encoding');
      await expect.poll(() => stream.events.length).toBe(1);
      await (name === 'startSSE' ? server.getSseTransport() : server.getSseHonoTransport())?.close();
      await stream.ended;
    },
  );

  test('the stream begins with the endpoint, answers come on it, and the getter knows the connection', async () => {
    const stream = await readEvents(`${base}/sse`);
    expect(stream.headers['content-type']).toBe('text/event-stream');
    await expect.poll(() => stream.events.length).toBe(1);
    expect(stream.events[0]?.event).toBe('endpoint');
    const endpoint = stream.events[0]?.data as string;
    expect(endpoint).toMatch(/^\/message\?sessionId=[0-9a-f-]{36}$/);
    const sessionId = endpoint.split('=')[1] as string;
    const transport = name === 'startSSE' ? server.getSseTransport(sessionId) : server.getSseHonoTransport(sessionId);
    expect(transport?.sessionId).toBe(sessionId);
    const posted = await send(base + endpoint, { body: rpc('initialize', initializeParams) });
    expect(posted.status).toBe(202);
    await expect.poll(() => stream.events.length).toBe(2);
    expect(JSON.parse(stream.events[1]?.data as string)).toMatchObject({
      id: 1,
      result: { protocolVersion: '2025-11-25' },
    });
    await transport?.close();
    await stream.ended;
    expect(
      name === 'startSSE' ? server.getSseTransport(sessionId) : server.getSseHonoTransport(sessionId),
    ).toBeUndefined();
  });

  test('what is wrong is refused with a status', async () => {
    const stream = await readEvents(`${base}/sse`);
    await expect.poll(() => stream.events.length).toBe(1);
    const endpoint = base + (stream.events[0]?.data as string);
    const status = async (url: string, options: Parameters<typeof send>[1]): Promise<number> =>
      (await send(url, options)).status;
    expect(await status(`${base}/message`, { body: rpc('ping') })).toBe(400);
    expect(await status(`${base}/message?sessionId=nobody`, { body: rpc('ping') })).toBe(400);
    expect(await status(`${base}/elsewhere`, { body: rpc('ping') })).toBe(404);
    expect(await status(`${base}/sse`, { body: rpc('initialize', initializeParams) })).toBe(405);
    expect(await status(endpoint, { body: '{"jsonrpc"' })).toBe(400);
    expect(await status(endpoint, { body: 'x'.repeat(5 * 1024 * 1024) })).toBe(413);
    expect(await status(endpoint, { headers: { 'content-type': 'text/plain' }, body: rpc('ping') })).toBe(415);
    expect(await status(endpoint, { headers: { host: 'evil.example' }, body: rpc('ping') })).toBe(403);
    expect(await status(`${base}/sse`, { method: 'GET', headers: { origin: 'https://evil.example' } })).toBe(403);
    expect(await status(endpoint, { body: rpc('ping') })).toBe(202);
    stream.destroy();
  });

  test('a client that goes away cancels what it waits for', async () => {
    const { aborted, waiting } = await import('../../../test/servers/example-tools.ts');
    const before = aborted.count;
    const started = waiting.count;
    const client = await connectV1();
    const call = client.callTool({ name: 'wait', arguments: { milliseconds: 60_000 } });
    call.catch(() => {});
    await expect.poll(() => waiting.count).toBe(started + 1);
    await client.close();
    await expect.poll(() => aborted.count).toBe(before + 1);
  });
});

test.each(['middleware', 'authenticate'])('a connection belongs to the caller that opened it, by %s', async (by) => {
  const server = new MCPServer({ name: 'SSE', version: '1.0.0', tools: exampleTools });
  const authenticate: Authenticate = ({ token }) => token !== undefined && { userId: token };
  const http = await listening(
    createServer((req, res) => {
      if (by === 'middleware') Object.assign(req, { auth: { token: req.headers.authorization } });
      const options = by === 'middleware' ? {} : { authenticate };
      void server.startSSE({ url: urlOf(req.url), ...paths, req, res, options });
    }),
  );
  const base = `http://127.0.0.1:${portOf(http)}`;
  const stream = await readEvents(`${base}/sse`, { headers: { authorization: 'Bearer a' } });
  await expect.poll(() => stream.events.length).toBe(1);
  const endpoint = base + (stream.events[0]?.data as string);
  const post = async (token: string): Promise<number> =>
    (await send(endpoint, { headers: { authorization: `Bearer ${token}` }, body: rpc('ping') })).status;
  expect(await post('b')).toBe(400);
  expect(await post('a')).toBe(202);
  if (by === 'authenticate') {
    expect((await send(endpoint, { body: rpc('ping') })).status).toBe(401);
    expect((await send(`${base}/sse`, { method: 'GET' })).headers['www-authenticate']).toBe('Bearer');
  }
  stream.destroy();
  await server.close();
  http.close();
});

test('does not accept a message whose client or server has gone while it arrived', async () => {
  const server = new MCPServer({ name: 'SSE', version: '1.0.0', tools: exampleTools });
  const posts = new EventEmitter();
  const http = await listening(
    createServer((req, res) => {
      void server.startSSE({ url: urlOf(req.url), ...paths, req, res });
      if (req.method === 'POST') posts.emit('served');
    }),
  );
  const base = `http://127.0.0.1:${portOf(http)}`;
  const statusAfter = async (end: (stream: Awaited<ReturnType<typeof readEvents>>) => unknown): Promise<unknown> => {
    const stream = await readEvents(`${base}/sse`);
    await expect.poll(() => stream.events.length).toBe(1);
    const body = JSON.stringify(rpc('ping'));
    const post = request(base + (stream.events[0]?.data as string), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    });
    const served = once(posts, 'served');
    post.write(body.slice(0, 5));
    await served;
    await end(stream);
    post.end(body.slice(5));
    const [response] = (await once(post, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  const goes = async (stream: { destroy(): void }): Promise<void> => {
    stream.destroy();
    await expect.poll(() => server.getSseTransport()).toBeUndefined();
  };
  expect(await statusAfter(goes)).toBe(400);
  expect(await statusAfter(() => server.close())).toBe(503);
  http.closeAllConnections();
  http.close();
});

test('opens a stream with connectSSE and connectHonoSSE on any route', async () => {
  const server = new MCPServer({ name: 'SSE', version: '1.0.0', tools: exampleTools });
  const app = new Hono();
  app.get('/hono', (context) => server.connectHonoSSE({ messagePath: '/hono-message', context }));
  app.post('*', (context) =>
    server.startHonoSSE({ url: new URL(context.req.url), ssePath: '/', messagePath: '/hono-message', context }),
  );
  const hono = await new Promise<Server>((resolve) => {
    const started = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(started as Server));
  });
  const node = await listening(
    createServer((req, res) => {
      void (req.method === 'GET'
        ? server.connectSSE({ messagePath: '/message', res })
        : server.startSSE({ url: urlOf(req.url), ...paths, req, res }));
    }),
  );
  for (const url of [`http://127.0.0.1:${portOf(hono)}/hono`, `http://127.0.0.1:${portOf(node)}/anywhere`]) {
    const client = new ClientV1(identity);
    await client.connect(new SSEV1(new URL(url)));
    expect(await client.callTool({ name: 'echo', arguments: { message: 'a' } })).toMatchObject({
      content: [{ text: 'a' }],
    });
    await client.close();
    expect((await send(url, { method: 'GET', headers: { host: 'evil.example' } })).status).toBe(403);
  }
  await server.close();
  for (const http of [hono, node]) http.close();
});
