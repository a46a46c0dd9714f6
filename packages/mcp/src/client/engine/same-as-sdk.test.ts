import type { IncomingMessage, ServerResponse } from 'node:http';
import process from 'node:process';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSubject } from '../../../test/clients/engine-subject.ts';
import { outcomeOf } from '../../../test/clients/sdk-subject.ts';
import {
  atEnd,
  discovered,
  initialized,
  plain,
  result as resultOf,
  serverInfo,
  startScripted,
  type Heard,
  type Message,
} from '../../../test/servers/scripted-server.ts';
import type { HttpServerDefinition } from '../config/server-definition.js';
import { createRemoteServer } from '../../../test/clients/remote-server.ts';
import { callTool } from '../tools/call-tool.js';

// For every response of a server, a call ends as it does with the SDK's client, and the server receives the same messages.

type Era = 'legacy' | 'modern';

interface Call {
  readonly message: Message;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly era: Era;
  /** How many `tools/call` came before. */
  readonly round: number;
}

const capabilities = { tools: {}, logging: {} };
const tool = { name: 'go', inputSchema: { type: 'object' as const } };

/** Starts a server with the usual responses, except for calls and resumed streams, which the scenario responds to. */
async function start(era: Era, { script, resume, list = { tools: [tool] } }: Scenario) {
  let callId: Message['id'];
  let round = 0;
  const reply = (value: object) =>
    resultOf(era === 'modern' ? { ...discovered, ...value } : value, era === 'modern' ? {} : undefined);
  const { url, heard } = await startScripted({
    initialize: reply({ ...initialized, capabilities }),
    'server/discover': reply({ capabilities, serverInfo }),
    'tools/list': reply(list),
    'tools/call': (response, message, request) => {
      callId = message.id;
      script({ message, request, response, era, round });
      round += 1;
    },
    GET: (response, message, request) => {
      if (!resume || request.headers['last-event-id'] === undefined) return plain(405)(response, message, request);
      return resume({ message: { id: callId as number }, request, response, era, round });
    },
  });
  const described = () => heard.filter(({ name }) => !opening.has(name)).map((one) => describeHeard(one, callId));
  return { url, heard: described };
}

/** Messages around the call, which other tests compare. */
const opening = new Set(['initialize', 'server/discover', 'notifications/initialized', 'GET', 'DELETE']);
const uninteresting = new Set(['user-agent', 'accept-encoding', 'accept-language', 'sec-fetch-mode']);

function describeHeard({ params = {}, headers, ...heard }: Heard, callId: unknown): unknown {
  const { requestId, reason } = params;
  return {
    ...heard,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !uninteresting.has(name))),
    params: {
      ...params,
      ...(requestId !== undefined && { requestId: requestId === callId ? 'the call' : 'another' }),
      // The SDK puts the class of its error before.
      ...(typeof reason === 'string' && { reason: reason.replace('SdkError: ', '') }),
    },
  };
}

function json(response: ServerResponse, message: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(message));
}

function stream(response: ServerResponse, ...texts: string[]): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const text of texts) response.write(text);
  return response;
}

const event = (message: object): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
const answer = (id: unknown, result: object): object => ({ jsonrpc: '2.0', id, result });
const notification = (method: string, params: object): object => ({ jsonrpc: '2.0', method, params });
const text = { content: [{ type: 'text', text: 'hi' }] };
const completed = (era: Era, result: object) => (era === 'modern' ? { resultType: 'complete', ...result } : result);

interface Scenario {
  readonly script: (call: Call) => void;
  readonly resume?: (call: Call) => void;
  readonly list?: object;
  readonly timeout?: number;
  readonly abortAfter?: number;
  readonly only?: Era;
  readonly name?: string;
  readonly definition?: Partial<HttpServerDefinition>;
}

const reply = (body: (call: Call) => object, code = 200): Scenario => ({
  script: (call) => json(call.response, body(call), code),
});
const result = (value: object): Scenario => reply(({ message, era }) => answer(message.id, completed(era, value)));
const error = (value: object, code = 200) =>
  reply(({ message }) => ({ jsonrpc: '2.0', id: message.id, error: value }), code);
const status = (code: number, headers: Record<string, string>, body: string): Scenario => ({
  script: ({ response }) => void response.writeHead(code, headers).end(body),
});
const events = (...parts: (string | ((call: Call) => string))[]): Scenario => ({
  script: (call) =>
    void stream(call.response, ...parts.map((part) => (typeof part === 'string' ? part : part(call)))).end(),
});
const finalEvent = ({ message, era }: Call): string => event(answer(message.id, completed(era, text)));
/** Does something with the response, and ends neither it nor the call. */
const react = (act: (response: ServerResponse) => unknown): Scenario => ({
  script: ({ response }) => void act(response),
});
const resumable = 'id: 1\ndata:\n\n';

const scenarios: Record<string, Scenario> = {
  text: result(text),
  'two texts and structured content': result({
    content: [...text.content, ...text.content],
    structuredContent: { a: [1] },
  }),
  'members that nobody knows': result({ ...text, later: { a: 1 }, _meta: { trace: 'x' } }),
  'the name of the server in _meta': result({
    ...text,
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'a', version: '1' } },
  }),
  'a wrong name of the server in _meta': result({ ...text, _meta: { 'io.modelcontextprotocol/serverInfo': { a: 1 } } }),
  'a wrong _meta': result({ ...text, _meta: 7 }),
  'an error result': result({ ...text, isError: true }),
  'a wrong isError': result({ ...text, isError: 'yes' }),
  'an image': result({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }),
  'an image that is none': result({ content: [{ type: 'image', data: '%%%', mimeType: 'image/png' }] }),
  'a link and annotated text': result({
    content: [
      { type: 'resource_link', uri: 'a://b', name: 'b', more: 1 },
      { type: 'text', text: 'x', annotations: { priority: 1 }, more: 1 },
    ],
  }),
  'content of an unknown type': result({ content: [{ type: 'smell', of: 'coffee' }] }),
  'no content': result({ structuredContent: { a: 1 } }),
  'structured content that is a list': result({ ...text, structuredContent: [1] }),
  'structured content that is null': result({ ...text, structuredContent: null }),
  'a result type': result({ resultType: 'complete', ...text }),
  'an unknown result type': result({ ...text, resultType: 'odd' }),
  'no result type': reply(({ message }) => answer(message.id, text)),
  'a result that is text': reply(({ message }) => ({ jsonrpc: '2.0', id: message.id, result: 'x' })),
  'an error of the protocol': error({ code: -32602, message: 'Unknown tool', data: { a: 1 } }),
  'an error of the protocol with status 400': error({ code: -32602, message: 'Unknown tool' }, 400),
  'a header that does not fit': error({ code: -32020, message: 'mismatch' }, 400),
  'a header that does not fit, with status 200': error({ code: -32020, message: 'mismatch' }),
  'an error and a result': {
    timeout: 600,
    ...reply(({ message }) => ({ ...answer(message.id, text), error: { code: 1, message: 'x' } })),
  },
  'no version of JSON-RPC': { timeout: 600, ...reply(({ message }) => ({ id: message.id, result: text })) },
  'another id': { timeout: 600, ...reply(() => answer(4711, text)) },
  'a list with the answer': reply(({ message, era }) => [answer(message.id, completed(era, text))]),
  'broken JSON': status(200, { 'content-type': 'application/json' }, '{"jsonrpc"'),
  'a page': status(200, { 'content-type': 'text/html' }, '<html>'),
  'no content type': status(200, {}, 'x'),
  'status 202': { ...status(202, {}, ''), timeout: 600 },
  'status 204': { ...status(204, {}, ''), timeout: 600 },
  'status 401': status(401, { 'www-authenticate': 'Bearer' }, 'sign in'),
  'status 403': status(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="a"' }, 'no'),
  'status 404': status(404, {}, 'nothing here'),
  'status 500': status(500, { 'content-type': 'application/json' }, '{"error":"down"}'),
  'status 503 as an event stream': status(503, { 'content-type': 'text/event-stream' }, 'data: x\n\n'),
  'an encoded answer': status(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 'x'),
  'a redirect to the same server': {
    script: ({ message, request, response, era }) => {
      if (request.url === '/mcp') response.writeHead(307, { location: '/other' }).end();
      else json(response, answer(message.id, completed(era, text)));
    },
  },
  'a redirect elsewhere': status(307, { location: 'http://127.0.0.1:1/mcp' }, ''),
  'a connection that breaks': react((response) => response.destroy()),
  'a body that breaks off': react((response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{');
    setTimeout(() => response.destroy(), 20);
  }),
  'no answer': { timeout: 600, ...react(() => {}) },
  'a stream without answer, open': { timeout: 600, ...react((response) => stream(response, ': hello\n\n')) },
  'an abort': { abortAfter: 50, ...react(() => {}) },
  'an abort within a stream that can be resumed': {
    abortAfter: 80,
    ...react((response) => stream(response, resumable)),
  },
  'a time-out within a stream that can be resumed': {
    timeout: 600,
    ...react((response) => stream(response, resumable)),
  },
  'a stream': events(finalEvent),
  'a stream of strange events': events(
    ': comment\r\n\r\nevent: other\ndata: 1\n\ndata: {"no": "message"}\n\ndata: broken\n\n',
    (call) => finalEvent(call).replaceAll('\n', '\r\n'),
    finalEvent,
  ),
  'an answer over several lines of data': events(({ message, era }) =>
    JSON.stringify(answer(message.id, completed(era, text)), undefined, 1)
      .split('\n')
      .map((line) => `data: ${line}\n`)
      .join('')
      .concat('\n'),
  ),
  'progress and logs before the answer': events(
    ({ message }) => {
      const progressToken = (message.params?.['_meta'] as { progressToken: string } | undefined)?.progressToken;
      return event(notification('notifications/progress', { progressToken, progress: 1, total: 2 }));
    },
    event(notification('notifications/message', { level: 'info', data: 'working' })),
    finalEvent,
  ),
  'a question before the answer': {
    only: 'legacy',
    script: (call) => {
      stream(call.response, event({ jsonrpc: '2.0', id: 'q', method: 'ping', params: {} }));
      setTimeout(() => call.response.end(finalEvent(call)), 50);
    },
  },
  'an error in a stream': events(({ message }) =>
    event({ jsonrpc: '2.0', id: message.id, error: { code: -32000, message: 'no' } }),
  ),
  // The SDK's client waits until its timeout.
  'a stream that ends': { ...events(': nothing\n\n'), timeout: 2000 },
  'a stream that breaks': {
    timeout: 2000,
    ...react((response) => {
      stream(response, ': nothing\n\n');
      setTimeout(() => response.destroy(), 20);
    }),
  },
  'a stream with ids': events(resumable, finalEvent),
  'a stream that is taken up again': {
    ...events('id: 1\nretry: 20\ndata:\n\n'),
    resume: ({ message, request, response, era }) => {
      const after = { content: [{ type: 'text', text: `after ${String(request.headers['last-event-id'])}` }] };
      stream(response, `id: 2\ndata: ${JSON.stringify(answer(message.id, completed(era, after)))}\n\n`).end();
    },
  },
  'questions as results': {
    only: 'modern',
    ...reply(({ message, era, round }) => {
      const state = String(message.params?.['requestState']);
      const last = completed(era, { content: [{ type: 'text', text: state }] });
      return answer(message.id, round === 0 ? { resultType: 'input_required', requestState: 'state' } : last);
    }),
  },
  'a name that does not go into a header': { ...result(text), name: 'größe' },
  'a name with spaces': { ...result(text), name: ' go ' },
  'headers of the definition': {
    ...result(text),
    definition: { headers: { Authorization: 'Bearer x', 'X-Own': 'yes' }, requestInit: { headers: { 'x-init': 'a' } } },
  },
  'headers of a function': { ...result(text), definition: { headers: () => ({ 'x-own': 'yes' }) } },
  'headers of a function that fails': {
    ...result(text),
    definition: {
      headers: ({ requestContext }) => {
        if (requestContext) throw new Error('no token');
        return {};
      },
    },
  },
  'tools in two pages': { ...result(text), list: { tools: [tool], nextCursor: 'more' } },
  'a tool with members of all kinds': {
    ...result(text),
    list: {
      tools: [
        {
          ...tool,
          title: 'Go',
          description: 'Goes',
          annotations: { readOnlyHint: true, title: 'x' },
          outputSchema: { type: 'object', $comment: 'y', properties: { a: {} }, required: ['a'] },
          icons: [{ src: 'https://example.com/a.png' }],
          _meta: { a: 1 },
        },
      ],
    },
  },
  'a tool without schema': { ...result(text), list: { tools: [{ name: 'go' }] } },
  'a tool with a wrong hint': { ...result(text), list: { tools: [{ ...tool, annotations: { readOnlyHint: 'yes' } }] } },
  'arguments that go into headers': {
    ...result(text),
    list: {
      tools: [
        {
          name: 'go',
          inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
        },
      ],
    },
  },
};

const failed = (code: string, more: object = {}): object => ({ outcome: { error: { code, ...more } } });
const value = (more: object): object => ({ outcome: { value: more } });

/** Where this client deliberately differs from the SDK's, why, and what it does. */
const differences: Record<string, { readonly why: string; readonly expected: object }> = {
  'a wrong name of the server in _meta': {
    why: '`_meta` passes unchanged',
    expected: value({ _meta: { 'io.modelcontextprotocol/serverInfo': { a: 1 } } }),
  },
  'a link and annotated text': {
    why: 'unknown members are kept',
    expected: value({ content: [{ more: 1 }, { more: 1 }] }),
  },
  'an error of the protocol with status 400': {
    why: 'both codes of the server are kept',
    expected: failed('MCP_REQUEST_FAILED', { rpcCode: -32602, httpStatus: 400 }),
  },
  'a header that does not fit': {
    why: 'both codes of the server are kept',
    expected: failed('MCP_REQUEST_FAILED', { rpcCode: -32020, httpStatus: 400 }),
  },
  'status 403': {
    why: 'the status is kept',
    expected: failed('MCP_REQUEST_FAILED', { httpStatus: 403 }),
  },
  'another id': {
    why: 'the response cannot arrive anymore: the request fails at once',
    expected: failed('MCP_REQUEST_FAILED'),
  },
  'a stream that ends': {
    why: 'the response cannot arrive anymore: the request fails at once',
    expected: failed('MCP_CONNECTION_CLOSED'),
  },
  'a stream that breaks': {
    why: 'the response cannot arrive anymore: the request fails at once',
    expected: failed('MCP_CONNECTION_CLOSED'),
  },
  'a tool with members of all kinds': {
    why: 'the tool, not the client, checks structured content',
    expected: value({ content: [{ text: 'hi' }] }),
  },
  'a tool without schema': { why: 'a malformed tool does not hide the others', expected: { tools: { value: [] } } },
  'a tool with a wrong hint': { why: 'a malformed tool does not hide the others', expected: { tools: { value: [] } } },
};

/** Milliseconds. */
const patience = 30_000;

async function play(scenario: Scenario, era: Era, subject: 'sdk' | 'engine') {
  const { timeout = patience, abortAfter, name = 'go', definition } = scenario;
  const { url, heard } = await start(era, scenario);
  const logs: unknown[] = [];
  const progress: unknown[] = [];
  const full: HttpServerDefinition = { url, protocol: era, connectTimeout: patience, ...definition };
  const controller = new AbortController();
  // The limit of the scenario is for the call alone: a busy machine may need longer to connect and to list.
  const call = { name, args: { region: 'eu' }, runId: 'run', signal: controller.signal, timeout };
  const client = createSubject[subject]({
    definition: full,
    timeout: patience,
    onProgress: (update) => progress.push(update),
    onLog: (message) => logs.push(message),
  });
  atEnd.push(() => client.disconnect());
  const tools = await outcomeOf(client.listTools());
  if (abortAfter !== undefined) setTimeout(() => controller.abort(new Error('enough')), abortAfter);
  const outcome = await outcomeOf(client.callTool(call));
  // Cancellations follow the outcome.
  await new Promise((resolve) => setTimeout(resolve, 50));
  return {
    tools,
    outcome,
    get heard() {
      return heard().map(withoutLogLevel);
    },
    logs,
    progress,
  };
}

/** A modern request declares a log level where the definition has a logger. */
function withoutLogLevel(entry: unknown): unknown {
  return JSON.parse(JSON.stringify(entry).replace('"io.modelcontextprotocol/logLevel":"info",', ''));
}

describe.each(['legacy', 'modern'] as const)('%s, over HTTP', (era) => {
  test.concurrent.each(Object.entries(scenarios).filter(([, { only = era }]) => only === era))(
    '%s',
    async (name, scenario) => {
      const [sdk, engine] = await Promise.all([play(scenario, era, 'sdk'), play(scenario, era, 'engine')]);
      expect(sdk.heard.length).toBeGreaterThan(0);
      const difference = differences[name];
      // On a busy machine, the cancellation of one client follows later than that of the other.
      if (!difference) return vi.waitFor(() => expect(engine).toEqual(sdk), patience);
      expect(engine).toMatchObject(difference.expected);
      // A difference that is gone is removed from the list.
      expect(engine).not.toEqual(sdk);
    },
  );
});

test('a header that cannot be sent fails the call and leaves nothing behind', async () => {
  const { url, heard } = await start(
    'legacy',
    react(() => {}),
  );
  let value = 'fine';
  const definition = { url, protocol: 'legacy' as const, headers: () => ({ 'x-own': value }) };
  const handle = createRemoteServer(definition, 300);
  onTestFinished(() => handle.disconnect());
  await handle.connection.connect();
  value = 'two\nlines';
  expect(await outcomeOf(callTool(handle, { name: 'go' }))).toMatchObject({ error: { code: 'MCP_REQUEST_FAILED' } });
  value = 'fine';
  // No timeout cancels a call that the server did not receive.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(heard()).toEqual([]);
});

describe.each(['legacy', 'modern'] as const)('%s, over stdio', (era) => {
  const answers: Record<string, string> = {
    text: `reply({ content: [{ type: 'text', text: 'hi' }] })`,
    'progress before the answer': `write({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: m.params._meta.progressToken, progress: 1 } }); reply({ content: [] })`,
    'no answer': `0`,
    'the end': `process.exit(3)`,
    garbage: `process.stdout.write('garbage\\n'); reply({ content: [] })`,
  };
  test.each(Object.entries(answers))('%s', async (name, call) => {
    const script = `
      const modern = ${era === 'modern'};
      const heard = [];
      require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const m = JSON.parse(line);
        const write = (o) => process.stdout.write(JSON.stringify(o) + '\\n');
        const reply = (result) => write({ jsonrpc: '2.0', id: m.id, result: modern ? { resultType: 'complete', ...result } : result });
        const about = { capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } };
        if (m.method === 'initialize') reply({ protocolVersion: '2025-11-25', ...about });
        else if (m.method === 'server/discover') reply({ supportedVersions: ['2026-07-28'], ttlMs: 0, cacheScope: 'private', ...about });
        else if (m.params?.name === 'heard') reply({ content: [{ type: 'text', text: JSON.stringify(heard) }] });
        else {
          const requestId = m.params?.requestId === undefined ? undefined : heard.some(({ id }) => id === m.params.requestId);
          heard.push({ ...m, params: { ...m.params, requestId } });
          if (m.method === 'tools/call') { ${call} }
        }
      });`;
    const play = async (subject: 'sdk' | 'engine') => {
      const progress: unknown[] = [];
      const definition = { command: process.execPath, args: ['-e', script], protocol: era, connectTimeout: 60_000 };
      const go = { name: 'go', args: {}, runId: 'run', ...(name === 'no answer' && { timeout: 1500 }) };
      const onProgress = (update: unknown): void => void progress.push(update);
      const client = createSubject[subject]({ definition, timeout: 20_000, onProgress });
      atEnd.push(() => client.disconnect());
      const outcome = await outcomeOf(client.callTool(go));
      // A call after the end of the process starts it again; the SDK's client does not.
      const reading = name !== 'the end' && client.callTool({ ...go, name: 'heard', timeout: 20_000 });
      const heard = reading ? await outcomeOf(reading) : undefined;
      await client.disconnect();
      return { outcome, heard: messagesOf(heard), progress };
    };
    const [sdk, engine] = await Promise.all([play('sdk'), play('engine')]);
    expect(engine).toEqual(sdk);
  });
});

/** The messages that the server received, without their ids. */
function messagesOf(outcome: unknown): unknown {
  const { value } = (outcome ?? {}) as { value?: { content: [{ text: string }] } };
  return (
    value &&
    JSON.parse(value.content[0].text.replace('SdkError: ', ''), (key, member: unknown) => (key === 'id' ? 0 : member))
  );
}
