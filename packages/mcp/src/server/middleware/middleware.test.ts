import { PassThrough } from 'node:stream';
import { observe } from '@quiver/core';
import { isToolFailure } from '@quiver/core/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorOf } from '../../../test/error-of.ts';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { callServer, type Answered } from '../../../test/clients/fetch-caller.ts';
import { messagesFrom } from '../../../test/clients/messages-from.ts';
import { initializeParams, rpc } from '../../../test/clients/wire.ts';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import { createServerState } from '../create-server-state.js';
import { MCPServer } from '../mcp-server.js';
import type { MCPServerConfig } from '../features.js';
import { serveStdio } from '../connection/stdio.js';
import type { Middleware } from './middleware.js';
import { addMiddleware } from './run-middleware.js';

const logger = { debug() {}, info() {}, warn() {}, error() {} };
const eras = ['legacy', 'modern'] as const;

function createConfig(): MCPServerConfig {
  return {
    name: 'n',
    version: '1',
    logger,
    tools: {
      echo: toolOf(
        'echo',
        { inputSchema: z.object({ text: z.string() }) },
        async ({ text }, { requestContext }) => `${text}${requestContext.get('suffix') ?? ''}`,
      ),
      sum: toolOf(
        'sum',
        { inputSchema: z.object({ a: z.number() }), outputSchema: z.object({ sum: z.string().transform(Number) }) },
        async ({ a }) => ({ sum: String(a) }) as never,
      ),
      fail: toolOf('fail', async () => Promise.reject(new Error('disk full'))),
      ask: toolOf(
        'ask',
        async (_input, { mcp }) =>
          (await mcp.elicitation.sendRequest({ message: 'Name?', requestedSchema: { type: 'object', properties: {} } }))
            .action,
      ),
      endless: toolOf('endless', () => new Promise<never>(() => {})),
    },
    resources: {
      listResources: async () => [{ uri: 'note://1', name: 'one' }],
      getResourceContent: async ({ uri }) => ({ text: uri }),
    },
    prompts: {
      listPrompts: async () => [{ name: 'greet' }],
      getPromptMessages: async ({ args }) => [{ role: 'user', content: { type: 'text', text: JSON.stringify(args) } }],
    },
  };
}

function createServer(...middleware: Middleware[]): MCPServer {
  const server = new MCPServer(createConfig());
  for (const each of middleware) server.use(each);
  return server;
}

const textOf = ({ result }: Answered): string => result.content[0].text;
const call = (name: string, args: object = {}): Record<string, unknown> => ({ name, arguments: args });
const callTool = (server: MCPServer, era: 'legacy' | 'modern', name: string, args?: object): Promise<Answered> =>
  callServer(server, era, 'tools/call', call(name, args));
/** Declares that the client can be asked. */
const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };

describe.each(eras)('middleware in the %s era', (era) => {
  test('runs in the order of use, onRequest before the other hooks', async () => {
    const order: string[] = [];
    const record = (name: string): Middleware => ({
      async onRequest(_context, next) {
        order.push(`${name} request`);
        const outcome = await next();
        order.push(`${name} response`);
        return outcome;
      },
      async onCallTool(_context, next) {
        order.push(`${name} call`);
        const value = await next();
        order.push(`${name} value ${String(value)}`);
        return value;
      },
    });
    const server = createServer(record('a'), record('b'));
    expect(textOf(await callTool(server, era, 'echo', { text: 'hi' }))).toBe('hi');
    const expected = 'a request,b request,a call,b call,b value hi,a value hi,b response,a response';
    expect(order.join()).toBe(expected);
  });

  test('reads the caller and the request', async () => {
    let seen: object | undefined;
    const server = createServer({
      onCallTool({ method, name, arguments: args, principal, scopes, era: spoken, headers, annotations }, next) {
        seen = { method, name, args, principal, scopes, spoken, header: headers['x-tenant'], annotations };
        return next();
      },
    });
    const authInfo = { scopes: ['read'], extra: { sub: 'ada', iss: 'https://issuer' } };
    await callServer(server, era, 'tools/call', call('echo', { text: 'hi' }), {
      authInfo,
      headers: { 'x-tenant': 'acme' },
    });
    expect(seen).toEqual({
      method: 'tools/call',
      name: 'echo',
      args: { text: 'hi' },
      principal: '["sub","ada","https://issuer"]',
      scopes: ['read'],
      spoken: era,
      header: 'acme',
      annotations: undefined,
    });
  });

  test('changes arguments, which are validated afterwards', async () => {
    const server = createServer({
      onRequest(context, next) {
        if (context.arguments) context.arguments = { ...context.arguments, text: context.arguments['replacement'] };
        return next();
      },
    });
    const changed = await callTool(server, era, 'echo', { replacement: 'new' });
    expect(textOf(changed)).toBe('new');
    const invalid = await callTool(server, era, 'echo', { replacement: 7 });
    expect(textOf(invalid)).toContain('Tool input validation failed');
  });

  test('sets values of the request context that tools read', async () => {
    const server = createServer({
      onRequest(context, next) {
        context.requestContext.set('suffix', '!');
        return next();
      },
    });
    expect(textOf(await callTool(server, era, 'echo', { text: 'hi' }))).toBe('hi!');
  });

  test('validates a value in place of the output, and the output itself once', async () => {
    const plain = createServer({ onCallTool: (_context, next) => next() });
    // The schema turns text into a number and would reject the number.
    expect((await callTool(plain, era, 'sum', { a: 4 })).result.structuredContent).toEqual({
      sum: 4,
    });
    const replaced = createServer({ onCallTool: () => ({ sum: 5 }) });
    const answer = await callTool(replaced, era, 'sum', { a: 4 });
    expect(answer.result.isError).toBe(true);
    expect(textOf(answer)).toContain('A middleware returned invalid output for tool sum:\n- sum:');
    const failure = { content: [{ type: 'text', text: 'not today' }], isError: true };
    const refused = await callTool(createServer({ onCallTool: () => failure }), era, 'sum', { a: 4 });
    expect(refused.result).toMatchObject(failure);
  });

  test('answers a call without the tool', async () => {
    const server = createServer({ onCallTool: () => 'from the middleware' });
    expect(textOf(await callTool(server, era, 'fail'))).toBe('from the middleware');
  });

  test('receives the failure of invalid arguments and the errors of tools', async () => {
    const seen: unknown[] = [];
    const server = createServer({
      async onCallTool(_context, next) {
        try {
          const value = await next();
          seen.push(isToolFailure(value));
          return value;
        } catch (error) {
          seen.push((error as Error).message);
          throw error;
        }
      },
    });
    await callTool(server, era, 'echo', { text: 7 });
    const failed = await callTool(server, era, 'fail');
    expect(seen).toEqual([true, 'disk full']);
    expect(failed.result).toMatchObject({ isError: true, content: [{ text: 'Error: disk full' }] });
  });

  test('maps exceptions as those of tools and callbacks, masked where errors are masked', async () => {
    const failing: Middleware = {
      onCallTool: () => Promise.reject(new Error('secret')),
      onList: () => Promise.reject(new Error('secret')),
    };
    const open = createServer(failing);
    expect(textOf(await callTool(open, era, 'fail'))).toBe('Error: secret');
    expect((await callServer(open, era, 'tools/list')).json.error).toMatchObject({ code: -32603, message: 'secret' });
    const masked = new MCPServer({ ...createConfig(), maskErrors: true }).use(failing).use({
      onRequest: () => Promise.reject(new Error('secret')),
    });
    for (const method of ['tools/list', 'tools/call'])
      expect(JSON.stringify((await callServer(masked, era, method, call('fail'))).json)).not.toContain('secret');
  });

  test('filters lists, also those that are cached', async () => {
    const server = createServer({
      async onList(context, next) {
        const result = await next();
        if (context.principal === undefined && Array.isArray(result['tools']))
          result['tools'] = result['tools'].filter(({ name }) => name === 'echo');
        return result;
      },
    });
    const namesFor = async (authInfo?: object): Promise<string[]> =>
      (await callServer(server, era, 'tools/list', {}, { authInfo })).result.tools.map(
        ({ name }: { name: string }) => name,
      );
    expect(await namesFor()).toEqual(['echo']);
    expect(await namesFor({ extra: { sub: 'ada' } })).toHaveLength(5);
    expect(await namesFor()).toEqual(['echo']);
    const { result } = await callServer(server, era, 'resources/list');
    expect(result.resources).toEqual([{ uri: 'note://1', name: 'one' }]);
    expect(result.resultType).toBe(era === 'modern' ? 'complete' : undefined);
  });

  test('replaces contents of resources and messages of prompts', async () => {
    const server = createServer({
      async onReadResource({ name }, next) {
        if (name === 'note://virtual') return { contents: [{ uri: name, text: 'made here' }] };
        return next();
      },
      async onGetPrompt(context, next) {
        context.arguments = { city: 'Oslo' };
        return { ...(await next()), description: 'changed' };
      },
    });
    const read = await callServer(server, era, 'resources/read', { uri: 'note://virtual' });
    expect(read.result).toMatchObject({ contents: [{ text: 'made here' }] });
    const unknown = await callServer(server, era, 'resources/read', { uri: 'note://none' });
    expect(unknown.json.error).toMatchObject({ code: -32602 });
    const { result } = await callServer(server, era, 'prompts/get', call('greet'));
    expect(result).toMatchObject({ description: 'changed', messages: [{ content: { text: '{"city":"Oslo"}' } }] });
  });

  test.each([
    ['onList', 'tools/list', { tools: 'none' }],
    ['onReadResource', 'resources/read', null],
    ['onGetPrompt', 'prompts/get', undefined],
    ['onRequest', 'tools/list', { tools: [] }],
    ['onRequest', 'tools/call', undefined],
  ])('rejects an invalid result of %s for %s', async (hook, method, result) => {
    const server = createServer({ [hook]: async () => result } as Middleware);
    const params = method === 'resources/read' ? { uri: 'note://1' } : call('greet');
    const { error } = (await callServer(server, era, method, params)).json;
    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining(`The hook ${hook}`) });
  });

  test('rejects a hook that drops the result of next()', async () => {
    const server = createServer({ onCallTool: async (_context, next) => void (await next()) });
    expect(textOf(await callTool(server, era, 'echo', { text: 'hi' }))).toContain('must return the result of next()');
  });

  test('continues when a hook does not await a failing next()', async () => {
    const failing = createServer({
      async onRequest(_context, next) {
        void next();
        return { result: { content: [] } };
      },
    });
    // An unhandled rejection would end the test run.
    expect((await callServer(failing, era, 'tools/call', { name: 'none' })).result.content).toEqual([]);
    const tool = createServer({
      async onCallTool(_context, next) {
        void next();
        return 'done';
      },
    });
    expect(textOf(await callTool(tool, era, 'fail'))).toBe('done');
    await new Promise((resolve) => setImmediate(resolve));
  });

  test('answers with the reason when a hook aborts a tool that ignores its signal', async () => {
    const server = createServer({
      onCallTool(context, next) {
        const running = next();
        context.abort(new Error('enough'));
        return running;
      },
    });
    expect(textOf(await callTool(server, era, 'endless'))).toBe('Error: enough');
  });

  test('answers with an empty result', async () => {
    const server = createServer({
      onRequest: ({ method }) => ({ result: method === 'acme/reset' ? {} : { _meta: { note: 'n' } } }),
    });
    expect((await callServer(server, era, 'acme/reset')).json).toMatchObject({ id: 1, result: {} });
    expect((await callServer(server, era, 'acme/other')).result).toMatchObject({ _meta: { note: 'n' } });
  });

  test('replaces the result of a request', async () => {
    const server = createServer({
      async onRequest(_context, next) {
        const { result, size } = await next();
        return { result: { ...result, size } };
      },
    });
    const { result } = await callTool(server, era, 'echo', { text: 'hi' });
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'hi' }], size: 41 });
    expect(result.resultType).toBe(era === 'modern' ? 'complete' : undefined);
  });
});

describe('middleware', () => {
  test('runs for each request of a batch, and over stdio', async () => {
    const seen: string[] = [];
    const definition = createServerState(createConfig()).state;
    addMiddleware(definition.middleware, {
      onRequest({ method }, next) {
        seen.push(method);
        return next();
      },
    });
    const [input, output] = [new PassThrough(), new PassThrough()];
    const lines = messagesFrom(output);
    const connection = serveStdio({ server: definition, input, output, onClose: () => {} });
    const write = (message: unknown): void => void input.write(`${JSON.stringify(message)}\n`);
    write(rpc('initialize', { ...initializeParams, protocolVersion: '2025-03-26' }, 0));
    await expect.poll(() => lines.length).toBe(1);
    write([rpc('ping', undefined, 1), rpc('tools/call', call('echo', { text: 'hi' }), 2)]);
    await expect.poll(() => lines.length).toBe(2);
    expect(seen).toEqual(['initialize', 'ping', 'tools/call']);
    connection.close();
  });

  test('runs again in every input round, and is cleaned up at the end of a round', async () => {
    const events: string[] = [];
    const server = createServer({
      async onRequest(_context, next) {
        const { result } = await next();
        events.push(String(result['resultType']));
        return { result };
      },
      async onCallTool(_context, next) {
        events.push('call');
        try {
          return await next();
        } finally {
          events.push('cleanup');
        }
      },
    });
    const first = await callServer(server, 'modern', 'tools/call', { ...call('ask'), _meta });
    expect(first.result.resultType).toBe('input_required');
    const { requestState, inputRequests } = first.result;
    const inputResponses = { [Object.keys(inputRequests)[0] as string]: { action: 'decline' } };
    const answered = { ...call('ask'), _meta, requestState, inputResponses };
    const last = await callServer(server, 'modern', 'tools/call', answered);
    expect(textOf(last)).toBe('decline');
    expect(events).toEqual(['call', 'cleanup', 'input_required', 'call', 'cleanup', 'undefined']);
  });

  test('makes a list private that it changes, and keeps the cache scope of others', async () => {
    const cacheHints = { 'tools/list': { ttlMs: 5, cacheScope: 'public' } } as const;
    const scopeWith = async (onList: NonNullable<Middleware['onList']>): Promise<unknown> => {
      const server = new MCPServer({ ...createConfig(), cacheHints }).use({ onList });
      return (await callServer(server, 'modern', 'tools/list')).result.cacheScope;
    };
    expect(await scopeWith((_context, next) => next())).toBe('public');
    expect(await scopeWith(async (_context, next) => ({ ...(await next()), tools: [] }))).toBe('private');
    expect(await scopeWith(async () => ({ tools: [] }))).toBe('private');
    const scopeOf = async (change: (result: Record<string, unknown>) => object): Promise<unknown> => {
      const server = new MCPServer({ ...createConfig(), cacheHints }).use({
        onRequest: async (_context, next) => ({ result: { ...change((await next()).result) } }),
      });
      return (await callServer(server, 'modern', 'tools/list')).result.cacheScope;
    };
    expect(await scopeOf((result) => result)).toBe('public');
    expect(await scopeOf((result) => ({ ...result, tools: [] }))).toBe('private');
  });

  test('adds the members of the era once', async () => {
    const server = createServer({
      onList: async (_context, next) => ({ ...(await next()), ttlMs: 5, cacheScope: 'public' }),
    });
    for (const method of ['tools/list', 'resources/list']) {
      const { text, result } = await callServer(server, 'modern', method);
      expect(text.match(/"ttlMs"|"cacheScope"|"resultType"/g)).toHaveLength(3);
      expect(result).toMatchObject({ ttlMs: 5000, cacheScope: 'private' });
    }
  });

  test('hides unexpected errors of the server as without hooks', async () => {
    class BrokenStore extends InMemoryStore {
      override get(): Promise<undefined> {
        return Promise.reject(new Error('connect ECONNREFUSED 10.1.2.3:5432'));
      }
    }
    const server = new MCPServer({ ...createConfig(), sharedStore: new BrokenStore() });
    const codes: unknown[] = [];
    server.use({
      onRequest: (_context, next) =>
        next().catch((error: { code: unknown }) => {
          codes.push(error.code);
          throw error;
        }),
    });
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
    const taskId = 'x'.repeat(32);
    const headers = { 'mcp-name': taskId };
    const { error } = (await callServer(server, 'modern', 'tasks/get', { taskId, _meta }, { headers })).json;
    expect(error).toEqual({ code: -32603, message: 'Internal error' });
    expect(codes).toEqual([-32603]);
    await server.close();
  });

  test('gives a canceled request an empty result', async () => {
    const seen: unknown[] = [];
    const controller = new AbortController();
    const server = new MCPServer({
      ...createConfig(),
      resources: {
        listResources: async () => [{ uri: 'note://1', name: 'one' }],
        getResourceContent: () => (controller.abort(), new Promise<never>(() => {})),
      },
    });
    server.use({
      onReadResource: (_context, next) => next(),
      async onRequest(_context, next) {
        const outcome = await next();
        seen.push(outcome.result);
        return outcome;
      },
    });
    const { signal } = controller;
    await callServer(server, 'modern', 'resources/read', { uri: 'note://1' }, { signal }).catch(() => {});
    await expect.poll(() => seen).toEqual([{}]);
  });

  test('accepts a requestState although a hook changes the arguments', async () => {
    let count = 0;
    const server = createServer({
      onRequest(context, next) {
        count += 1;
        context.arguments = { count };
        return next();
      },
    });
    const { requestState } = (await callServer(server, 'modern', 'tools/call', { ...call('ask'), _meta })).result;
    const again = await callServer(server, 'modern', 'tools/call', { ...call('ask'), _meta, requestState });
    expect(again.result.resultType).toBe('input_required');
  });

  test.each([
    null,
    undefined,
    () => {},
    {},
    [],
    { onCallTool: 'no' },
    { onToolCall() {} },
    { onList: async () => ({}), onlist() {}, onCall() {} },
  ])('rejects %j', (middleware) => {
    const server = createServer();
    expect(() => server.use(middleware as unknown as Middleware)).toThrow(errorOf('OPTIONS_INVALID'));
  });
});

test.each([
  { content: [], isError: true },
  { isError: true, content: [] },
])('an error result of a hook is an error in traces, at any place of its member: %j', async (result) => {
  const failed: unknown[] = [];
  const stop = observe((event, phase) => {
    if (event.type === 'mcp' && phase === 'end') failed.push(event.isToolError);
  });
  try {
    await callServer(createServer({ onRequest: async () => ({ result }) }), 'legacy', 'tools/call', { name: 'echo' });
  } finally {
    stop();
  }
  expect(failed).toEqual([true]);
});
