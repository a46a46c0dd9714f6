import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { serveHttp } from '../../test/after-test.ts';
import { nodeSend } from './node-send.js';
import { fromFetch, HttpCall, maxResponseLength, toFetch, type Send } from './send.js';

let server: Server;
let url: URL;
let connections: number;
let handle: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  connections = 0;
  const served = await serveHttp((request, response) => handle(request, response));
  server = served.http.on('connection', () => (connections += 1));
  url = new URL('/mcp?a=b', served.origin);
});

const sends: Record<string, Send> = { nodeSend, fromFetch: fromFetch((to, init) => fetch(to, init)) };
const post = (body: string, headers: Record<string, string> = {}): HttpCall =>
  new HttpCall('POST', { 'content-type': 'application/json', ...headers }, body);

describe.each(Object.entries(sends))('%s', (_name, send) => {
  test('sends method, path, headers and body and reads the response', async () => {
    handle = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        response.writeHead(200, { 'content-type': 'application/json', 'Mcp-Session-Id': 'abc' });
        const { method, url: path, headers } = request;
        response.end(JSON.stringify([method, path, headers['x-own'], Buffer.concat(chunks).toString()]));
      });
    };
    for (const body of ['first', 'grüße ✓']) {
      const response = await send(url, post(body, { 'x-own': 'yes' }));
      expect([response.status, response.header('mcp-session-id'), response.header('x-none')]).toEqual([
        200,
        'abc',
        undefined,
      ]);
      expect(JSON.parse(await response.text())).toEqual(['POST', '/mcp?a=b', 'yes', body]);
    }
    if (send === nodeSend) expect(connections).toBe(1);
  });

  test('passes on a stream as it arrives and keeps characters together', async () => {
    const bytes = Buffer.from('data: ü😀\n\n');
    let more: (() => void) | undefined;
    handle = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(bytes.subarray(0, 7));
      more = () => response.end(bytes.subarray(7));
    };
    const texts: string[] = [];
    const response = await send(url, post(''));
    const reading = response.read((text) => texts.push(text));
    await expect.poll(() => texts.join('')).toBe('data: ');
    more?.();
    await reading;
    expect(texts.join('')).toBe('data: ü😀\n\n');
  });

  test('rejects when the call is canceled before the response and within it', async () => {
    handle = (request, response) => {
      if (request.headers['x-mode'] === 'stream')
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    };
    const waiting = post('');
    const lost = send(url, waiting);
    setTimeout(() => waiting.cancel(), 20);
    await expect(lost).rejects.toThrow(/failed|abort/i);
    const streaming = post('', { 'x-mode': 'stream' });
    const response = await send(url, streaming);
    await expect(response.read(() => streaming.cancel())).rejects.toThrow(/failed|abort/i);
  });

  test('does not follow a redirect', async () => {
    let requests = 0;
    handle = (_request, response) => {
      requests += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    };
    const response = await send(url, post('secret'));
    response.discard();
    expect([response.status, response.header('location'), requests]).toEqual([307, '/elsewhere', 1]);
  });

  test('rejects when the connection breaks, and sends nothing twice', async () => {
    let requests = 0;
    handle = (request, response) => {
      requests += 1;
      if (requests === 1) return void request.socket.destroy();
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"half":', () => request.socket.destroy());
    };
    await expect(send(url, post(''))).rejects.toThrow(TypeError);
    const response = await send(url, post(''));
    await expect(response.text()).rejects.toThrow(TypeError);
    expect(requests).toBe(2);
  });

  test('rejects a body that exceeds the limit', async () => {
    const chunk = Buffer.alloc(8 * 1024 * 1024, 0x20);
    handle = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    };
    const response = await send(url, post(''));
    await expect(response.text()).rejects.toThrow(String(maxResponseLength));
  });

  test.each([202, 204, 404])('reads status %s without a body', async (status) => {
    handle = (_request, response) => void response.writeHead(status).end();
    const response = await send(url, post(''));
    expect([response.status, await response.text()]).toEqual([status, '']);
  });
});

test('sends through a `request` of `node:http` that was replaced after the import', async () => {
  handle = (_request, response) => response.end('ok');
  const request = vi.spyOn(http, 'request');
  const response = await nodeSend(url, post('{}'));
  expect(await response.text()).toBe('ok');
  expect(request).toHaveBeenCalledOnce();
  request.mockRestore();
});

test('a custom fetch may read, change and spread the headers, and receives the request context', async () => {
  handle = (request, response) => void response.end(JSON.stringify(request.headers));
  const requestContext = new Map() as never;
  const seen: unknown[] = [];
  const send = fromFetch(
    (to, init, context) => {
      const headers = init?.headers as Headers;
      headers.set('x-read', String(headers.get('x-own')));
      seen.push(context, { ...headers }, init?.credentials);
      return fetch(to, init);
    },
    { credentials: 'include' },
  );
  const response = await send(url, new HttpCall('GET', { 'x-own': 'yes' }, undefined, requestContext));
  expect(JSON.parse(await response.text())).toMatchObject({ 'x-own': 'yes', 'x-read': 'yes' });
  expect(seen).toEqual([requestContext, { 'x-own': 'yes' }, 'include']);
});

test('does not wait for a body that is never canceled', async () => {
  const chunk = new Uint8Array(8 * 1024 * 1024).fill(0x20);
  const endless = (): ReadableStream =>
    new ReadableStream({
      pull: (controller) => controller.enqueue(chunk),
      cancel: () => new Promise(() => {}),
    });
  const send = fromFetch(async () => new Response(endless()));
  const tooLong = await send(url, post(''));
  await expect(tooLong.text()).rejects.toThrow(String(maxResponseLength));
  const refused = await send(url, post(''));
  const refuse = (): never => {
    throw new Error('refused');
  };
  await expect(refused.read(refuse)).rejects.toThrow('refused');
  (await send(url, post(''))).discard();
});

test('limits a compressed body after decompression', async () => {
  const bomb = gzipSync(Buffer.alloc(maxResponseLength + 1, 'a'));
  handle = (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length }).end(bomb);
  const response = await fromFetch((to, init) => fetch(to, init))(url, post('{}'));
  await expect(response.text()).rejects.toThrow('longer than');
});

test('rejects an encoded response that was not requested', async () => {
  handle = (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
  await expect(nodeSend(url, post(''))).rejects.toThrow('encoded as gzip');
});

test('rejects a response that switches protocols', async () => {
  server.on('connection', (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
  });
  await expect(nodeSend(url, post(''))).rejects.toThrow('without a response');
});

test('ends a response at the abort signal, although garbage was collected meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  handle = (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{');
  const controller = new AbortController();
  const response = await toFetch(nodeSend)(url, { method: 'POST', body: 'x', signal: controller.signal });
  const outcome = response.text().catch((error: Error) => error.message);
  for (let pass = 0; pass < 2; pass += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    collectGarbage();
  }
  controller.abort();
  expect(await outcome).toBe('fetch failed');
});
