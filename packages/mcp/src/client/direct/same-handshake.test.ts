import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/client';
import { isQuiverError } from '@quiver/core';
import { RequestContext } from '@quiver/core/request-context';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { callTool } from '../call-tool.js';
import { ServerHandle } from '../server-handle.js';
import type { HttpServerDefinition } from '../server-definition.js';
import { nodeFetch } from '../transports/node-fetch.js';

// However a server behaves when it is connected, a link past the SDK ends as one of the SDK does, and the server hears the same.

// Tests run side by side here, so `onTestFinished` could mean another one.
const atEnd: (() => unknown)[] = [];
afterAll(() => Promise.all(atEnd.map((end) => end())));

type Message = { id?: number | string; method?: string; params?: Record<string, unknown> };
type Reaction = (response: ServerResponse, message: Message, request: IncomingMessage) => unknown;
/** By method of the protocol, or of HTTP where that is not POST. */
type Script = Partial<Record<string, Reaction>>;

const serverInfo = { name: 'scripted', version: '1' };
const initialized = { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo };
const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
};
const tools = [{ name: 'go', inputSchema: { type: 'object' } }];

const send = (response: ServerResponse, code: number, type: string, body: string, headers = {}): unknown =>
  response.writeHead(code, { ...(type !== '' && { 'content-type': type }), ...headers }).end(body);
const json = (value: object, code = 200, headers = {}): Reaction => {
  return (response, { id }) =>
    send(response, code, 'application/json', JSON.stringify({ jsonrpc: '2.0', id, ...value }), headers);
};
const session = { 'mcp-session-id': 's1' };
const result = (value: object, headers: object = session): Reaction => json({ result: value }, 200, headers);
const error = (code: number, status = 200, data?: object): Reaction =>
  json({ error: { code, message: 'no', ...(data && { data }) } }, status);
const plain = (code: number, body = '', headers = {}): Reaction => {
  return (response) => send(response, code, body === '' ? '' : 'text/plain', body, headers);
};
const event = (message: object): string => `data: ${JSON.stringify(message)}\n\n`;
const stream = (
  write: (response: ServerResponse, message: Message) => unknown,
  headers: object = session,
): Reaction => {
  return (response, message) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    response.flushHeaders();
    write(response, message);
  };
};
const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
const notFound = error(-32_601, 404);

const usual: Script = {
  initialize: result(initialized),
  'server/discover': notFound,
  'notifications/initialized': plain(202),
  'tools/list': (response, message, request) =>
    result(
      request.headers['mcp-protocol-version'] === '2026-07-28'
        ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools }
        : { tools },
    )(response, message, request),
  'subscriptions/listen': notFound,
  GET: plain(405),
  DELETE: plain(200),
};

interface Heard extends Omit<Message, 'id'> {
  readonly name: string;
  readonly url: string | undefined;
  readonly headers: Record<string, unknown>;
}

async function startScripted(script: Script) {
  const heard: Heard[] = [];
  const open = new Set<string>();
  const ids = new Map<unknown, number>();
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const message = (text === '' ? {} : JSON.parse(text)) as Message;
      const { id, params = {}, ...described } = message;
      const name = message.method ?? (request.method === 'POST' ? 'answer' : (request.method as string));
      if (id !== undefined && !ids.has(id)) ids.set(id, ids.size);
      const headers = Object.entries(request.headers).filter(([header]) => !uninteresting.has(header));
      heard.push({ name, url: request.url, headers: Object.fromEntries(headers.toSorted()), params, ...described });
      open.add(name);
      response.once('close', () => open.delete(name));
      (script[name] ?? usual[name] ?? plain(202))(response, message, request);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  atEnd.push(() => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, heard, open };
}

const uninteresting = new Set(['host', 'connection', 'content-length']);

/** What a server may do of which this side shall make the same, whichever way it is connected. */
const handshakes: Record<string, Script> = {
  'what every server does': {},
  'no session': { initialize: result(initialized, {}) },
  'a session without a name': { initialize: result(initialized, { 'mcp-session-id': '' }) },
  'an event stream': {
    initialize: stream((response, { id }) => response.end(event({ jsonrpc: '2.0', id, result: initialized }))),
  },
  'a stream that can be taken up again': {
    initialize: stream((response, { id }) =>
      response.end(`id: 1\ndata:\n\nid: 2\n${event({ jsonrpc: '2.0', id, result: initialized })}`),
    ),
  },
  'a stream with a message before the answer': {
    initialize: stream((response, { id }) => {
      response.write(event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'hi' } }));
      response.end(event({ jsonrpc: '2.0', id, result: initialized }));
    }),
  },
  'an older revision': { initialize: result({ ...initialized, protocolVersion: '2025-03-26' }) },
  'an unknown revision': { initialize: result({ ...initialized, protocolVersion: '2099-01-01' }) },
  instructions: { initialize: result({ ...initialized, instructions: 'Be kind.' }) },
  'instructions that are no text': { initialize: result({ ...initialized, instructions: 1 }) },
  'all capabilities': {
    initialize: result({
      ...initialized,
      capabilities: {
        tools: {},
        prompts: { listChanged: false },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
        experimental: { own: { deep: [1] } },
      },
    }),
  },
  'capabilities that nobody knows': {
    initialize: result({ ...initialized, capabilities: { tools: { listChanged: true, own: 1 }, tasks: {}, own: {} } }),
  },
  'broken capabilities': { initialize: result({ ...initialized, capabilities: { tools: { listChanged: 'yes' } } }) },
  'no capabilities': { initialize: result({ protocolVersion: '2025-11-25', serverInfo }) },
  'no name': { initialize: result({ ...initialized, serverInfo: undefined }) },
  'a name with icons': {
    initialize: result({
      ...initialized,
      serverInfo: { ...serverInfo, title: 'T', icons: [{ src: 'https://a/b.png' }] },
    }),
  },
  'members that nobody knows': { initialize: result({ ...initialized, own: 1, _meta: { own: 2 } }) },
  'an error': { initialize: error(-32_600) },
  'an error with a status': { initialize: error(-32_600, 400) },
  'not found': { initialize: plain(404, 'nothing here'), GET: plain(404, 'nothing here') },
  'not allowed': { initialize: plain(405), GET: plain(405) },
  'wants a sign-in': { initialize: plain(401, 'who are you?') },
  forbids: { initialize: plain(403, 'not you') },
  broken: { initialize: plain(500, 'oh') },
  'a page': { initialize: (response) => send(response, 200, 'text/html', '<p>hi</p>') },
  'no JSON': { initialize: (response) => send(response, 200, 'application/json', '{') },
  'the answer to another request': {
    initialize: (response) =>
      send(response, 200, 'application/json', JSON.stringify({ jsonrpc: '2.0', id: 77_777, result: initialized })),
  },
  'an encoded answer': {
    initialize: (response) => send(response, 200, 'application/json', '{}', { 'content-encoding': 'br' }),
  },
  'a connection that is cut': { initialize: (response) => response.destroy() },
  'another place': {
    initialize: (response, message, request) =>
      request.url === '/mcp'
        ? send(response, 307, '', '', { location: '/other' })
        : result(initialized)(response, message, request),
  },
  'another host': { initialize: (response) => send(response, 307, '', '', { location: 'http://127.0.0.2:1/mcp' }) },
  'initialized: 200': { 'notifications/initialized': plain(200) },
  'initialized: 204': { 'notifications/initialized': plain(204) },
  'initialized: 400': { 'notifications/initialized': plain(400, 'bad') },
  'initialized: 500': { 'notifications/initialized': plain(500, 'oh') },
  'initialized: cut': { 'notifications/initialized': (response) => response.destroy() },
  'a session that cannot be ended': { DELETE: plain(405) },
  'an end of the session that fails': { DELETE: plain(500) },
};

/** How servers answer the question which of them are asked for the stateless revision. */
const discoveries: Record<string, Script> = {
  modern: { 'server/discover': result(discovered, {}) },
  'modern, with a name': {
    'server/discover': result(
      { ...discovered, _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo }, instructions: 'Be kind.' },
      {},
    ),
  },
  'modern, with a broken name': {
    'server/discover': result({ ...discovered, _meta: { 'io.modelcontextprotocol/serverInfo': { a: 1 } } }, {}),
  },
  'modern, as a stream': {
    'server/discover': stream(
      (response, { id }) => response.end(event({ jsonrpc: '2.0', id, result: discovered })),
      {},
    ),
  },
  'without a lifetime': { 'server/discover': result({ ...discovered, ttlMs: undefined }, {}) },
  'of another kind': { 'server/discover': result({ ...discovered, resultType: 'input_required' }, {}) },
  'other revisions': { 'server/discover': result({ ...discovered, supportedVersions: ['2099-01-01'] }, {}) },
  'no revisions': { 'server/discover': result({ ...discovered, supportedVersions: [] }, {}) },
  'unknown method': { 'server/discover': error(-32_601) },
  'unknown method, 400': { 'server/discover': error(-32_601, 400) },
  'no session': { 'server/discover': error(-32_000, 400) },
  'not found': { 'server/discover': plain(404) },
  'not acceptable': { 'server/discover': plain(406, 'no') },
  'wrong revision': { 'server/discover': error(-32_022, 400, { supported: ['2025-11-25'], requested: '2026-07-28' }) },
  'wrong revision, newer': { 'server/discover': error(-32_022, 400, { supported: ['2099-01-01'] }) },
  'wrong revision, in a result': { 'server/discover': error(-32_022, 200, { supported: ['2025-11-25'] }) },
  'wants a sign-in': { 'server/discover': plain(401) },
  forbids: { 'server/discover': plain(403) },
  broken: { 'server/discover': plain(500, 'oh') },
  'no JSON': { 'server/discover': (response) => send(response, 200, 'application/json', '{') },
  cut: { 'server/discover': (response) => response.destroy() },
};

const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
/** Texts that may be JSON, and no message. The deepest are too deep to be written again. */
const junk = [
  'null',
  '5',
  '[1]',
  '{"jsonrpc":"2.0","id":7,"result":null}',
  '{"jsonrpc":"2.0","method":5}',
  `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${deep}}}`,
  `{"jsonrpc":"2.0","method":"own","own":${deep}}`,
  `{"jsonrpc":"2.0","own":${deep}}`,
];

const streams: Record<string, Script> = {
  'tells of a changed list': { GET: stream((response) => response.write(event(changed))) },
  'says something that nobody understands': {
    GET: stream((response) =>
      response.write(`data: {\n\n${event({ jsonrpc: '2.0', method: 'own/thing' })}${event(changed)}`),
    ),
  },
  'asks whether anybody is there': {
    GET: stream((response) => response.write(event({ jsonrpc: '2.0', id: 'q', method: 'ping' }))),
    answer: plain(202),
  },
  'asks with more than the question': {
    GET: stream((response) =>
      response.write(event({ jsonrpc: '2.0', id: 'q', method: 'ping', params: { _meta: {} } })),
    ),
    answer: plain(202),
  },
  'says what is no message': {
    GET: stream((response) => response.write(`${junk.map((text) => `data: ${text}\n\n`).join('')}${event(changed)}`)),
  },
  'says what is no message, beside an answer': {
    'tools/list': stream((response, { id }) => {
      response.write(junk.map((text) => `data: ${text}\n\n`).join(''));
      response.end(event({ jsonrpc: '2.0', id, result: { tools } }));
    }),
    GET: stream((response) => setTimeout(() => response.write(`data: null\n\n${event(changed)}`), 300)),
  },
  'asks for what nobody offered': {
    GET: stream((response) =>
      response.write(event({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: { message: 'hm?' } })),
    ),
    answer: plain(202),
  },
  'ends, and is taken up again': {
    GET: (response, message, request) =>
      stream((opened) =>
        request.headers['last-event-id'] === undefined
          ? opened.end(`id: 7\nretry: 5\ndata:\n\n${event(changed)}`)
          : opened.write(event(changed)),
      )(response, message, request),
  },
  breaks: {
    GET: (response, message, request) =>
      stream((opened) => {
        if (request.headers['last-event-id'] !== undefined) return;
        opened.write(`id: 7\nretry: 5\n${event(changed)}`);
        setTimeout(() => opened.destroy(), 10);
      })(response, message, request),
  },
  'is not found': { GET: plain(404, 'no') },
  'is no stream': { GET: json({ result: {} }) },
  'fails at first': { GET: plain(500, 'oh') },
  'is cut': { GET: (response) => response.destroy() },
};

async function play(scenario: Script, protocol: HttpServerDefinition['protocol'], isDirect: boolean, wait = 0) {
  const { url, heard } = await startScripted(scenario);
  const logs: string[] = [];
  const handle = new ServerHandle(
    'it',
    {
      url,
      ...(protocol && { protocol }),
      connectTimeout: 1500,
      log: ({ level, message }) => void (level === 'debug' || logs.push(message)),
      // What is sent with an own `fetch` goes through the SDK.
      ...(!isDirect && { fetch: nodeFetch }),
    },
    1500,
  );
  let changes = 0;
  handle.handlers.onListChanged.tools = () => void (changes += 1);
  atEnd.push(() => handle.connection.disconnect());
  const listed = await settled(handle.tools.get().then(({ items }) => items));
  await new Promise((resolve) => setTimeout(resolve, wait));
  const { sessionId } = handle.connection;
  const status = withoutPorts(handle.connection.status());
  await handle.connection.disconnect();
  // The streams are opened beside the first request.
  const streams = heard.filter(({ name }) => name === 'GET');
  return {
    listed,
    status,
    sessionId,
    changes,
    logs,
    streams,
    heard: heard.filter((entry) => !streams.includes(entry)),
  };
}

async function settled(running: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await running };
  } catch (reason) {
    if (!isQuiverError(reason)) return { error: String(reason) };
    const { code, message, details } = reason;
    return withoutPorts({ code, message, details });
  }
}

/** Ports differ, and so do the ids of requests, and the pause until the next attempt. */
function withoutPorts(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/:\d{4,5}\b/g, ':port')
    .replaceAll(/\\"id\\":\d+/g, 'id')
    .replaceAll(/"retryIn":[\d.]+/g, '"retryIn":0');
  return JSON.parse(text);
}

describe.each(['legacy', undefined] as const)('a handshake, protocol %s', (protocol) => {
  test.concurrent.each(Object.entries(handshakes))('%s', async (_, scenario) => {
    const [viaSdk, direct] = await Promise.all([play(scenario, protocol, false), play(scenario, protocol, true)]);
    expect(viaSdk.heard.length).toBeGreaterThan(0);
    expect(direct).toEqual(viaSdk);
  });
});

describe.each(['modern', undefined] as const)('server/discover, protocol %s', (protocol) => {
  test.concurrent.each(Object.entries(discoveries))('%s', async (_, scenario) => {
    const [viaSdk, direct] = await Promise.all([play(scenario, protocol, false), play(scenario, protocol, true)]);
    expect(viaSdk.heard.length).toBeGreaterThan(0);
    expect(direct).toEqual(viaSdk);
  });
});

describe('the stream of a session', () => {
  test.concurrent.each(Object.entries(streams))('%s', async (_, scenario) => {
    const [viaSdk, direct] = await Promise.all([
      play(scenario, 'legacy', false, 600),
      play(scenario, 'legacy', true, 600),
    ]);
    expect(viaSdk.streams.length).toBeGreaterThan(0);
    expect(direct).toEqual(viaSdk);
  });
});

test('a handshake whose stream ends without an answer fails at once, which with the SDK takes until the time-out', async () => {
  const scenario = { initialize: stream((response) => response.end()) };
  const { listed } = await play(scenario, 'legacy', true);
  expect(listed).toMatchObject({ message: expect.stringContaining('the stream ended without an answer') });
});

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
    const called = settled(callTool(handle, { name: 'go', signal: stop.signal }));
    await expect.poll(() => connecting, { interval: 5 }).toBe(1);
    return { called, handle, heard, open, stop };
  };

  test('the server hears that a call was given up, and its stream is closed', async () => {
    const { called, heard, open, stop } = await call(stream((response) => response.write('id: 1\ndata:\n\n')));
    stop.abort(new Error('enough'));
    expect(await called).toEqual({ error: 'Error: enough' });
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

test.each(['legacy', 'modern', 'auto'] as const)('%s: the SDK is not needed for what is plain', async (protocol) => {
  const scenario = protocol === 'modern' ? discoveries['modern'] : streams['tells of a changed list'];
  const { url } = await startScripted(scenario as Script);
  const handle = new ServerHandle('it', { url, protocol }, 1500);
  const { link } = await handle.connection.connect();
  const client = vi.spyOn(link, 'client');
  await handle.tools.get();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await handle.connection.disconnect();
  expect(client).not.toHaveBeenCalled();
});
