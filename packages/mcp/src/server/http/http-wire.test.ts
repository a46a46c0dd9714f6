import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { serveHttp } from '../../../test/after-test.ts';
import { aborted, exampleTools, waiting } from '../../../test/servers/example-tools.ts';
import { envelope, initializeParams, modern, openSession, rpc, send, toRequest } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';

const server = new MCPServer({ name: 'Wire', version: '1.0.0', tools: exampleTools });

const running = await server.listen();
const stateless = await server.listen({ serverless: true });
const { url } = running;
afterAll(() => server.close());

const call = (name: string, args: object = {}, id: string | number = 1): object =>
  rpc('tools/call', { name, arguments: args }, id);

describe('HTTP', () => {
  test('a call within a session is answered with JSON of known length', async () => {
    const session = await openSession(url);
    const answer = await send(url, { headers: session, body: call('echo', { message: 'hi' }) });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.text)));
    expect(answer.json).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'hi' }] } });
  });

  test.each<[status: number, header: string, values: string[]]>([
    [403, 'host', ['evil.example', 'evil.example:80', 'localhost.evil.example', 'localhost@evil.example']],
    [403, 'host', ['127.0.0.1.nip.io']],
    [200, 'host', ['localhost', 'LOCALHOST:1', 'localhost.', '127.0.0.1:8080', '[::1]:3']],
    [403, 'origin', ['https://evil.example', 'http://localhost.evil.example', 'null', 'file://']],
    [403, 'origin', ['chrome-extension://abc']],
    [200, 'origin', ['http://localhost:5173']],
    [415, 'content-type', ['text/plain', 'application/json-patch+json', 'multipart/form-data']],
    [200, 'content-type', ['Application/JSON; charset=utf-8']],
    [406, 'accept', ['text/html', 'application/json', 'text/event-stream']],
  ])('answers %d to %s %j, and sends no CORS headers', async (status, header, values) => {
    for (const value of values) {
      const answer = await send(url, { headers: { [header]: value }, body: rpc('initialize', initializeParams) });
      expect([value, answer.status]).toEqual([value, status]);
      expect(answer.json.error?.code).toBe(status === 200 ? undefined : -32000);
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  test('two Host headers are refused', async () => {
    const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n';
    expect(await rawStatus(running.port, head)).toMatch(/^(400|403)$/);
  });

  test.each(['PUT', 'PATCH', 'OPTIONS'])('%s is refused and the allowed methods are named', async (method) => {
    const answer = await send(url, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('GET, POST, DELETE');
  });

  test.each(['/', '/mcp/', '/MCP', '//mcp', '/mcp/other'])('nothing is served at %s', async (path) => {
    const answer = await send(url, { path, body: rpc('ping') });
    expect(answer.status).toBe(404);
    expect(answer.text).toBe('');
  });

  test('200 000 levels of nesting are refused and the server lives', async () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const bare = await send(url, { body: deep });
    expect([400, 413]).toContain(bare.status);
    const headers = await openSession(url);
    const nested = await send(url, {
      headers,
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":${deep}}}}`,
    });
    expect(nested.status).toBeLessThan(500);
    expect((await send(url, { headers, body: rpc('ping') })).json.result).toEqual({});
  });

  test('one byte order mark is overlooked, two are a parse error, over every transport', async () => {
    const text = JSON.stringify(rpc('ping'));
    const fetched = async (body: string): Promise<number> => {
      const headers = { 'content-type': 'application/json' };
      return (await server.fetch(new Request(url, { method: 'POST', headers, body }), { serverless: true })).status;
    };
    const session = await openSession(url);
    for (const [body, status] of [
      [`\uFEFF${text}`, 200],
      [`\uFEFF\uFEFF${text}`, 400],
    ] as const) {
      expect((await send(url, { headers: session, body })).status).toBe(status);
      expect(await fetched(body)).toBe(status);
    }
  });

  test('rejects a body that was read before with a named error', async () => {
    const errors: unknown[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (_: string, e?: unknown) => void errors.push(e) };
    const read = new MCPServer({ name: 'Read', version: '1.0.0', tools: {}, logger });
    const { port } = await serveHttp(async (req, res) => {
      req.resume();
      await once(req, 'end');
      await read.startHTTP({ url: new URL(req.url ?? '', 'http://localhost'), httpPath: '/mcp', req, res });
    });
    expect((await send(`http://127.0.0.1:${port}/mcp`, { body: rpc('ping') })).status).toBe(500);
    const used = toRequest({ body: rpc('ping') });
    await used.text();
    expect((await read.fetch(used)).status).toBe(500);
    expect(errors).toMatchObject([{ code: 'BODY_ALREADY_READ' }, { code: 'BODY_ALREADY_READ' }]);
  });

  test.each(['12345678901234567890', '1e300', '1.5', 'null', 'true', '{}', '[1]'])(
    'rejects an id that a response cannot repeat: %s',
    async (id) => {
      const body = `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
      const { status, json } = await send(url, { headers: await openSession(url), body });
      expect([status, json.id, json.error.code]).toEqual([400, null, -32600]);
    },
  );

  test.each([
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), -32700],
    ['members with names in other letters', { jsonrpc: '2.0', id: 1, Method: 'ping' }, -32600],
  ])('a body is refused for %s', async (_what, body, code) => {
    const { status, json } = await send(url, { body });
    expect([status, json.error.code]).toEqual([400, code]);
  });

  test('a body that declares 64 MiB is refused before it is sent', async () => {
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: ${64 * 1024 * 1024}\r\n\r\n`;
    expect(await rawStatus(running.port, head)).toBe('413');
  });

  test('a chunked body is cut off at the limit', async () => {
    const before = process.memoryUsage().rss;
    const answer = await send(url, {
      headers: { 'transfer-encoding': 'chunked' },
      body: Buffer.alloc(16 * 1024 * 1024, 0x20),
    });
    expect(answer.status).toBe(413);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  test('each part of a refused body is discarded without work', async () => {
    let req: IncomingMessage | undefined;
    const options = { maxBodyBytes: 10 };
    const { port } = await serveHttp((received, res) => {
      req = received;
      const given = new URL(received.url ?? '', 'http://localhost');
      void server.startHTTP({ url: given, httpPath: '/mcp', req: received, res, options });
    });
    const socket = connect(port, '127.0.0.1');
    const head =
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nTransfer-Encoding: chunked\r\n\r\n';
    socket.write(`${head}b\r\n${'x'.repeat(11)}\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413/);
    expect(req?.listenerCount('data')).toBe(0);
    expect(req?.readableFlowing).toBe(true);
    socket.destroy();
  });

  test('compressed bodies are refused unread', async () => {
    const body = gzipSync(JSON.stringify(rpc('ping')));
    expect((await send(url, { headers: { 'content-encoding': 'gzip' }, body })).status).toBe(415);
  });

  test.each(['//', 'http://[', '*', '/%'])('the request target %j does no harm', async (target) => {
    expect(await rawStatus(running.port, `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`)).toMatch(/^40[04]$/);
    expect((await send(url, { body: rpc('initialize', initializeParams) })).status).toBe(200);
  });
});

describe('sessions', () => {
  test.each(['POST', 'GET', 'DELETE'])(
    '%s is answered 404 with an unknown session, and 400 without one',
    async (method) => {
      const body = method === 'POST' && { body: rpc('ping') };
      const unknown = await send(url, { method, headers: { 'mcp-session-id': 'nobody' }, ...body });
      expect([unknown.status, unknown.json.error.code]).toEqual([404, -32001]);
      expect(unknown.json.error.message).toContain('Session not found: it ended, or another process has it');
      const without = await send(url, { method, ...body });
      expect([without.status, without.json.error.code]).toEqual([400, -32000]);
    },
  );

  // The official server does the same.
  test.each(['GET', 'DELETE'])('%s with an unknown protocol version is answered 400', async (method) => {
    const session = await openSession(url);
    const headers = { ...session, accept: 'text/event-stream', 'mcp-protocol-version': '1999-01-01' };
    const answer = await send(url, { method, headers });
    expect(answer.status).toBe(400);
    expect(answer.json.error.message).toContain('Unsupported protocol version: 1999-01-01');
    expect((await send(url, { headers: session, body: rpc('ping') })).status).toBe(200);
  });

  test('DELETE ends a session for good', async () => {
    const headers = await openSession(url);
    expect((await send(url, { method: 'DELETE', headers })).status).toBe(200);
    expect((await send(url, { headers, body: rpc('ping') })).status).toBe(404);
    expect((await send(url, { method: 'DELETE', headers })).status).toBe(404);
  });

  test('a client cancels its own request and no other', async () => {
    const [mine, other] = [await openSession(url), await openSession(url)];
    const before = waiting.count;
    const kept = send(url, { headers: mine, body: call('wait', { milliseconds: 3_000 }, 'same') });
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'same' } };
    await expect.poll(() => waiting.count).toBe(before + 1);
    expect((await send(url, { headers: other, body: cancelled })).status).toBe(202);
    expect((await kept).json.result.content[0].text).toBe('waited');
    const again = send(url, { headers: mine, body: call('wait', { milliseconds: 300_000 }, 'same') });
    await expect.poll(() => waiting.count).toBe(before + 2);
    await send(url, { headers: mine, body: cancelled });
    expect((await again).text).toBe('');
  });
});

describe('the stateless revision', () => {
  test('headers that are missing are refused with -32020', async () => {
    const good = modern('tools/call', { name: 'echo', arguments: { message: 'x' } });
    for (const missing of ['mcp-method', 'mcp-name', 'mcp-protocol-version']) {
      const { [missing]: _, ...headers } = good.headers;
      const answer = await send(url, { ...good, headers });
      expect([missing, answer.status, answer.json.error.code]).toEqual([missing, 400, -32020]);
    }
  });

  test('another modern version is refused with the versions that are spoken', async () => {
    const meta = { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2027-01-01' };
    const headers = { 'mcp-protocol-version': '2027-01-01', 'mcp-method': 'tools/list' };
    const answer = await send(url, { headers, body: rpc('tools/list', { _meta: meta }) });
    expect(answer.json.error.data.supported).toEqual(['2026-07-28']);
  });

  test('arguments that are repeated in headers must agree with them', async () => {
    const inputSchema = {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        size: { type: 'integer', 'x-mcp-header': 'Size' },
        inner: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } } },
      },
    };
    const tools = { route: { description: 'd', inputSchema, execute: async () => 'routed' } };
    const routed = await new MCPServer({ name: 'Routed', version: '1', tools }).listen();
    const call = async (args: object, headers: Record<string, string>): Promise<number[]> => {
      const good = modern('tools/call', { name: 'route', arguments: args });
      const { status, json } = await send(routed.url, { ...good, headers: { ...good.headers, ...headers } });
      return [status, json.error?.code ?? 0];
    };
    expect(await call({ region: 'eu', size: 3 }, { 'mcp-param-region': 'eu', 'mcp-param-size': '3' })).toEqual([
      200, 0,
    ]);
    expect(await call({ region: 'zürich' }, { 'mcp-param-region': '=?base64?esO8cmljaA==?=' })).toEqual([200, 0]);
    expect(await call({ region: null }, {})).not.toEqual([400, -32020]);
    expect(await call({}, {})).toEqual([200, 0]);
    expect(await call({ region: 'eu' }, {})).toEqual([400, -32020]);
    expect(await call({ region: 'eu' }, { 'mcp-param-region': 'us' })).toEqual([400, -32020]);
    expect(await call({ region: 'eu' }, { 'mcp-param-region': '=?base64?%%?=' })).toEqual([400, -32020]);
    expect(await call({ size: 3 }, { 'mcp-param-size': '4' })).toEqual([400, -32020]);
    expect(await call({ inner: { zone: 'a' } }, { 'mcp-param-zone': 'a' })).toEqual([200, 0]);
    // Text that a tool would get as an object must not carry what no header names.
    expect(await call({ inner: '{"zone":"a"}' }, {})).toEqual([400, -32020]);
    await routed.close();
  });

  test('streams requested progress and logs before the result', async () => {
    const asked = { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'info' };
    const answer = await send(url, modern('tools/call', { name: 'steps', arguments: {}, _meta: asked }));
    expect(answer.headers['content-type']).toBe('text/event-stream');
    expect(answer.events.map(({ method, params }) => method ?? params)).toEqual([
      'notifications/progress',
      'notifications/message',
      'notifications/progress',
      undefined,
    ]);
    expect(answer.events.at(-1).result.content[0].text).toBe('done');
    const plain = await send(url, modern('tools/call', { name: 'steps', arguments: {} }));
    expect(plain.headers['content-type']).toBe('application/json');
  });

  test('closing the connection aborts the tool', async () => {
    const before = aborted.count;
    const started = waiting.count;
    const { headers, body } = modern('tools/call', { name: 'wait', arguments: { milliseconds: 300_000 } });
    const controller = new AbortController();
    const lost = fetch(new Request(url, toRequest({ headers, body })), { signal: controller.signal });
    const failure = lost.catch(String);
    await expect.poll(() => waiting.count).toBe(started + 1);
    controller.abort();
    expect(await failure).toContain('abort');
    await expect.poll(() => aborted.count).toBe(before + 1);
  });
});

describe('endpoints without sessions', () => {
  test('answer every request alone, in both eras', async () => {
    const opened = await send(stateless.url, { body: rpc('initialize', initializeParams) });
    expect(opened.headers['mcp-session-id']).toBeUndefined();
    const called = await send(stateless.url, { body: call('echo', { message: 'alone' }) });
    expect(called.json.result.content[0].text).toBe('alone');
    const now = await send(stateless.url, modern('tools/call', { name: 'echo', arguments: { message: 'now' } }));
    expect(now.json.result.content[0].text).toBe('now');
  });

  test.each(['GET', 'DELETE'])('refuse %s', async (method) => {
    const answer = await send(stateless.url, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('POST');
  });
});

/** Status of the response to a request that no client library would send. */
function rawStatus(port: number, head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(head));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString().split(' ')[1] ?? '');
    });
    socket.on('error', reject);
  });
}
