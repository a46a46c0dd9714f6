import { EventEmitter, once } from 'node:events';
import { createServer, request, type IncomingMessage, type RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { SSEClientTransport as SSEV2 } from '@modelcontextprotocol/client';
import { SSEClientTransport as SSEV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { Hono } from 'hono';
import { beforeAll, describe, expect, test } from 'vitest';
import { afterTest, serveHttp } from '../../../test/after-test.ts';
import { readEvents, type EventReader } from '../../../test/clients/event-reader.ts';
import { connectV1, connectV2, type ClientAnswers } from '../../../test/clients/real-clients.ts';
import { aborted, exampleTools, waiting } from '../../../test/servers/example-tools.ts';
import { startHost } from '../../../test/servers/mcp-hosts.ts';
import { initializeParams, rpc, send } from '../../../test/clients/wire.ts';
import type { Authenticate } from '../../auth/server/authentication.js';
import { MCPServer } from '../../server/mcp-server.js';

const paths = { ssePath: '/sse', messagePath: '/message' };
const urlOf = (target: string | undefined): URL => new URL(target ?? '', 'http://localhost');

function createServerForTest(): MCPServer {
  const server = new MCPServer({ name: 'SSE', version: '1.0.0', tools: exampleTools });
  afterTest(() => server.close());
  return server;
}

/** The three ways to mount it, each with a separate server. */
const mounts: [string, (server: MCPServer) => RequestListener][] = [
  ['startSSE', (server) => (req, res) => void server.startSSE({ url: urlOf(req.url), ...paths, req, res })],
  [
    'startHonoSSE with req and res',
    (server) => (req, res) => void server.startHonoSSE({ url: urlOf(req.url), ...paths, req, res }),
  ],
  [
    "startHonoSSE with Hono's context",
    (server) => {
      const app = new Hono();
      app.all('*', (context) => server.startHonoSSE({ url: new URL(context.req.url), ...paths, context }));
      return getRequestListener(app.fetch);
    },
  ],
];

/** Opens a stream, and returns it with the URL that it begins with. */
async function openStream(base: string, headers: Record<string, string> = {}) {
  const stream = await readEvents(`${base}/sse`, { headers });
  await expect.poll(() => stream.events.length).toBe(1);
  return { stream, endpoint: base + (stream.events[0]?.data as string) };
}

describe.each(mounts)('%s', (name, mount) => {
  const server = new MCPServer({ name: 'SSE', version: '1.0.0', tools: exampleTools });
  let base: string;
  beforeAll(async () => {
    const host = await startHost(() => createServer(mount(server)), server);
    base = new URL(host.url).origin;
    return host.close;
  });

  const connect = (answers?: ClientAnswers) => connectV1(new SSEV1(new URL(`${base}/sse`)), answers);

  test('a message before any stream is refused', async () => {
    const answer = await send(`${base}/message?sessionId=a`, { body: rpc('ping') });
    expect([answer.status, answer.text]).toEqual([503, 'SSE connection not established']);
  });

  test('serves lists, calls and progress to clients of both official SDKs', async () => {
    const client1 = await connect();
    const client2 = await connectV2('legacy', new SSEV2(new URL(`${base}/sse`)));
    expect((await client1.listTools()).tools).toHaveLength(Object.keys(exampleTools).length);
    expect((await client2.listTools()).tools).toHaveLength(Object.keys(exampleTools).length);
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void seen.push(progress);
    await client1.callTool({ name: 'steps' }, undefined, { onprogress });
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
        const client = await connect({
          elicit: ({ message }) => ({
            action: 'accept',
            content: String(message).includes('name') ? { name: `user ${index}` } : { age: index },
          }),
        });
        const { content } = await client.callTool({ name: 'contact' });
        await client.close();
        return content[0].text as string;
      }),
    );
    expect(texts).toEqual(Array.from({ length: 40 }, (_, index) => `Hello user ${index}, ${index}`));
  });

  test.skipIf(name.endsWith('context'))(
    'sends events without chunks, on a connection that ends with the stream',
    async () => {
      const { stream } = await openStream(base);
      expect(stream.headers).toMatchObject({ connection: 'close' });
      expect(stream.headers).not.toHaveProperty('transfer-encoding');
      await (name === 'startSSE' ? server.getSseTransport() : server.getSseHonoTransport())?.close();
      await stream.ended;
    },
  );

  test('the stream begins with the endpoint, answers come on it, and the getter knows the connection', async () => {
    const { stream, endpoint } = await openStream(base);
    expect(stream.headers['content-type']).toBe('text/event-stream');
    expect(stream.events[0]?.event).toBe('endpoint');
    expect(stream.events[0]?.data).toMatch(/^\/message\?sessionId=[0-9a-f-]{36}$/);
    const sessionId = endpoint.split('=')[1] as string;
    const find = () =>
      name === 'startSSE' ? server.getSseTransport(sessionId) : server.getSseHonoTransport(sessionId);
    const transport = find();
    expect(transport?.sessionId).toBe(sessionId);
    const posted = await send(endpoint, { body: rpc('initialize', initializeParams) });
    expect(posted.status).toBe(202);
    await expect.poll(() => stream.events.length).toBe(2);
    expect(JSON.parse(stream.events[1]?.data as string)).toMatchObject({
      id: 1,
      result: { protocolVersion: '2025-11-25' },
    });
    await transport?.close();
    await stream.ended;
    expect(find()).toBeUndefined();
  });

  test('what is wrong is refused with a status', async () => {
    const { stream, endpoint } = await openStream(base);
    const status = async (url: string, options: Parameters<typeof send>[1]) => (await send(url, options)).status;
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
    const before = aborted.count;
    const started = waiting.count;
    const client = await connect();
    const call = client.callTool({ name: 'wait', arguments: { milliseconds: 60_000 } });
    call.catch(() => {});
    await expect.poll(() => waiting.count).toBe(started + 1);
    await client.close();
    await expect.poll(() => aborted.count).toBe(before + 1);
  });
});

test.each(['middleware', 'authenticate'])('a connection belongs to the caller that opened it, by %s', async (by) => {
  const server = createServerForTest();
  const authenticate: Authenticate = ({ token }) => token !== undefined && { userId: token };
  const { origin: base } = await serveHttp((req, res) => {
    if (by === 'middleware') Object.assign(req, { auth: { token: req.headers.authorization } });
    const options = by === 'middleware' ? {} : { authenticate };
    void server.startSSE({ url: urlOf(req.url), ...paths, req, res, options });
  });
  const { stream, endpoint } = await openStream(base, { authorization: 'Bearer a' });
  const post = async (token: string) =>
    (await send(endpoint, { headers: { authorization: `Bearer ${token}` }, body: rpc('ping') })).status;
  expect(await post('b')).toBe(400);
  expect(await post('a')).toBe(202);
  if (by === 'authenticate') {
    expect((await send(endpoint, { body: rpc('ping') })).status).toBe(401);
    expect((await send(`${base}/sse`, { method: 'GET' })).headers['www-authenticate']).toBe('Bearer');
  }
  stream.destroy();
});

test('does not accept a message whose client or server has gone while it arrived', async () => {
  const server = createServerForTest();
  const posts = new EventEmitter();
  const { origin: base } = await serveHttp((req, res) => {
    void server.startSSE({ url: urlOf(req.url), ...paths, req, res });
    if (req.method === 'POST') posts.emit('served');
  });
  const statusAfter = async (end: (stream: EventReader) => unknown): Promise<unknown> => {
    const { stream, endpoint } = await openStream(base);
    const body = JSON.stringify(rpc('ping'));
    const post = request(endpoint, {
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
});

test('opens a stream with connectSSE and connectHonoSSE on any route', async () => {
  const server = createServerForTest();
  const app = new Hono();
  app.get('/hono', (context) => server.connectHonoSSE({ messagePath: '/hono-message', context }));
  app.post('*', (context) =>
    server.startHonoSSE({ url: new URL(context.req.url), ssePath: '/', messagePath: '/hono-message', context }),
  );
  const hono = await serveHttp(getRequestListener(app.fetch));
  const node = await serveHttp((req, res) => {
    void (req.method === 'GET'
      ? server.connectSSE({ messagePath: '/message', res })
      : server.startSSE({ url: urlOf(req.url), ...paths, req, res }));
  });
  for (const url of [`${hono.origin}/hono`, `${node.origin}/anywhere`]) {
    const client = await connectV1(new SSEV1(new URL(url)));
    expect(await client.callTool({ name: 'echo', arguments: { message: 'a' } })).toMatchObject({
      content: [{ text: 'a' }],
    });
    await client.close();
    expect((await send(url, { method: 'GET', headers: { host: 'evil.example' } })).status).toBe(403);
  }
});
