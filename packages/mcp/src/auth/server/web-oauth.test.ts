import type { RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createStaticTokenValidator, createWebOAuth, expressOAuth, honoOAuth } from '@quiver/mcp/auth';
import { MCPServer } from '@quiver/mcp/server';
import express from 'express';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { afterTest, serveHttp } from '../../../test/after-test.ts';
import { initializeParams, modern, openSession, rpc, send, toRequest } from '../../../test/clients/wire.ts';

const oauth = {
  resource: 'http://localhost/mcp',
  authorizationServers: ['https://auth.example.com'],
  validateToken: createStaticTokenValidator([{ token: 'good', subject: 'ada', scopes: ['mcp:read'] }]),
  toolScopes: { secret: ['mcp:write'] },
};

function createServer(): MCPServer {
  const server = new MCPServer({
    id: 'web',
    name: 'Web',
    version: '1.0.0',
    tools: {
      whoami: toolOf('whoami', async (_input, context) => ({
        subject: context?.mcp?.extra?.authInfo?.extra?.['subject'],
      })),
      secret: toolOf('secret', async () => ({})),
    },
  });
  afterTest(() => server.close());
  return server;
}

const post = (name: string, token?: string): Request =>
  toRequest(modern('tools/call', { name }, 1, token === undefined ? {} : { authorization: `Bearer ${token}` }));

describe('createWebOAuth', () => {
  it('turns a request into an identity for server.fetch(), or into a response', async () => {
    const server = createServer();
    const protect = createWebOAuth({ oauth });
    const refused = await protect(post('whoami'));
    expect(refused.proceed ? undefined : refused.response.status).toBe(401);
    const request = post('whoami', 'good');
    const result = await protect(request);
    if (!result.proceed) throw new Error('The good token was refused.');
    const answer = await server.fetch(request, { authInfo: result.authInfo });
    expect(await answer.json()).toMatchObject({ result: { content: [{ text: '{"subject":"ada"}' }] } });
  });

  it.each([
    ['the same request', (request: Request, authInfo: object) => [request, authInfo] as const],
    ['a copy of the request', (request: Request, authInfo: object) => [new Request(request), { ...authInfo }] as const],
    ['another identity', (request: Request) => [request, { userId: 'mapped' }] as const],
  ])('answers 403 to the call of a tool with more scopes, with %s', async (_what, pass) => {
    const server = createServer();
    const protect = createWebOAuth({ oauth });
    const call = async (name: string): Promise<Response> => {
      const request = post(name, 'good');
      const result = await protect(request);
      if (!result.proceed) throw new Error('The good token was refused.');
      const [passed, authInfo] = pass(request, result.authInfo ?? {});
      return server.fetch(passed, { authInfo });
    };
    const refused = await call('secret');
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain('scope="mcp:write", error="insufficient_scope"');
    expect(await refused.json()).toMatchObject({ error: 'insufficient_scope' });
    expect((await call('whoami')).status).toBe(200);
  });

  it('guards and serves the same as the middleware of Node', async () => {
    const protect = createWebOAuth({ oauth });
    const status = async (path: string, init?: RequestInit): Promise<number | undefined> => {
      const result = await protect(new Request(`http://localhost${path}`, init));
      return result.proceed ? undefined : result.response.status;
    };
    expect(await status('/.well-known/oauth-protected-resource/mcp')).toBe(200);
    expect(await status('/.well-known/oauth-protected-resource', { method: 'HEAD' })).toBe(200);
    expect(await status('/MCP')).toBe(401);
    expect(await status('/x')).toBeUndefined();
    const headers = new Headers({ authorization: 'Bearer good' });
    headers.append('authorization', 'Bearer good');
    expect(await status('/mcp', { headers })).toBe(400);
  });
});

describe('the adapters', () => {
  /** Serves an application until the test is over. Returns the URL of a path. */
  async function serve(app: RequestListener, path = '/mcp'): Promise<string> {
    const { port } = await serveHttp(app);
    return `http://localhost:${port}${path}`;
  }

  it('protect an Express application, and keep what earlier middleware put on req.auth', async () => {
    const server = createServer();
    const seen: unknown[] = [];
    const app = express();
    app.use((req, _res, next) => {
      Object.assign(req, { auth: { tenant: 't1' } });
      next();
    });
    app.use(expressOAuth({ oauth }));
    app.all('/mcp', async (req, res) => {
      seen.push((req as { auth?: unknown }).auth);
      const url = new URL(req.url, 'http://localhost');
      await server.startHTTP({ url, httpPath: '/mcp', req, res });
    });
    const url = await serve(app);
    expect(await send(url, { body: rpc('ping') })).toMatchObject({ status: 401 });
    expect(await send(url, { method: 'GET', path: '/.well-known/oauth-protected-resource' })).toMatchObject({
      status: 200,
    });
    const headers = { authorization: 'Bearer good' };
    const session = await openSession(url, headers);
    const { json } = await send(url, {
      headers: { ...headers, ...session },
      body: rpc('tools/call', { name: 'whoami' }),
    });
    expect(json.result.content[0].text).toBe('{"subject":"ada"}');
    expect(seen[0]).toMatchObject({ tenant: 't1', scopes: ['mcp:read'] });
  });

  it.each(['//evil.example/mcp', '/\\\\evil.example/mcp', 'http://evil.example/mcp', '//evil.example//mcp'])(
    'protect a server behind Express that parses %s as a URL with a host',
    async (path) => {
      const server = createServer();
      const app = express();
      app.use(expressOAuth({ oauth }));
      app.use(async (req, res) => {
        const url = new URL(req.url, 'http://localhost');
        await server.startHTTP({ url, httpPath: '/mcp', req, res });
      });
      const url = await serve(app);
      const { status } = await send(url, { path, body: rpc('initialize', initializeParams) });
      expect([400, 401, 404]).toContain(status);
    },
  );

  it('protect a server that Express mounts below a path', async () => {
    const server = createServer();
    const app = express();
    const router = express.Router();
    router.use(expressOAuth({ oauth }));
    router.use(async (req, res) => {
      await server.startHTTP({ url: new URL(req.url, 'http://localhost'), httpPath: '/mcp', req, res });
    });
    app.use('/api', router);
    const url = await serve(app, '/api/mcp');
    expect(await send(url, { body: rpc('initialize', initializeParams) })).toMatchObject({ status: 401 });
  });

  it('serve the metadata where Express mounts them at its path only', async () => {
    const app = express();
    app.use(['/.well-known', '/mcp'], expressOAuth({ oauth }));
    const url = await serve(app);
    expect(await send(url, { body: rpc('initialize', initializeParams) })).toMatchObject({ status: 401 });
    const path = '/.well-known/oauth-protected-resource';
    expect(await send(url, { method: 'GET', path })).toMatchObject({ status: 200 });
  });

  it('protect a Hono application', async () => {
    const server = createServer();
    const app = new Hono<{ Variables: { auth: unknown } }>();
    app.use(honoOAuth({ oauth }));
    app.all('/mcp', (c) => server.fetch(c.req.raw, { authInfo: c.get('auth') }));
    app.get('/open', (c) => c.text('open'));
    const url = await serve(getRequestListener(app.fetch));
    expect(await send(url, { body: rpc('ping') })).toMatchObject({ status: 401 });
    expect(await send(url, { method: 'GET', path: '/open' })).toMatchObject({ status: 200, text: 'open' });
    const { headers, body } = modern('tools/call', { name: 'whoami', arguments: {} });
    const sent = { ...headers, authorization: 'Bearer good', origin: 'http://localhost' };
    const answer = await send(url, { headers: sent, body });
    expect(answer.json.result.content[0].text).toBe('{"subject":"ada"}');
    expect(answer.headers['access-control-expose-headers']).toContain('WWW-Authenticate');
  });
});
