import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import express from 'express';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exampleTools } from '../../../test/example-tools.ts';
import { modern, openSession, rpc, send } from '../../../test/wire.ts';
import { MCPServer } from '../mcp-server.js';

const identity = { name: 'mounts', version: '1' };
const users: Record<string, object> = { 'Bearer ada': { token: 'ada', userId: 'Ada' } };
const urlOf = (target: string): URL => new URL(target, 'http://localhost');

function listening(http: Server): Promise<Server> {
  return new Promise((resolve) => http.listen(0, '127.0.0.1', () => resolve(http)));
}

/** Each puts the same server into another application, behind its own authentication. */
const mounts: [string, (server: MCPServer) => Promise<Server>][] = [
  [
    'node:http',
    (server) =>
      listening(
        createServer((req, res) => {
          Object.assign(req, { auth: users[req.headers.authorization ?? ''] });
          void server.startHTTP({ url: urlOf(req.url ?? ''), httpPath: '/mcp', req, res });
        }),
      ),
  ],
  [
    'Express, which has parsed the body',
    (server) => {
      const app = express();
      app.use(express.json());
      app.all('/mcp', (req, res) => {
        Object.assign(req, { auth: users[req.headers.authorization ?? ''] });
        void server.startHTTP({ url: urlOf(req.url), httpPath: '/mcp', req, res });
      });
      return listening(createServer(app));
    },
  ],
  [
    'Express, below a path',
    (server) => {
      const app = express();
      const router = express.Router();
      router.all('/', (req, res) => {
        Object.assign(req, { auth: users[req.headers.authorization ?? ''] });
        void server.startHTTP({ url: urlOf(req.originalUrl), httpPath: '/mcp', req, res });
      });
      app.use('/mcp', router);
      return listening(createServer(app));
    },
  ],
  [
    'Hono',
    (server) => {
      const app = new Hono();
      app.all('/mcp', (context) =>
        server.fetch(context.req.raw, { authInfo: users[context.req.header('authorization') ?? ''] }),
      );
      return new Promise((resolve) => {
        const http = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(http as Server));
      });
    },
  ],
];

describe.each(mounts)('in %s', (_name, mount) => {
  const server = new MCPServer({ name: 'Mounted', version: '1.0.0', tools: exampleTools });
  let http: Server;
  let url: string;
  beforeAll(async () => {
    http = await mount(server);
    url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  });
  afterAll(async () => {
    await server.close();
    http.closeAllConnections();
    http.close();
  });

  test('clients of both SDKs and both eras call tools and hear of progress', async () => {
    const first = new ClientV1(identity);
    // The SDK's own transports do not fit its Transport type under exactOptionalPropertyTypes.
    await first.connect(new HttpV1(new URL(url)) as Parameters<ClientV1['connect']>[0]);
    const second = new ClientV2(identity, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await second.connect(new HttpV2(new URL(url)));
    for (const client of [first, second]) {
      const { tools } = await client.listTools();
      expect(tools).toHaveLength(Object.keys(exampleTools).length);
      const params = { name: 'add', arguments: { a: 1, b: 2 } };
      expect(await client.callTool(params)).toMatchObject({ structuredContent: { sum: 3 } });
    }
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void seen.push(progress);
    await first.callTool({ name: 'steps' }, undefined, { onprogress });
    await second.callTool({ name: 'steps' }, { onprogress });
    expect(seen).toEqual([1, 2, 1, 2]);
    await first.close();
    await second.close();
  });

  test('the caller is known in both eras, and a session belongs to it', async () => {
    const authorization = 'Bearer ada';
    const session = await openSession(url, { authorization });
    const body = rpc('tools/call', { name: 'whoami', arguments: {} });
    const legacy = await send(url, { headers: { ...session, authorization }, body });
    const call = modern('tools/call', { name: 'whoami', arguments: {} });
    const now = await send(url, { ...call, headers: { ...call.headers, authorization } });
    for (const { json } of [legacy, now]) {
      expect(JSON.parse(json.result.content[0].text)).toMatchObject({ authInfo: { extra: { userId: 'Ada' } } });
    }
    expect((await send(url, { headers: session, body })).status).toBe(404);
  });

  test('H02 H05 foreign hosts and broken JSON are refused', async () => {
    expect((await send(url, { headers: { host: 'evil.example' }, body: rpc('ping') })).status).toBe(403);
    expect((await send(url, { body: '{"jsonrpc":' })).status).toBe(400);
    expect((await openSession(url))['mcp-session-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('mcp-remote', () => {
  const bridge = fileURLToPath(new URL('../../../node_modules/mcp-remote/dist/proxy.js', import.meta.url));
  const server = new MCPServer({ name: 'Remote', version: '1.0.0', tools: exampleTools });
  const paths = { ssePath: '/sse', messagePath: '/message' };
  let http: Server;
  beforeAll(async () => {
    http = await listening(
      createServer((req, res) => {
        const url = urlOf(req.url ?? '');
        void (url.pathname === '/mcp'
          ? server.startHTTP({ url, httpPath: '/mcp', req, res })
          : server.startSSE({ url, ...paths, req, res }));
      }),
    );
  });
  afterAll(async () => {
    await server.close();
    http.closeAllConnections();
    http.close();
  });

  test.each([
    ['Streamable HTTP', '/mcp', 'http-only'],
    ['HTTP+SSE', '/sse', 'sse-only'],
    ['HTTP+SSE, found out by itself', '/sse', 'http-first'],
  ])('bridges a stdio client to %s', { timeout: 30_000 }, async (_name, path, strategy) => {
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}${path}`;
    const client = new ClientV1(identity);
    const args = [bridge, url, '--allow-http', '--transport', strategy];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
    expect((await client.listTools()).tools).toHaveLength(Object.keys(exampleTools).length);
    expect(await client.callTool({ name: 'echo', arguments: { message: 'over the bridge' } })).toMatchObject({
      content: [{ text: 'over the bridge' }],
    });
    await client.close();
  });
});
