import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { nodeFetch } from './node-fetch.js';

let server: Server;
let url: string;
let connections: number;
let handle: (req: IncomingMessage, res: ServerResponse) => void;

beforeEach(async () => {
  connections = 0;
  server = createServer((req, res) => handle(req, res));
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}/mcp`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  vi.unstubAllGlobals();
});

const post = (body: string, rest: RequestInit = {}): Promise<Response> =>
  nodeFetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-own': 'yes' },
    body,
    redirect: 'manual',
    ...rest,
  });

test('sends what it was given and reads JSON, over one connection', async () => {
  handle = (req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      res.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'abc' });
      res.end(
        JSON.stringify({ method: req.method, own: req.headers['x-own'], body: Buffer.concat(chunks).toString('utf8') }),
      );
    });
  };
  for (const body of ['first', 'grüße ✓']) {
    const response = await post(body);
    expect(response.ok).toBe(true);
    expect(response.headers.get('Mcp-Session-Id')).toBe('abc');
    expect(await response.json()).toEqual({ method: 'POST', own: 'yes', body });
    expect(await new Response(response.body).text()).toContain(body);
  }
  expect(connections).toBe(1);
});

test('passes on an event stream as it comes', async () => {
  let second: (() => void) | undefined;
  handle = (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('data: 1\n\n');
    second = () => res.end('data: 2\n\n');
  };
  const reader = (await post('')).body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe('data: 1\n\n');
  second?.();
  expect((await reader.read()).value).toBe('data: 2\n\n');
  expect((await reader.read()).done).toBe(true);
});

test('an abort rejects with its reason before the answer, and ends a stream after it', async () => {
  handle = (req, res) => {
    if (req.headers['x-mode'] === 'stream')
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
  };
  const reason = new Error('enough');
  const waiting = new AbortController();
  const lost = post('', { signal: waiting.signal });
  setTimeout(() => waiting.abort(reason), 20);
  await expect(lost).rejects.toBe(reason);
  const streaming = new AbortController();
  const { body } = await post('', { headers: { 'x-mode': 'stream' }, signal: streaming.signal });
  const reader = body!.getReader();
  await reader.read();
  streaming.abort(reason);
  expect(await reader.read().catch(() => 'ended')).toBe('ended');
});

test('a redirect is the answer, not a second request', async () => {
  let requests = 0;
  handle = (_req, res) => {
    requests += 1;
    res.writeHead(307, { location: '/elsewhere' }).end();
  };
  const response = await post('secret');
  expect([response.status, response.headers.get('location'), requests]).toEqual([307, '/elsewhere', 1]);
});

test.each([202, 204, 404])('status %s without a body is read', async (status) => {
  handle = (_req, res) => void res.writeHead(status).end();
  const response = await post('');
  expect([response.status, await response.text()]).toEqual([status, '']);
});

test('a connection that breaks rejects, within the answer too, and nothing is sent twice', async () => {
  let requests = 0;
  handle = (req, res) => {
    requests += 1;
    if (requests === 1) return void req.socket.destroy();
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    res.write('{"half":', () => req.socket.destroy());
  };
  await expect(post('')).rejects.toThrow('fetch failed');
  await expect(post('')).rejects.toThrow('fetch failed');
  expect(requests).toBe(2);
});

test('an application that replaced fetch is respected', async () => {
  vi.stubGlobal('fetch', async () => new Response('replaced'));
  expect(await (await post('')).text()).toBe('replaced');
});
