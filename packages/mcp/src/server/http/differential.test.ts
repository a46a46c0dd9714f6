import {
  createMcpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { createTool } from '@quiver/core/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { envelope, initializeParams, modern, rpc, toRequest } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';

/**
 * The same tools behind our dispatch and behind the official SDK's own handlers, the same requests to both. It shows when the SDK,
 * or the protocol it follows, has moved.
 */

const add = { inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ sum: z.number() }) };
const echo = { inputSchema: z.object({ message: z.string() }) };

const ours = new MCPServer({
  name: 'twin',
  version: '1.0.0',
  tools: {
    echo: createTool({ id: 'echo', description: 'Echoes', ...echo, execute: async ({ message }) => message }),
    add: createTool({ id: 'add', description: 'Adds', ...add, execute: async ({ a, b }) => ({ sum: a + b }) }),
    fail: toolOf('fail', async () => Promise.reject(new Error('broken'))),
    tell: toolOf('tell', async (_input, { mcp }) => {
      await mcp.progress({ progress: 1, total: 2 });
      return 'told';
    }),
  },
});

function createTwin(): McpServer {
  const twin = new McpServer({ name: 'twin', version: '1.0.0' }, { capabilities: { logging: {} } });
  const text = (value: string): { content: { type: 'text'; text: string }[] } => ({
    content: [{ type: 'text', text: value }],
  });
  twin.registerTool('echo', { description: 'Echoes', ...echo }, async ({ message }) => text(message));
  twin.registerTool('add', { description: 'Adds', ...add }, async ({ a, b }) => ({
    ...text(JSON.stringify({ sum: a + b })),
    structuredContent: { sum: a + b },
  }));
  twin.registerTool('fail', { description: 'Fails' }, async () => Promise.reject(new Error('broken')));
  twin.registerTool('tell', { description: 'Reports progress' }, async (context: ServerContext) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    if (progressToken !== undefined) {
      await context.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: 1, total: 2 },
      });
    }
    return text('told');
  });
  return twin;
}

const modernHandler = createMcpHandler(() => createTwin(), { legacy: 'reject' });
const transports = new Map<string, WebStandardStreamableHTTPServerTransport>();

/** One SDK transport per session, as the SDK's own examples do it. */
async function twinSessions(request: Request): Promise<Response> {
  const known = transports.get(request.headers.get('mcp-session-id') ?? '');
  if (known) return known.handleRequest(request);
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    onsessioninitialized: (id) => void transports.set(id, transport),
    onsessionclosed: (id) => void transports.delete(id),
  });
  await createTwin().connect(transport);
  return transport.handleRequest(request);
}

interface Seen {
  status: number;
  messages: unknown[];
}

async function read(response: Response): Promise<Seen> {
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.includes('text/event-stream');
  const parts = isStream ? [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => data as string) : [text];
  return {
    status: response.status,
    messages: parts.filter((part) => part !== '').map((part) => JSON.parse(part) as unknown),
  };
}

/** Errors by their code: texts are for people, and ours say what to do next. */
function withoutTexts({ status, messages }: Seen): unknown {
  return {
    status,
    messages: messages.map((message) => {
      const { error, ...rest } = message as { error?: { code: number; data?: object } };
      return error ? { ...rest, error: { code: error.code } } : message;
    }),
  };
}

/** Tools and capabilities are compared by themselves. */
function withoutIdentity(seen: unknown): unknown {
  return JSON.parse(
    JSON.stringify(seen, (key, value: unknown) =>
      key === 'capabilities' || key === 'ttlMs' || key === 'cacheScope' ? undefined : value,
    ),
  );
}

const request = (body: unknown, headers: object = {}, method = 'POST') =>
  toRequest({ headers, ...(method === 'POST' && { body }) }, { method });

const call = (name: unknown, args?: unknown, meta?: object): Record<string, unknown> => ({
  name,
  ...(args !== undefined && { arguments: args }),
  ...(meta && { _meta: meta }),
});

describe('modern requests', () => {
  const wrong = (change: object): [object, object] => {
    const { body, headers } = modern('tools/call', call('echo', { message: 'a' }));
    return [body as object, { ...headers, ...change }];
  };
  const bodyWithMeta = (meta: unknown, method = 'tools/list'): [object, object] => [
    rpc(method, { _meta: meta as object }),
    modern(method).headers,
  ];
  const right = (method: string, params?: Record<string, unknown>, id?: string | number): [object, object] => {
    const { body, headers } = modern(method, params, id);
    return [body as object, headers];
  };

  test.each<[string, [unknown, object]]>([
    ['a call', right('tools/call', call('echo', { message: 'grüße' }))],
    ['a call with a text as id', right('tools/call', call('echo', { message: 'a' }), 'id-1')],
    ['a call with an output schema', right('tools/call', call('add', { a: 1, b: 2 }))],
    ['a call with progress', right('tools/call', call('tell', {}, { progressToken: 'p' }))],
    ['a call without progress', right('tools/call', call('tell', {}))],
    ['an unknown tool', right('tools/call', call('nobody', {}))],
    ['arguments that are a list', right('tools/call', call('echo', [1]))],
    ['an unknown method', right('nothing/here')],
    ['a removed method', right('ping')],
    ['a header that names another tool', wrong({ 'mcp-name': 'add' })],
    ['a header that names another method', wrong({ 'mcp-method': 'tools/list' })],
    ['a header that names another revision', wrong({ 'mcp-protocol-version': '2025-11-25' })],
    ['an encoded tool name', wrong({ 'mcp-name': '=?base64?ZWNobw==?=' })],
    ['a badly encoded tool name', wrong({ 'mcp-name': '=?base64?*?=' })],
    ['an envelope without capabilities', bodyWithMeta({ 'io.modelcontextprotocol/protocolVersion': '2026-07-28' })],
    [
      'an envelope without a client',
      bodyWithMeta({ ...envelope, 'io.modelcontextprotocol/clientInfo': undefined }, 'server/discover'),
    ],
    ['an envelope with a broken client', bodyWithMeta({ ...envelope, 'io.modelcontextprotocol/clientInfo': 5 })],
    ['capabilities that are a list', bodyWithMeta({ ...envelope, 'io.modelcontextprotocol/clientCapabilities': [] })],
    [
      'a revision of the future',
      bodyWithMeta({ ...envelope, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }),
    ],
    ['a revision that is no text', bodyWithMeta({ ...envelope, 'io.modelcontextprotocol/protocolVersion': 5 })],
    ['a batch', [[modern('tools/list').body], modern('tools/list').headers]],
    ['a body that is a text', ['"text"', modern('tools/list').headers]],
    ['broken JSON', ['{"jsonrpc":', modern('tools/list').headers]],
    [
      'a notification',
      [
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, _meta: envelope } },
        modern('notifications/cancelled').headers,
      ],
    ],
  ])('%s is answered the same', async (_name, [body, headers]) => {
    const theirs = await read(await modernHandler.fetch(request(body, headers)));
    const own = await read(await ours.fetch(request(body, headers)));
    expect(withoutIdentity(withoutTexts(own))).toEqual(withoutIdentity(withoutTexts(theirs)));
  });
});

describe('requests in a session', () => {
  async function open(serve: (request: Request) => Promise<Response>): Promise<object> {
    const response = await serve(request(rpc('initialize', initializeParams)));
    await response.text();
    return { 'mcp-session-id': response.headers.get('mcp-session-id'), 'mcp-protocol-version': '2025-11-25' };
  }
  const serveOurs = (asked: Request): Promise<Response> => ours.fetch(asked);

  test.each<[string, unknown, object?, string?]>([
    ['a ping', rpc('ping')],
    ['a call', rpc('tools/call', call('echo', { message: 'grüße' }), 'text-id')],
    ['a call with an output schema', rpc('tools/call', call('add', { a: 1, b: 2 }))],
    ['a call with progress', rpc('tools/call', call('tell', {}, { progressToken: 7 }))],
    ['an unknown tool', rpc('tools/call', call('nobody', {}))],
    ['an unknown method', rpc('nothing/here')],
    ['a log level', rpc('logging/setLevel', { level: 'warning' })],
    ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['an unknown notification', { jsonrpc: '2.0', method: 'notifications/nothing' }],
    ['an answer to no question', { jsonrpc: '2.0', id: 77, result: {} }],
    ['broken JSON', '{"jsonrpc":'],
    ['a text', rpc('ping'), { 'content-type': 'text/plain' }],
    ['a client that takes HTML', rpc('ping'), { accept: 'text/html' }],
    ['PUT', undefined, {}, 'PUT'],
    ['GET from a client that takes JSON', undefined, { accept: 'application/json' }, 'GET'],
    ['DELETE', undefined, {}, 'DELETE'],
  ])('%s is answered the same', async (_name, body, headers = {}, method = 'POST') => {
    const theirs = await read(await twinSessions(request(body, { ...(await open(twinSessions)), ...headers }, method)));
    const own = await read(await serveOurs(request(body, { ...(await open(serveOurs)), ...headers }, method)));
    expect(withoutIdentity(withoutTexts(own))).toEqual(withoutIdentity(withoutTexts(theirs)));
  });

  test.each<[string, unknown, object, number, object]>([
    // Wrong parameters are the client's mistake, not an internal error.
    ['an unknown log level', rpc('logging/setLevel', { level: 'loud' }), {}, 200, { id: 1, code: -32602 }],
    // A refusal carries the id of what it refuses, so that the client can tell which of its requests it was.
    ['a second initialize', rpc('initialize', initializeParams), {}, 400, { id: 1, code: -32600 }],
    ['a revision of the past', rpc('ping'), { 'mcp-protocol-version': '1999-01-01' }, 400, { id: 1, code: -32000 }],
  ])('%s is answered better', async (_name, body, headers, status, expected) => {
    const outcome = async (serve: (asked: Request) => Promise<Response>) => {
      const seen = await read(await serve(request(body, { ...(await open(serve)), ...headers })));
      const { id, error } = seen.messages[0] as { id: unknown; error: { code: number } };
      return { status: seen.status, answer: { id, code: error.code } };
    };
    expect(await outcome(serveOurs)).toEqual({ status, answer: expected });
    const theirs = await outcome(twinSessions);
    expect(theirs.status).toBe(status);
    expect(theirs.answer).not.toEqual(expected);
  });

  test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2099-01-01'])(
    'initialize with %s is answered the same',
    async (protocolVersion) => {
      const body = rpc('initialize', { ...initializeParams, protocolVersion });
      const theirs = await read(await twinSessions(request(body)));
      const own = await read(await serveOurs(request(body)));
      expect(withoutIdentity(own)).toEqual(withoutIdentity(theirs));
    },
  );

  test.each([
    ['wrong arguments', call('echo', { message: 5 })],
    ['a tool that throws', call('fail', {})],
  ])('%s are an error result on both sides', async (_name, params) => {
    const flags = async (serve: (asked: Request) => Promise<Response>): Promise<unknown> => {
      const { status, messages } = await read(await serve(request(rpc('tools/call', params), await open(serve))));
      const { isError, content } = (messages[0] as { result: { isError: boolean; content: { type: string }[] } })
        .result;
      return { status, isError, types: content.map(({ type }) => type) };
    };
    expect(await flags(serveOurs)).toEqual(await flags(twinSessions));
  });
});
