import type { ServerResponse } from 'node:http';
import { Client } from '@modelcontextprotocol/client';
import { RequestContext } from '@quiver/core/request-context';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  atEnd,
  type Message,
  type Reaction,
  type Script,
  initialized,
  tools,
  error,
  event,
  stream,
  notFound,
  startScripted,
} from '../../../../test/scripted-server.ts';
import { callTool } from '../../tools/call-tool.js';
import { ServerHandle } from '../../server-handle.js';
import type { HttpServerDefinition } from '../../definition/server-definition.js';
import { nodeFetch } from '../transports/node-fetch.js';

const unanswered: Reaction = () => {};
const list = (response: ServerResponse, { id }: Message): unknown =>
  response.write(event({ jsonrpc: '2.0', id, result: { tools } }));

/** What a server may leave open. */
const leftOpen: Record<string, Script> = {
  'initialize never answered': { initialize: unanswered },
  'server/discover never answered': { 'server/discover': unanswered },
  'initialized never answered': { 'notifications/initialized': unanswered },
  'initialized answered too late': {
    'notifications/initialized': (response) => setTimeout(() => response.writeHead(202).end(), 400),
    GET: stream(() => {}),
  },
  'server/discover answered too late': {
    'server/discover': (...about) => setTimeout(() => notFound(...about), 350),
    GET: stream(() => {}),
  },
  'the stream of initialize': {
    initialize: stream((response, { id }) => response.write(event({ jsonrpc: '2.0', id, result: initialized }))),
  },
  'the stream of a request': { 'tools/list': stream(list) },
  'a stream in place of nothing': { 'notifications/initialized': stream((response) => response.write(':\n\n')) },
  'the stream of the session': { GET: stream(() => {}) },
  'an unanswered stream of the session': { GET: unanswered },
  'the end of the session': { DELETE: unanswered },
};

describe('after disconnecting, nothing is left open:', () => {
  test.concurrent.each(
    Object.entries(leftOpen).flatMap(([name, scenario]) => [
      [name, 'SDK', scenario] as const,
      [name, 'direct', scenario] as const,
    ]),
  )('%s, %s', async (_, way, scenario) => {
    const { url, open } = await startScripted(scenario);
    const handle = new ServerHandle(
      'it',
      { url, connectTimeout: 250, ...(way === 'SDK' && { fetch: nodeFetch }) },
      1500,
    );
    await handle.tools.get().catch(() => {});
    await handle.connection.disconnect();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([...open]).toEqual([]);
  });
});

test.each([
  ['SDK', { fetch: nodeFetch }],
  ['direct', {}],
] as const)('%s: no session of the application goes with the question for one', async (_, way) => {
  const { url, heard } = await startScripted({});
  const requestInit = { headers: { 'Mcp-Session-Id': 'own', 'X-Own': '1' } };
  const handle = new ServerHandle('it', { url, protocol: 'legacy', requestInit, ...way }, 1500);
  await handle.tools.get();
  await handle.connection.disconnect();
  const sessions = heard.map(({ name, headers }) => [name, headers['mcp-session-id'], headers['x-own']]);
  expect(sessions).toContainEqual(['initialize', undefined, '1']);
  expect(sessions).toContainEqual(['tools/list', 's1', '1']);
});

describe('while the SDK takes over', () => {
  const connect = Client.prototype.connect;
  let connecting = 0;
  beforeAll(() => {
    vi.spyOn(Client.prototype, 'connect').mockImplementation(async function slowly(this: Client, ...args) {
      connecting += 1;
      await new Promise((resolve) => setTimeout(resolve, 200));
      await connect.apply(this, args);
    });
  });
  afterAll(() => vi.restoreAllMocks());

  const call = async (answer: Reaction) => {
    const { url, heard, open } = await startScripted({ 'tools/call': answer });
    const handle = new ServerHandle('it', { url, protocol: 'legacy' }, 1500);
    atEnd.push(() => handle.connection.disconnect());
    await handle.connection.connect();
    const stop = new AbortController();
    connecting = 0;
    const called = callTool(handle, { name: 'go', signal: stop.signal }).catch((reason: unknown) => reason);
    await expect.poll(() => connecting, { interval: 5 }).toBe(1);
    return { called, handle, heard, open, stop };
  };

  test('the server hears that a call was given up, and its stream is closed', async () => {
    const { called, heard, open, stop } = await call(stream((response) => response.write('id: 1\ndata:\n\n')));
    stop.abort(new Error('enough'));
    expect(await called).toMatchObject({ message: 'enough' });
    await expect.poll(() => heard.at(-1)?.name).toBe('notifications/cancelled');
    await expect.poll(() => [...open]).toEqual([]);
  });

  test('the session is ended all the same', async () => {
    const { called, handle, heard } = await call(error(-32_000));
    await handle.connection.disconnect();
    expect(await called).toMatchObject({ code: 'MCP_REQUEST_FAILED' });
    expect(heard.at(-1)?.name).toBe('DELETE');
  });
});

test('a fetch that was replaced since carries the end of the session too', async () => {
  const { url } = await startScripted({});
  const handle = new ServerHandle('it', { url, protocol: 'legacy' }, 1500);
  await handle.tools.get();
  const replaced = vi.fn(fetch);
  vi.stubGlobal('fetch', replaced);
  await handle.connection.disconnect().finally(() => vi.unstubAllGlobals());
  expect(replaced.mock.calls.map(([, init]) => init?.method)).toEqual(['DELETE']);
});

test.each([
  ['SDK', { fetch: nodeFetch }],
  ['direct', {}],
] as const)('%s: progress that was reported before the answer is heard before it', async (_, way) => {
  const { url } = await startScripted({
    'tools/call': stream((response, { id, params }) => {
      const { progressToken } = (params as { _meta: { progressToken: string } })._meta;
      const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } };
      const answer = { jsonrpc: '2.0', id, result: { content: [] } };
      response.end([{ jsonrpc: '2.0', method: 'own/thing' }, progress, answer].map(event).join(''));
    }),
  });
  const handle = new ServerHandle('it', { url, protocol: 'legacy', ...way }, 1500);
  atEnd.push(() => handle.connection.disconnect());
  const heard: number[] = [];
  await callTool(handle, { name: 'go', onProgress: ({ progress }) => heard.push(progress) });
  expect(heard).toEqual([1]);
});

test.each([
  ['SDK', { fetch: nodeFetch }],
  ['direct', {}],
] as const)("%s: no stream of a connection is opened in the name of a request's user", async (_, way) => {
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
  const handle = new ServerHandle('it', { url, protocol: 'legacy', headers, ...way }, 1500);
  atEnd.push(() => handle.connection.disconnect());
  const requestContext = new RequestContext([['user', 'alice']]);
  await expect(callTool(handle, { name: 'go', requestContext })).rejects.toThrow('no');
  const users = (method: string): unknown[] =>
    heard.map((entry) => entry.name === method && entry.headers['x-user']).filter(Boolean);
  await expect.poll(() => users('GET')).toHaveLength(2);
  expect([users('tools/call'), users('GET')]).toEqual([['alice'], ['nobody', 'nobody']]);
});
