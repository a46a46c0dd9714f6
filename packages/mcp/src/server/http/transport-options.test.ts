import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../../test/error-of.ts';
import { afterTest, serveHttp } from '../../../test/after-test.ts';
import { MCPServer } from '../mcp-server.js';

type Serve = (request: { url: URL; req: IncomingMessage; res: ServerResponse }) => Promise<unknown>;

/** Serves requests by a method of an `MCPServer`; a rejection becomes status 500 with its message. */
async function listen(serve: Serve): Promise<string> {
  const { origin } = await serveHttp((req, res) => {
    const url = new URL(req.url ?? '', 'http://localhost');
    serve({ url, req, res }).catch((error: Error) => res.writeHead(500).end(error.message));
  });
  return origin;
}

function createMcpServer(): MCPServer {
  const server = new MCPServer({ name: 'n', version: '1', tools: {} });
  afterTest(() => server.close());
  return server;
}

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });

describe('options of startHTTP', () => {
  const post = async (options: object) => {
    const server = createMcpServer();
    const url = await listen((request) => server.startHTTP({ ...request, httpPath: '/mcp', ...options }));
    const response = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
    return { status: response.status, session: response.headers.get('mcp-session-id'), text: await response.text() };
  };

  test.each([
    ['next to the request', { serverless: true }],
    ['under options', { options: { serverless: true } }],
    ['by the name that other servers use', { stateless: true }],
    ['in both places', { serverless: true, options: { maxBodyBytes: 10_000 } }],
    ['as an id generator that is undefined', { sessionIdGenerator: undefined }],
  ])('turn sessions off %s', async (_where, options) => {
    expect(await post(options)).toMatchObject({ status: 200, session: null });
  });

  test('are the defaults without options, and with options that are undefined', async () => {
    expect(await post({ options: undefined, serverless: undefined })).toMatchObject({
      status: 200,
      session: expect.any(String) as string,
    });
  });

  test.each([
    [{ severless: true }, "startHTTP has no option 'severless'. Did you mean 'serverless'?"],
    [
      { options: { severless: true } },
      "startHTTP has no option 'options.severless'. Did you mean 'options.serverless'?",
    ],
    [{ maxBodyBytes: Number.NaN }, "startHTTP: 'maxBodyBytes' must be a number of at least 0, not NaN."],
    [{ httpPath: 'mcp' }, "startHTTP: 'httpPath' must be a path that begins with '/', not 'mcp'."],
    [{ serverless: 'true' }, "startHTTP: 'serverless' must be true or false, not 'true'."],
    [{ options: { allowedHosts: 'example.com' } }, "'options.allowedHosts' must be a list of non-empty strings"],
    [
      { serverless: true, options: { serverless: false } },
      "startHTTP: 'serverless' is given next to the request and under 'options'. Remove one.",
    ],
    [
      { sessionIdGenerator: undefined, options: { sessionIdGenerator: () => 'x' } },
      "startHTTP: 'sessionIdGenerator' is given next to the request and under 'options'. Remove one.",
    ],
  ])('reject %j', async (options, message) => {
    const answer = await post(options);
    expect(answer.status).toBe(500);
    expect(answer.text).toContain(message);
  });
});

describe('options of listen', () => {
  test.each([
    [{ path: 'mcp' }, "listen: 'path' must be a path that begins with '/', not 'mcp'."],
    [{ port: Number.NaN }, "listen: 'port' must be an integer from 0 to 65535, not NaN."],
    [{ host: '' }, "listen: 'host' must be a non-empty string, not ''."],
    [{ requestTimeout: 0.5 }, "listen: 'requestTimeout' must be an integer of at least 0, not 0.5."],
    [{ enableDnsRebindingProtection: 0 as never }, "'enableDnsRebindingProtection' must be true or false, not 0."],
  ])('reject %j', async (options, message) => {
    await expect(createMcpServer().listen(options)).rejects.toThrow(errorOf('OPTIONS_INVALID', message));
  });

  test.each([{ requestTimeout: 5_000 }, { headersTimeout: 60_000 }, { requestTimeout: 0 }, { headersTimeout: 0 }])(
    'accept %j without the other timeout',
    async (options) => {
      const { url } = await createMcpServer().listen(options);
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200);
    },
  );
});

describe('options of HTTP+SSE', () => {
  test.each([
    ['next to the request', { maxSessions: 0 }],
    ['under options', { options: { maxSessions: 0 } }],
  ])('are taken %s', async (_where, options) => {
    const server = createMcpServer();
    const paths = { ssePath: '/sse', messagePath: '/message' };
    const url = await listen((request) => server.startSSE({ ...request, ...paths, ...options }));
    expect((await fetch(`${url}/sse`)).status).toBe(503);
    const context = { req: { raw: new Request('http://localhost/sse') } };
    const hono = { url: new URL('http://localhost/sse'), ...paths, context, ...options };
    expect((await server.startHonoSSE(hono)).status).toBe(503);
    expect((await server.connectHonoSSE({ messagePath: '/message', context, ...options })).status).toBe(503);
  });

  test('are rejected if they are unknown or given twice', async () => {
    const server = createMcpServer();
    const twice = { maxSessions: 1, options: { maxSessions: 2 } };
    for (const method of ['startSSE', 'startHonoSSE', 'connectSSE', 'connectHonoSSE'] as const) {
      const start = server[method].bind(server) as (options: object) => Promise<unknown>;
      await expect(start({ serverless: true })).rejects.toThrow(`${method} has no option 'serverless'.`);
      await expect(start(twice)).rejects.toThrow(`${method}: 'maxSessions' is given next to`);
    }
  });

  test('name the caller of startHonoSSE before the context of Hono does', async () => {
    const server = createMcpServer();
    const route = { url: new URL('http://localhost/sse'), ssePath: '/sse', messagePath: '/message' };
    const context = (method: string, path: string, auth?: object) => ({
      req: { raw: new Request(`http://localhost${path}`, { method, headers, ...(method === 'POST' && { body }) }) },
      get: () => auth,
    });
    const ann = { token: 'a', extra: { userId: 'ann' }, clientId: 'a', scopes: [] };
    const stream = await server.startHonoSSE({ ...route, context: context('GET', '/sse'), authInfo: ann });
    const first = new TextDecoder().decode((await stream.body?.getReader().read())?.value);
    const path = /data: (\S+)/.exec(first)?.[1] ?? '';
    const url = new URL(path, 'http://localhost');
    const send = async (auth?: object) =>
      (await server.startHonoSSE({ ...route, url, context: context('POST', path, auth) })).status;
    expect([await send(), await send(ann)]).toEqual([400, 202]);
  });
});
