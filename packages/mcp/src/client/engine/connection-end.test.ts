import type { ServerResponse } from 'node:http';
import process from 'node:process';
import { RequestContext } from '@quiver/core/request-context';
import { describe, expect, test, vi } from 'vitest';
import {
  atEnd,
  error,
  event,
  initialized,
  notFound,
  startScripted,
  stream,
  tools,
  type Message,
  type Reaction,
  type Script,
} from '../../../test/servers/scripted-server.ts';
import type { HttpServerDefinition } from '../config/server-definition.js';
import type { RemoteServer } from '../remote/remote-server.js';
import { createRemoteServer } from '../../../test/clients/remote-server.ts';
import { callTool } from '../tools/call-tool.js';

/** Returns a server that is disconnected at the end. */
function connectTo(definition: HttpServerDefinition, timeout = 1500): RemoteServer {
  const handle = createRemoteServer(definition, timeout);
  atEnd.push(() => handle.disconnect());
  return handle;
}

const unanswered: Reaction = () => {};
const list = (response: ServerResponse, { id }: Message): unknown =>
  response.write(event({ jsonrpc: '2.0', id, result: { tools } }));

/** How requests are sent: over `node:http`, or with a custom `fetch`. */
const sends = {
  node: {},
  fetch: { fetch: (url: string | URL, init?: RequestInit) => fetch(url, init) },
} as const;
const eachSend = Object.entries(sends) as [string, Partial<HttpServerDefinition>][];

/** Requests that a server may leave open. */
const leftOpen: Record<string, Script> = {
  'initialize without a response': { initialize: unanswered },
  'server/discover without a response': { 'server/discover': unanswered },
  'initialized without a response': { 'notifications/initialized': unanswered },
  'initialized with a late response': {
    'notifications/initialized': (response) => setTimeout(() => response.writeHead(202).end(), 400),
    GET: stream(() => {}),
  },
  'server/discover with a late response': {
    'server/discover': (...about) => setTimeout(() => notFound(...about), 350),
    GET: stream(() => {}),
  },
  'the stream of initialize': {
    initialize: stream((response, { id }) => response.write(event({ jsonrpc: '2.0', id, result: initialized }))),
  },
  'the stream of a request': { 'tools/list': stream(list) },
  'a stream instead of an empty response': {
    'notifications/initialized': stream((response) => response.write(':\n\n')),
  },
  'the stream of the session': { GET: stream(() => {}) },
  'a stream of the session without a response': { GET: unanswered },
  'the end of the session': { DELETE: unanswered },
};

describe('disconnecting closes', () => {
  test.concurrent.each(
    Object.entries(leftOpen).flatMap(([name, scenario]) =>
      eachSend.map(([send, definition]) => [name, send, scenario, definition] as const),
    ),
  )('%s (%s)', async (_, _send, scenario, definition) => {
    const { url, open } = await startScripted(scenario);
    const handle = createRemoteServer({ url, connectTimeout: 250, ...definition }, 1500);
    await handle
      .list('tools/list')
      .get()
      .catch(() => {});
    await handle.disconnect();
    await vi.waitFor(() => expect([...open]).toEqual([]), 60_000);
  });
});

test.each(eachSend)('%s: a session header of the definition does not accompany the handshake', async (_, send) => {
  const { url, heard } = await startScripted({});
  const requestInit = { headers: { 'Mcp-Session-Id': 'own', 'X-Own': '1' } };
  const handle = createRemoteServer({ url, protocol: 'legacy', requestInit, ...send }, 1500);
  await handle.list('tools/list').get();
  await handle.disconnect();
  const sessions = heard.map(({ name, headers }) => [name, headers['mcp-session-id'], headers['x-own']]);
  expect(sessions).toContainEqual(['initialize', undefined, '1']);
  expect(sessions).toContainEqual(['tools/list', 's1', '1']);
});

test('an abort within a stream that can be resumed cancels the request and closes the stream', async () => {
  const { url, heard, open } = await startScripted({
    'tools/call': stream((response) => response.write('id: 1\ndata:\n\n')),
  });
  const handle = connectTo({ url, protocol: 'legacy' });
  await handle.connection.connect();
  const stop = new AbortController();
  const called = callTool(handle, { name: 'go', signal: stop.signal }).catch((reason: unknown) => reason);
  await expect.poll(() => heard.at(-1)?.name).toBe('tools/call');
  stop.abort(new Error('enough'));
  expect(await called).toMatchObject({ message: 'enough' });
  await expect.poll(() => heard.at(-1)?.name).toBe('notifications/cancelled');
  await expect.poll(() => [...open]).toEqual([]);
});

test('a timeout during the pause before a stream is resumed ends the attempts', async () => {
  const { url, heard } = await startScripted({
    'tools/call': stream((response) => response.end('id: 1\nretry: 400\ndata:\n\n')),
  });
  const handle = connectTo({ url, protocol: 'legacy' }, 200);
  await handle.connection.connect();
  await expect(callTool(handle, { name: 'go' })).rejects.toMatchObject({ code: 'MCP_REQUEST_TIMEOUT' });
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(heard.filter(({ headers }) => headers['last-event-id'] !== undefined)).toEqual([]);
});

test('the session is ended after a failed request', async () => {
  const { url, heard } = await startScripted({ 'tools/call': error(-32_000) });
  const handle = createRemoteServer({ url, protocol: 'legacy' }, 1500);
  await expect(callTool(handle, { name: 'go' })).rejects.toMatchObject({ code: 'MCP_REQUEST_FAILED' });
  await handle.disconnect();
  expect(heard.at(-1)?.name).toBe('DELETE');
});

test('a global fetch that is replaced later sends the following requests', async () => {
  const { url } = await startScripted({});
  const handle = createRemoteServer({ url, protocol: 'legacy' }, 1500);
  await handle.list('tools/list').get();
  const replaced = vi.fn(fetch);
  vi.stubGlobal('fetch', replaced);
  await handle.disconnect().finally(() => vi.unstubAllGlobals());
  expect(replaced.mock.calls.map(([, init]) => init?.method)).toEqual(['DELETE']);
});

test.each(eachSend)('%s: progress that precedes the response is reported before it', async (_, send) => {
  const { url } = await startScripted({
    'tools/call': stream((response, { id, params }) => {
      const { progressToken } = (params as { _meta: { progressToken: string } })._meta;
      const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } };
      const answer = { jsonrpc: '2.0', id, result: { content: [] } };
      response.end([{ jsonrpc: '2.0', method: 'own/thing' }, progress, answer].map(event).join(''));
    }),
  });
  const handle = connectTo({ url, protocol: 'legacy', ...send });
  const reported: number[] = [];
  await callTool(handle, { name: 'go', onProgress: ({ progress }) => reported.push(progress) });
  expect(reported).toEqual([1]);
});

test.each(eachSend)('%s: streams of a connection carry the headers of no user', async (_, send) => {
  const { url, heard } = await startScripted({
    GET: (response, message, request) =>
      stream((opened) => {
        if (request.headers['last-event-id'] === undefined)
          setTimeout(() => opened.end('id: 7\nretry: 5\ndata:\n\n'), 200);
      })(response, message, request),
    'tools/call': error(-32_000),
  });
  const headers: HttpServerDefinition['headers'] = ({ requestContext }) => ({
    'x-user': String(requestContext?.get('user') ?? 'nobody'),
  });
  const handle = connectTo({ url, protocol: 'legacy', headers, ...send });
  const requestContext = new RequestContext([['user', 'alice']]);
  await expect(callTool(handle, { name: 'go', requestContext })).rejects.toThrow('no');
  const users = (method: string): unknown[] =>
    heard.map((entry) => entry.name === method && entry.headers['x-user']).filter(Boolean);
  await expect.poll(() => users('GET')).toHaveLength(2);
  expect([users('tools/call'), users('GET')]).toEqual([['alice'], ['nobody', 'nobody']]);
});

test('a lost session is replaced by one handshake for all concurrent requests', async () => {
  let isForgotten = false;
  let sessions = 0;
  const { url, heard } = await startScripted({
    initialize: (response, { id }) => {
      sessions += 1;
      isForgotten = false;
      const body = JSON.stringify({ jsonrpc: '2.0', id, result: initialized });
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${sessions}` }).end(body);
    },
    'tools/call': (response, { id }, request) => {
      if (isForgotten || request.headers['mcp-session-id'] !== `s${sessions}`) return response.writeHead(404).end();
      const body = JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } });
      return response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    },
  });
  const handle = connectTo({ url, protocol: 'legacy' });
  await callTool(handle, { name: 'go' });
  isForgotten = true;
  await Promise.all([1, 2, 3].map(() => callTool(handle, { name: 'go' })));
  expect(heard.filter(({ name }) => name === 'initialize')).toHaveLength(2);
});

test('parallel requests with one signal cause no warning', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  const { url } = await startScripted({});
  const handle = connectTo({ url, protocol: 'legacy' });
  const { signal } = new AbortController();
  const request = (): Promise<unknown> =>
    handle.request((engine, options) => engine.request('tools/list', {}, options), { signal });
  await Promise.all(Array.from({ length: 30 }, request));
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});
