import { request as httpRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { afterTest, serveHttp } from '../../../test/after-test.ts';
import { modern, openSession, send, toRequest } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';

let running = 0;
const tools = {
  never: toolOf(
    'never',
    (_input, { abortSignal }) =>
      new Promise((resolve) => {
        running += 1;
        abortSignal?.addEventListener('abort', () => resolve((running -= 1)));
        if (abortSignal?.aborted) resolve((running -= 1));
      }),
  ),
  long: toolOf('long', async (_input, { mcp }) => {
    await mcp.progress({ progress: 1 });
    return 'x'.repeat(20_000_000);
  }),
};
const create = (): MCPServer => {
  const server = new MCPServer({ name: 'Lost', version: '1.0.0', tools });
  afterTest(() => server.close({ grace: 50 }));
  return server;
};

describe('a client that left before its request was looked at', () => {
  test('keeps no stream: another one may read it', async () => {
    const server = create();
    let middleware = Promise.resolve();
    const { http, origin } = await serveHttp(async (req, res) => {
      await middleware;
      await server.startHTTP({ url: new URL(req.url ?? '', 'http://localhost'), httpPath: '/mcp', req, res });
      served();
    });
    const url = `${origin}/mcp`;
    let served = (): void => {};
    const headers = { ...(await openSession(url)), accept: 'text/event-stream' };
    let goOn = (): void => {};
    middleware = new Promise((resolve) => (goOn = resolve));
    const wasServed = new Promise<void>((resolve) => (served = resolve));
    const leaving = httpRequest(url, { headers }).on('error', () => {});
    leaving.end();
    const [, response] = await new Promise<[unknown, { once: (event: 'close', listener: () => void) => unknown }]>(
      (resolve) => http.once('request', (...both) => resolve(both)),
    );
    leaving.destroy();
    await new Promise<void>((resolve) => response.once('close', resolve));
    goOn();
    await wasServed;
    const reader = httpRequest(url, { headers });
    reader.end();
    const status = await new Promise((resolve) => reader.once('response', (answer) => resolve(answer.statusCode)));
    reader.destroy();
    expect(status).toBe(200);
  });

  test('cancels its call and ends its stream', async () => {
    const server = create();
    const signal = AbortSignal.abort();
    const call = await server.fetch(toRequest(modern('tools/call', { name: 'never' }), { signal }));
    expect(call.status).toBe(202);
    expect(running).toBe(0);
    const listening = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const response = await server.fetch(toRequest(listening, { signal }));
    await expect(response.text()).rejects.toThrow('aborted');
  });
});

test('ends the body of a response when the request ends', async () => {
  const controller = new AbortController();
  const listening = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const response = await create().fetch(toRequest(listening, { signal: controller.signal }));
  const text = response.text();
  controller.abort();
  await expect(text).rejects.toThrow('aborted');
});

test('one message may be longer than all that may wait for a slow reader', async () => {
  const server = create();
  const { url } = await server.listen();
  const call = modern('tools/call', { name: 'long', _meta: { progressToken: 1 } });
  const { events } = await send(url, call);
  expect(events.at(-1).result.content[0].text).toHaveLength(20_000_000);
  expect((await (await server.fetch(toRequest(call))).text()).length).toBeGreaterThan(20_000_000);
});
