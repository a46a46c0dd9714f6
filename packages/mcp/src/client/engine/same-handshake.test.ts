import { describe, expect, test } from 'vitest';
import {
  atEnd,
  type Heard,
  type Script,
  serverInfo,
  initialized,
  discovered,
  tools,
  send,
  json,
  result,
  error,
  plain,
  event,
  stream,
  changed,
  startScripted,
} from '../../../test/servers/scripted-server.ts';
import { createSubject } from '../../../test/clients/engine-subject.ts';
import { outcomeOf } from '../../../test/clients/sdk-subject.ts';
import type { HttpServerDefinition } from '../config/server-definition.js';

// However a server behaves during the handshake, it ends as with the SDK's client, and the server receives the same messages.

/** Behavior of servers during the handshake. */
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

/** Responses of servers to `server/discover`. */
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

/** Where this client deliberately differs from the SDK's, why, and what it does. */
const connected = { listed: { value: tools } };
const differences: Record<string, { readonly why: string; readonly expected: object }> = {
  'handshake: instructions that are no text': {
    why: 'a malformed description does not make the server unavailable',
    expected: { ...connected, status: { state: 'ready' } },
  },
  'handshake: broken capabilities': {
    why: 'a malformed description does not make the server unavailable',
    expected: { ...connected, status: { state: 'ready' } },
  },
  'handshake: capabilities that nobody knows': {
    why: 'unknown members are kept',
    expected: { ...connected, status: { capabilities: { tools: { own: 1 }, own: {} } } },
  },
  'discover modern: wrong revision, newer': {
    why: 'the status is kept',
    expected: { listed: { error: { httpStatus: 400 } } },
  },
  'discover auto: wrong revision, newer': {
    why: 'the status is kept',
    expected: { listed: { error: { httpStatus: 400 } } },
  },
  'stream: asks for what nobody offered': {
    why: 'the error names the method',
    expected: {
      ...connected,
      heard: expect.arrayContaining([expect.objectContaining({ error: expect.objectContaining({ code: -32601 }) })]),
    },
  },
};

type Protocol = HttpServerDefinition['protocol'];

async function play(scenario: Script, protocol: Protocol, subject: 'sdk' | 'engine', wait = 0) {
  const { url, heard } = await startScripted(scenario);
  const definition = { url, ...(protocol && { protocol }), connectTimeout: 5000 };
  let changes = 0;
  const onToolsChanged = (): void => void (changes += 1);
  const client = createSubject[subject]({ definition, timeout: 5000, onToolsChanged });
  atEnd.push(() => client.disconnect());
  const listed = await outcomeOf(client.listTools());
  await new Promise((resolve) => setTimeout(resolve, wait));
  const status = client.status();
  const { sessionId } = client;
  await client.disconnect();
  // Streams are opened alongside the first request.
  const streams = heard.filter(({ name }) => name === 'GET');
  const others = heard.filter((entry) => !streams.includes(entry) && entry.name !== 'subscriptions/listen');
  return { listed, status, sessionId, changes, streams: streams.map(comparable), heard: others.map(comparable) };
}

/** Headers that `fetch` adds, which only the SDK's client sends requests with. */
const ofFetch: ReadonlySet<string> = new Set([
  'accept-encoding',
  'accept-language',
  'cache-control',
  'pragma',
  'sec-fetch-mode',
  'user-agent',
]);

function comparable({ headers, ...heard }: Heard): Heard {
  return { ...heard, headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !ofFetch.has(name))) };
}

function expectSame(name: string, engine: object, sdk: object): void {
  const difference = differences[name];
  if (!difference) return expect(engine).toEqual(sdk);
  expect(engine).toMatchObject(difference.expected);
  // A difference that is gone is removed from the list.
  expect(engine).not.toEqual(sdk);
}

// The time limit of a connection must not include the load of these modules, which takes seconds on a busy machine.
await Promise.all([
  import('../transports/http-channel.js'),
  import('../transports/http-options.js'),
  import('../transports/sse-channel.js'),
  import('../../http/node-send.js'),
]);

describe.each(['legacy', undefined] as const)('a handshake, protocol %s', (protocol) => {
  test.concurrent.each(Object.entries(handshakes))('%s', async (name, scenario) => {
    const [sdk, engine] = await Promise.all([play(scenario, protocol, 'sdk'), play(scenario, protocol, 'engine')]);
    expect(sdk.heard.length).toBeGreaterThan(0);
    expectSame(`handshake: ${name}`, engine, sdk);
  });
});

describe.each(['modern', undefined] as const)('server/discover, protocol %s', (protocol) => {
  test.concurrent.each(Object.entries(discoveries))('%s', async (name, scenario) => {
    const [sdk, engine] = await Promise.all([play(scenario, protocol, 'sdk'), play(scenario, protocol, 'engine')]);
    expect(sdk.heard.length).toBeGreaterThan(0);
    expectSame(`discover ${protocol ?? 'auto'}: ${name}`, engine, sdk);
  });
});

test.concurrent.each(Object.entries(streams))('the stream of a session: %s', async (name, scenario) => {
  const [sdk, engine] = await Promise.all([
    play(scenario, 'legacy', 'sdk', 600),
    play(scenario, 'legacy', 'engine', 600),
  ]);
  expect(sdk.streams.length).toBeGreaterThan(0);
  expectSame(`stream: ${name}`, engine, sdk);
});

test('a handshake whose stream ends without a response fails at once', async () => {
  const scenario = { initialize: stream((response) => response.end()) };
  const { listed } = await play(scenario, 'legacy', 'engine');
  expect(listed).toMatchObject({ error: { code: 'MCP_CLIENT_CONNECT_FAILED' } });
});
