import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { readEvents } from '../../../test/clients/event-reader.ts';
import { exampleTools, waiting as started } from '../../../test/servers/example-tools.ts';
import { openSession, rpc, send } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';

const create = (): MCPServer => new MCPServer({ name: 'Closing', version: '1.0.0', tools: exampleTools });
const waiting = (milliseconds: number, id = 1): object =>
  rpc('tools/call', { name: 'wait', arguments: { milliseconds } }, id);
const later = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Sends bytes and returns what came back until the connection was closed. */
function raw(port: number, ...parts: string[]): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(parts.join('')));
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

/** Other test files of this process may have left some. */
function countResources(type: string): number {
  return process.getActiveResourcesInfo().filter((active) => active === type).length;
}

describe('closing', () => {
  test('serves requests until the calls in flight have ended, then refuses connections', async () => {
    const server = create();
    const { url, close } = await server.listen();
    const session = await openSession(url);
    const before = started.count;
    const calls = Array.from({ length: 20 }, (_, id) => send(url, { headers: session, body: waiting(300, id) }));
    await expect.poll(() => started.count).toBe(before + 20);
    const closing = close();
    const ping = { headers: session, body: rpc('ping', {}, 'late') };
    expect((await send(url, ping)).headers['connection']).toBe('close');
    for (const { status, json } of await Promise.all(calls)) {
      expect(status).toBe(200);
      expect(json.result.content[0].text).toBe('waited');
    }
    await closing;
    await expect(send(url, ping)).rejects.toThrow('ECONNREFUSED');
  });

  test('open streams end, and nothing keeps the process alive', async () => {
    const before = countResources('TCPServerWrap');
    const server = create();
    const { url } = await server.listen();
    const stream = await readEvents(url, { headers: await openSession(url) });
    await server.close();
    await stream.ended;
    expect(countResources('TCPServerWrap')).toBeLessThanOrEqual(before);
  });

  test('closing twice, or before anything was served, does no harm', async () => {
    const server = create();
    const { close } = await server.listen();
    await Promise.all([close(), server.close()]);
    expect(await server.close()).toBeUndefined();
    expect(await create().close()).toBeUndefined();
  });
});

describe('slow and broken clients', () => {
  test('ends requests whose headers or bodies do not arrive in time', async () => {
    const server = create();
    const { port } = await server.listen({ headersTimeout: 200, requestTimeout: 400 });
    const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n';
    const [headers, body] = await Promise.all([raw(port, head), raw(port, head, 'Content-Length: 100\r\n\r\n{')]);
    for (const text of [headers, body]) expect(text === '' || text.startsWith('HTTP/1.1 408')).toBe(true);
    await server.close();
  });

  test('disconnects a stalled reader before its events fill the memory, without an effect on others', async () => {
    const server = new MCPServer({
      name: 'Flood',
      version: '1.0.0',
      tools: {
        ...exampleTools,
        flood: {
          description: 'Sends up to 256 MiB before its answer',
          execute: async (_input: unknown, context: { mcp: { log(level: string, text: string): Promise<void> } }) => {
            for (let count = 0; count < 256; count += 1) {
              await context.mcp.log('info', 'x'.repeat(1024 * 1024));
              await later(1);
            }
            return 'done';
          },
        },
      },
    });
    const { url, port } = await server.listen();
    const session = await openSession(url);
    const text = JSON.stringify(rpc('tools/call', { name: 'flood' }));
    const before = process.memoryUsage();
    const socket = connect(port, '127.0.0.1');
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => {});
    socket.pause();
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nMcp-Session-Id: ${session['mcp-session-id']}\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    );
    await later(800);
    const { rss } = process.memoryUsage();
    expect(rss - before.rss).toBeLessThan(200 * 1024 * 1024);
    const echo = await send(url, {
      headers: session,
      body: rpc('tools/call', { name: 'echo', arguments: { message: 'a' } }, 2),
    });
    expect(echo.json.result.content[0].text).toBe('a');
    socket.resume();
    await closed;
    await server.close({ grace: 0 });
  });

  test('connections that come and go leave nothing behind', async () => {
    const server = create();
    const { url } = await server.listen();
    const session = await openSession(url);
    const abandon = (): Promise<void> =>
      new Promise((resolve) => {
        const req = request(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...session },
        });
        req.on('response', (res) => {
          res.on('error', () => {});
          req.destroy();
        });
        req.on('error', () => {});
        req.on('close', resolve);
        req.end(
          JSON.stringify(rpc('tools/call', { name: 'steps', _meta: { progressToken: 1 } }, Math.random().toString())),
        );
      });
    const before = countResources('TCPSocketWrap');
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 25 }, abandon));
    await later(100);
    expect(countResources('TCPSocketWrap')).toBeLessThan(before + 20);
    expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
    process.off('warning', onWarning);
    expect((await send(url, { headers: session, body: rpc('ping') })).status).toBe(200);
    await server.close();
  });
});
