import type { IncomingHttpHeaders } from 'node:http';
import { createLogger, observe } from '@quiver/core';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchema } from '@quiver/core/schema';
import { createTool } from '@quiver/core/tools';
import type { MCPClient, MastraMCPServerDefinition } from '@quiver/mcp/client';
import { MCPServer, type MCPServerConfig } from '@quiver/mcp/server';
import { describe, expect, test, vi } from 'vitest';
import { eras } from '../../../test/eras.ts';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { afterTest, serveHttp } from '../../../test/after-test.ts';
import { z } from 'zod';
import { modern, toRequest } from '../../../test/clients/wire.ts';
import { clientOf } from '../../../test/clients/client-of.ts';
import { eventually } from '../../../test/eventually.ts';
import { Gate } from '../../../test/gate.ts';
import { mountServer } from '../../../test/servers/mount-server.ts';

const silent = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
type Era = 'legacy' | 'modern';

/** Runs of tools of the upstream. */
let runs = 0;

const upstreamTools = {
  echo: createTool({
    id: 'echo',
    title: 'Echo',
    description: 'Returns its input',
    inputSchema: z.object({ text: z.string() }),
    outputSchema: z.object({ text: z.string() }),
    mcp: {
      annotations: { readOnlyHint: true, title: 'Echo it' },
      icons: [{ src: 'https://x.example/icon.png' }],
      _meta: { 'x/own': 1 },
    },
    execute: async ({ text }) => ({ text }),
  }),
  fail: toolOf('fail', async () => {
    throw new Error('It is broken.');
  }),
  ask: toolOf('ask', async (_, { mcp }) => {
    runs += 1;
    await mcp?.progress({ progress: 1, total: 2, message: 'asking' });
    await mcp?.log('warn', 'careful');
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } } as const;
    const first = await mcp?.elicitation.sendRequest({ message: 'Who?', requestedSchema });
    const second = await mcp?.elicitation.sendRequest({ message: 'And who?', requestedSchema });
    return JSON.stringify([first, second]);
  }),
  sample: toolOf('sample', async (_, { mcp }) => {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }];
    const result = await mcp?.sample({ messages, maxTokens: 10 });
    return result?.text;
  }),
  roots: toolOf('roots', async (_, { mcp }) => JSON.stringify(await mcp?.roots())),
};

function createServer(config: Partial<MCPServerConfig> = {}): MCPServer {
  const server = new MCPServer({ name: 'Gateway', version: '1.0.0', logger: silent, tools: {}, ...config });
  afterTest(() => server.close({ grace: 0 }));
  return server;
}

function createUpstream(config: Partial<MCPServerConfig> = {}): MCPServer {
  return createServer({
    name: 'Upstream',
    tools: upstreamTools,
    resources: {
      listResources: async () => [{ uri: 'note://one', name: 'one', title: 'One', size: 3 }],
      resourceTemplates: async () => [{ uriTemplate: 'note://{id}', name: 'note' }],
      getResourceContent: async ({ uri }) => ({ text: `text of ${uri}` }),
      completeVariable: async ({ value }) => [`${value}1`, `${value}2`],
    },
    prompts: {
      listPrompts: async () => [{ name: 'greet', title: 'Greet', arguments: [{ name: 'who', required: true }] }],
      getPromptMessages: async ({ args }) => [{ role: 'user', content: { type: 'text', text: `Hi ${args.who}` } }],
      completeArgument: async ({ value }) => [`${value}a`],
    },
    ...config,
  });
}

async function createGateway(upstreamEra: Era, upstream: MCPServer = createUpstream()): Promise<MCPServer> {
  const gateway = createServer();
  await gateway.proxy('up', { server: upstream, protocol: upstreamEra });
  return gateway;
}

function connect(server: MCPServer, protocol: Era, more: Partial<MastraMCPServerDefinition> = {}): MCPClient {
  return clientOf({ it: { server, protocol, ...more } as MastraMCPServerDefinition });
}

/** Calls a server as a user, in the modern era. */
async function callAs(server: MCPServer, subject: string, method: string, params: Record<string, unknown>) {
  const request = toRequest(modern(method, params, 1, { authorization: `Bearer token-of-${subject}` }));
  const authInfo = { token: `token-of-${subject}`, clientId: 'c', scopes: [subject], extra: { subject } };
  return (await server.fetch(request, { authInfo })).text();
}

const textOf = ({ content }: { content: unknown[] }): string => (content[0] as { text: string }).text;

const combinations = [
  ['legacy', 'legacy'],
  ['legacy', 'modern'],
  ['modern', 'legacy'],
  ['modern', 'modern'],
] as const;

describe.each(combinations)('a %s caller of a %s upstream', (callerEra, upstreamEra) => {
  test('lists tools, resources, templates and prompts unchanged except for the prefix', async () => {
    const upstream = createUpstream();
    const direct = connect(upstream, callerEra);
    const proxied = connect(await createGateway(upstreamEra, upstream), callerEra);
    const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll('up_', ''));
    expect(plain(await proxied.listToolDefinitions())).toEqual(await direct.listToolDefinitions());
    expect(plain(await proxied.resources.list())).toEqual(await direct.resources.list());
    expect(plain(await proxied.resources.templates())).toEqual(await direct.resources.templates());
    expect(plain(await proxied.prompts.list())).toEqual(await direct.prompts.list());
  });

  test('passes elicitation, progress and log messages to the caller, and runs the tool as often as its era does', async () => {
    runs = 0;
    const logger = vi.fn();
    const client = connect(await createGateway(upstreamEra), callerEra, { logger });
    const onElicitation = vi.fn(({ message }: { message: string }) => ({
      action: 'accept' as const,
      content: { name: message },
    }));
    const onProgress = vi.fn();
    const result = await client.callTool({ serverName: 'it', name: 'up_ask', onElicitation, onProgress });
    expect(JSON.parse(textOf(result))).toEqual([
      { action: 'accept', content: { name: 'Who?' } },
      { action: 'accept', content: { name: 'And who?' } },
    ]);
    expect(onElicitation).toHaveBeenCalledTimes(2);
    expect(onProgress).toHaveBeenCalledWith(expect.objectContaining({ progress: 1, total: 2, message: 'asking' }));
    expect(logger).toHaveBeenCalledWith(expect.objectContaining({ message: '[it] careful', level: 'warning' }));
    expect(runs).toBe(upstreamEra === 'legacy' ? 1 : 3);
  });

  test('passes sampling and roots to the caller', async () => {
    const roots = [{ uri: 'file:///home', name: 'home' }];
    const client = connect(await createGateway(upstreamEra), callerEra, { roots });
    const sampled = { role: 'assistant' as const, content: { type: 'text' as const, text: 'Hello' }, model: 'test' };
    const onSampling = vi.fn(() => sampled);
    expect(textOf(await client.callTool({ serverName: 'it', name: 'up_sample', onSampling }))).toBe('Hello');
    expect(JSON.parse(textOf(await client.callTool({ serverName: 'it', name: 'up_roots' })))).toEqual(roots);
  });
});

test('a call of a legacy upstream waits for input as long as the requestState is valid', async () => {
  // Longer than a timer can wait.
  const requestState = { ttlSeconds: 60 * 60 * 24 * 30 };
  const gateway = createServer({ requestState });
  await gateway.proxy('up', { server: createUpstream(), protocol: 'legacy' });
  const onElicitation = async () => {
    // A timer of the call that is due at once would fire before this one.
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { action: 'decline' as const };
  };
  const result = await connect(gateway, 'modern').callTool({ serverName: 'it', name: 'up_ask', onElicitation });
  expect(textOf(result)).toBe('[{"action":"decline"},{"action":"decline"}]');
});

test.each(eras)('sampling with tools of a %s upstream needs a caller that takes tools', async (upstreamEra) => {
  const tooled = toolOf(
    'tooled',
    async (_, { mcp }) => (await mcp.sample({ messages: [], maxTokens: 5, tools: [{}] })).text,
  );
  const gateway = await createGateway(upstreamEra, createUpstream({ tools: { tooled } }));
  const call = (sampling: object): Promise<string> => {
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { sampling } };
    return callAs(gateway, 'ada', 'tools/call', { name: 'up_tooled', _meta });
  };
  expect(await call({ tools: {} })).toContain('input_required');
  const refused = await call({});
  expect(refused).not.toContain('input_required');
  expect(refused).toContain('capability');
});

const deepSchema = Array.from({ length: 200 }).reduce<JsonSchema>((a) => ({ type: 'object', properties: { a } }), {});

test.each<[string, JsonSchema]>([
  ['an invalid header', { type: 'object', properties: { a: { type: 'object', 'x-mcp-header': 'A' } } }],
  ['a schema that is too deep for headers', deepSchema],
])('offers a tool of a legacy upstream with %s, and the others', async (_, inputSchema) => {
  const odd = toolOf('odd', { inputSchema }, async () => 'done');
  const upstream = createUpstream({ tools: { odd, echo: upstreamTools.echo } });
  silent.warn.mockClear();
  const gateway = await createGateway('legacy', upstream);
  expect(silent.warn).toHaveBeenCalledWith(expect.stringContaining("tool 'up_odd'"));
  expect(await callAs(gateway, 'ada', 'tools/list', {})).toMatch(/up_odd.*up_echo/);
  expect(await callAs(gateway, 'ada', 'tools/call', { name: 'up_odd', arguments: {} })).toContain('done');
});

test.each([
  ['server/discover', {}],
  ['tools/list', {}],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['prompts/list', {}],
  ['resources/read', { uri: 'own://one' }],
])('the result of %s stays private, because lists of an upstream may differ per caller', async (method, params) => {
  const gateway = createServer({
    resources: {
      listResources: async () => [{ uri: 'own://one', name: 'one' }],
      getResourceContent: async () => ({ text: 'own' }),
    },
    cacheHints: { [method]: { ttlMs: 1000, cacheScope: 'public' } },
  });
  const scopeOf = async () => /"cacheScope":"(\w+)"/.exec(await callAs(gateway, 'ada', method, params))?.[1];
  if (method !== 'resources/templates/list' && method !== 'prompts/list') expect(await scopeOf()).toBe('public');
  await gateway.proxy('up', createUpstream());
  expect(await scopeOf()).toBe('private');
});

describe.each(combinations)('during a call of a %s caller at a %s upstream', (callerEra, upstreamEra) => {
  test('a cancellation reaches the upstream', async () => {
    const canceled = new Gate();
    const started = new Gate();
    const wait = toolOf('wait', async (_, { abortSignal }) => {
      abortSignal?.addEventListener('abort', () => canceled.open());
      started.open();
      return canceled.passed;
    });
    const gateway = await createGateway(upstreamEra, createUpstream({ tools: { wait } }));
    const controller = new AbortController();
    const { signal } = controller;
    const calling = connect(gateway, callerEra).callTool({ serverName: 'it', name: 'up_wait', signal });
    await started.passed;
    controller.abort(new Error('enough'));
    await expect(calling).rejects.toThrow('enough');
    await canceled.passed;
  });

  test('a caller without the capability gets the error of the upstream', async () => {
    const client = connect(await createGateway(upstreamEra), callerEra);
    const outcome = await client.callTool({ serverName: 'it', name: 'up_ask' }).then(
      (result) => `${String(result.isError)} ${textOf(result)}`,
      (error: Error) => error.message,
    );
    expect(outcome).toMatch(/capability|not found|not support/i);
  });

  test('requests and notifications of two callers at once go to their own callers', async () => {
    const gateway = await createGateway(upstreamEra);
    const names = ['ada', 'bob', 'eve'];
    const results = await Promise.all(
      names.map(async (name) => {
        const onElicitation = () => ({ action: 'accept' as const, content: { name } });
        const client = connect(gateway, callerEra);
        return textOf(await client.callTool({ serverName: 'it', name: 'up_ask', onElicitation }));
      }),
    );
    for (const [index, text] of results.entries()) {
      const answers = JSON.parse(text) as { content: { name: string } }[];
      expect(answers.map(({ content }) => content.name)).toEqual([names[index], names[index]]);
    }
  });

  test('changes of lists and updates of resources travel', async () => {
    const upstream = createUpstream();
    const client = connect(await createGateway(upstreamEra, upstream), callerEra);
    const onTools = vi.fn();
    const onUpdated = vi.fn();
    await client.tools.onListChanged('it', onTools);
    await client.resources.onUpdated('it', onUpdated);
    await client.listTools();
    await client.resources.subscribe('it', 'note://one');
    const added = toolOf('added', async () => 'yes');
    await upstream.toolActions.add({ added });
    await eventually(async () => expect(Object.keys(await client.listTools())).toContain('it_up_added'));
    expect(onTools).toHaveBeenCalled();
    expect(textOf(await client.callTool({ serverName: 'it', name: 'up_added' }))).toBe('yes');
    await upstream.resources.notifyUpdated({ uri: 'note://one' });
    await eventually(() => expect(onUpdated).toHaveBeenCalledWith({ uri: 'note://one' }));
  });
});

test('the subscription to a resource of an upstream ends with that of the last legacy client', async () => {
  const upstream = createUpstream();
  const methods: string[] = [];
  upstream.use({
    onRequest: (context, next) => {
      methods.push(context.method);
      return next();
    },
  });
  const client = connect(await createGateway('legacy', upstream), 'legacy');
  await client.resources.subscribe('it', 'note://one');
  await client.resources.unsubscribe('it', 'note://one');
  await upstream.resources.notifyUpdated({ uri: 'note://one' });
  await eventually(() => expect(methods).toContain('resources/unsubscribe'));
});

describe('tasks of an upstream', () => {
  const createTaskUpstream = (gate: Promise<unknown>): MCPServer => {
    const slow = toolOf('slow', { mcp: { task: { mode: 'required', pollIntervalMs: 50 } } }, async (_, { mcp }) => {
      await mcp?.progress({ progress: 1, message: 'half' });
      const requestedSchema = { type: 'object', properties: { sure: { type: 'boolean' } } } as const;
      const answer = await mcp?.elicitation.sendRequest({ message: 'Sure?', requestedSchema });
      await gate;
      return `done: ${answer?.action}`;
    });
    return createUpstream({ tools: { slow } });
  };
  const onElicitation = () => ({ action: 'accept' as const, content: { sure: true } });

  test('are tasks of the gateway for a modern caller, with their input and progress', async () => {
    const gate = new Gate();
    const client = connect(await createGateway('modern', createTaskUpstream(gate.passed)), 'modern');
    const handle = await client.tasks.start({ serverName: 'it', name: 'up_slow', onElicitation });
    expect(handle).toHaveProperty('taskId');
    gate.open();
    expect(textOf(await client.tasks.result(handle, { onElicitation }))).toBe('done: accept');
  });

  test('end with their task', async () => {
    const client = connect(await createGateway('modern', createTaskUpstream(new Promise(() => {}))), 'modern');
    const handle = await client.tasks.start({ serverName: 'it', name: 'up_slow' });
    await client.tasks.cancel(handle);
    expect(await client.tasks.get(handle)).toMatchObject({ status: 'cancelled' });
  });

  test('are awaited for a legacy caller', async () => {
    const client = connect(await createGateway('modern', createTaskUpstream(Promise.resolve())), 'legacy');
    const onProgress = vi.fn();
    const call = { serverName: 'it', name: 'up_slow', onElicitation, onProgress };
    expect(textOf(await client.callTool(call))).toBe('done: accept');
    expect(onProgress).toHaveBeenCalledWith(expect.objectContaining({ message: 'half' }));
  });
});

test('leaves out tools that run only as tasks of protocol version 2025-11-25', async () => {
  const upstream = new Server({ name: 'Tasks', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = { type: 'object' as const };
  upstream.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      { name: 'report', inputSchema, execution: { taskSupport: 'required' } },
      { name: 'count', inputSchema, execution: { taskSupport: 'optional' } },
    ],
  }));
  upstream.setRequestHandler(CallToolRequestSchema, () => ({ content: [{ type: 'text', text: 'counted' }] }));
  const warn = vi.fn();
  const gateway = createServer({ logger: { ...silent, warn } });
  await gateway.proxy('up', { server: upstream });
  const client = connect(gateway, 'modern');
  expect((await client.listToolDefinitions())['it']?.map(({ name }) => name)).toEqual(['up_count']);
  expect(warn).toHaveBeenCalledWith(
    expect.stringContaining("The tool 'report' of the proxied server 'up' is left out"),
  );
  expect(textOf(await client.callTool({ serverName: 'it', name: 'up_count' }))).toBe('counted');
});

describe('several upstreams', () => {
  test('are offered without one that is unavailable, which is used once it works', async () => {
    const gateway = await createGateway('legacy');
    const { http, port } = await serveHttp(
      (req, res) =>
        void upstream.startHTTP({ url: new URL(req.url ?? '', 'http://localhost'), httpPath: '/mcp', req, res }),
    );
    const upstream = createUpstream();
    await new Promise((resolve) => http.close(resolve));
    await gateway.proxy('later', { url: `http://127.0.0.1:${port}/mcp` });
    const client = connect(gateway, 'legacy');
    const tools = Object.keys(await client.listTools());
    expect(tools).toContain('it_up_echo');
    expect(tools).not.toContain('it_later_echo');
    expect((await client.resources.list())['it']).toHaveLength(1);
    const onTools = vi.fn();
    await client.tools.onListChanged('it', onTools);
    await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
    await eventually(async () => {
      expect(Object.keys(await client.listTools())).toContain('it_later_echo');
    });
    expect(onTools).toHaveBeenCalled();
  });

  test.each([
    ['a tool', { tools: { up_echo: upstreamTools.echo } }, {}, "tool 'up_echo'"],
    ['a resource', {}, { prefix: 'other_' }, 'note://one'],
  ])('are refused at the start for the name of %s that is taken', async (_, config, options, message) => {
    const gateway = createServer({ ...config });
    if (!('tools' in config)) await gateway.proxy('first', createUpstream());
    const adding = gateway.proxy('up', createUpstream(), options);
    await expect(adding).rejects.toMatchObject({ code: 'PROXY_NAME_TAKEN' });
    await expect(adding).rejects.toThrow(message);
  });

  test('need different names, and known options', async () => {
    const gateway = await createGateway('legacy');
    await expect(gateway.proxy('up', createUpstream())).rejects.toMatchObject({ code: 'PROXY_NAME_TAKEN' });
    await expect(gateway.proxy('two', createUpstream(), { prefx: '' } as never)).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    });
  });

  test.each([
    ['a mounted object', 'mount', () => ({}), 'received an object'],
    ['nothing', 'mount', () => undefined, 'received undefined'],
    ['a mounted definition', 'mount', () => ({ url: 'http://localhost/mcp', fetch }), 'received an object'],
    ['no definition', 'proxy', () => null, 'is null'],
    ['the server itself, mounted', 'mount', (self: MCPServer) => self, 'its own items'],
    ['the server itself, proxied', 'proxy', (self: MCPServer) => self, 'its own items'],
    ['a definition of the server itself', 'proxy', (self: MCPServer) => ({ server: self }), 'its own items'],
  ] as const)('are refused for %s', async (_, method, target, message) => {
    const gateway = await createGateway('legacy');
    const adding = gateway[method]('other', target(gateway) as never);
    await expect(adding).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await expect(adding).rejects.toThrow(message);
    expect(Object.keys(await connect(gateway, 'modern').listTools())).not.toHaveLength(0);
  });

  test('are added with a warning where clients will refuse the names of their tools', async () => {
    const warn = vi.fn();
    const gateway = createServer({ logger: { ...silent, warn } });
    await gateway.proxy('a b/c', createUpstream(), { include: ({ type }) => type === 'tool' });
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('begin with "a b/c_"'));
    await gateway.proxy('d e', createUpstream(), { prefix: 'de_', include: ({ type }) => type === 'tool' });
    expect(warn).toHaveBeenCalledTimes(1);
  });

  test('offer what `include` selects, without a prefix', async () => {
    const gateway = createServer();
    const include = vi.fn(({ type, name }: { type: string; name: string }) => type === 'prompt' || name === 'echo');
    await gateway.proxy('up', createUpstream(), { prefix: false, include });
    const client = connect(gateway, 'legacy');
    expect(Object.keys(await client.listTools())).toEqual(['it_echo']);
    expect(await client.resources.list()).toEqual({ it: [] });
    expect((await client.prompts.list())['it']?.map(({ name }) => name)).toEqual(['greet']);
    await expect(client.callTool({ serverName: 'it', name: 'fail' })).rejects.toThrow('Unknown tool: fail');
  });

  test('are found by the search of the gateway', async () => {
    const gateway = createServer({ search: {} });
    await gateway.proxy('up', createUpstream());
    const client = connect(gateway, 'modern');
    expect((await client.listToolDefinitions())['it']).toHaveLength(3);
    const found = await client.callTool({ serverName: 'it', name: 'search_tools', args: { query: 'echo the input' } });
    expect(JSON.parse(textOf(found))).toMatchObject({ tools: [{ name: 'up_echo', call: 'call_read_tool' }] });
    const args = { name: 'up_echo', arguments: { text: 'x' } };
    const result = await client.callTool({ serverName: 'it', name: 'call_read_tool', args });
    expect(result.structuredContent).toEqual({ text: 'x' });
    const onElicitation = () => ({ action: 'decline' as const });
    const asked = { serverName: 'it', name: 'call_write_tool', args: { name: 'up_ask' }, onElicitation };
    expect(textOf(await client.callTool(asked))).toContain('decline');
  });
});

describe('identity', () => {
  test('sends the headers of each caller and never its token, and caches the lists per caller', async () => {
    const seen: IncomingHttpHeaders[] = [];
    const upstream = createUpstream();
    const url = await mountServer(upstream, {}, (req) => {
      seen.push(req.headers);
      Object.assign(req, { auth: { scopes: [], extra: { subject: String(req.headers['x-user']) } } });
    });
    const gateway = createServer();
    await gateway.proxy('up', {
      url,
      protocol: 'modern',
      headers: ({ requestContext }) => ({
        'x-user': String(
          (requestContext?.get('mcp.extra') as { authInfo?: { extra?: { subject?: string } } } | undefined)?.authInfo
            ?.extra?.subject,
        ),
      }),
    });
    const call = { name: 'up_echo', arguments: { text: 'x' } };
    expect(await callAs(gateway, 'ada', 'tools/call', call)).toContain('"text":"x"');
    expect(await callAs(gateway, 'bob', 'tools/call', call)).toContain('"text":"x"');
    const before = seen.length;
    await callAs(gateway, 'bob', 'tools/call', call);
    // The list of the caller is known.
    expect(seen.length - before).toBe(1);
    expect(new Set(seen.map((headers) => headers['x-user']))).toEqual(new Set(['undefined', 'ada', 'bob']));
    expect(JSON.stringify(seen)).not.toContain('token-of');
  });

  test('reaches a mounted server, whose catalog decides', async () => {
    const secret = toolOf(
      'secret',
      { mcp: { scopes: ['ada'] } },
      async (_, { mcp }) => `for ${String(mcp?.extra?.authInfo?.extra?.['subject'])}`,
    );
    const inner = createUpstream({ tools: { secret } });
    const gateway = createServer();
    await gateway.mount('inner', inner);
    expect(await callAs(gateway, 'ada', 'tools/list', {})).toContain('inner_secret');
    expect(await callAs(gateway, 'bob', 'tools/list', {})).not.toContain('inner_secret');
    expect(await callAs(gateway, 'ada', 'tools/call', { name: 'inner_secret' })).toContain('for ada');
    expect(await callAs(gateway, 'bob', 'tools/call', { name: 'inner_secret' })).toContain(
      'Unknown tool: inner_secret',
    );
  });

  test('binds a call that waits for input to its caller', async () => {
    const gateway = await createGateway('legacy');
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
    const call = { name: 'up_ask', arguments: {}, _meta };
    const first = await callAs(gateway, 'ada', 'tools/call', call);
    const { requestState, inputRequests } = (
      JSON.parse(first.match(/\{"jsonrpc".*"result".*/)?.[0] ?? first) as { result: Record<string, unknown> }
    ).result;
    expect(inputRequests).toMatchObject({ 'input-1': { method: 'elicitation/create' } });
    const inputResponses = { 'input-1': { action: 'decline' } };
    const stolen = await callAs(gateway, 'bob', 'tools/call', { ...call, requestState, inputResponses });
    expect(stolen).toContain('Invalid requestState');
    const next = await callAs(gateway, 'ada', 'tools/call', { ...call, requestState, inputResponses });
    expect(next).toContain('input-2');
    const again = await callAs(gateway, 'ada', 'tools/call', { ...call, requestState, inputResponses });
    expect(again).toContain('input-2');
  });
});

test('proxies a server of a client, and leaves its connection to the client', async () => {
  const client = connect(createUpstream(), 'legacy');
  const onTools = vi.fn();
  await client.tools.onListChanged('it', onTools);
  const gateway = new MCPServer({ name: 'G', version: '1.0.0', logger: silent, tools: {} });
  await gateway.proxy('up', { client, server: 'it' });
  const caller = connect(gateway, 'legacy');
  const onElicitation = () => ({ action: 'decline' as const });
  expect(textOf(await caller.callTool({ serverName: 'it', name: 'up_ask', onElicitation }))).toContain('decline');
  await gateway.close({ grace: 0 });
  expect(client.status()['it']?.state).toBe('ready');
  await expect(gateway.proxy('x', { client, server: 'absent' })).rejects.toMatchObject({ code: 'MCP_SERVER_UNKNOWN' });
});

test('passes _meta of a call on, and the trace of the gateway where there is one', async () => {
  const seen: unknown[] = [];
  const meta = toolOf('meta', async (_, { mcp }) => void seen.push(mcp?.extra?._meta));
  const client = connect(await createGateway('legacy', createUpstream({ tools: { meta } })), 'legacy');
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const call = { serverName: 'it', name: 'up_meta', meta: { 'x/y': 1, traceparent } };
  await client.callTool(call);
  const stop = observe(() => {});
  await client.callTool(call);
  stop();
  expect(seen).toMatchObject([{ 'x/y': 1, traceparent }, { 'x/y': 1 }]);
  expect(seen[1]).not.toHaveProperty('traceparent');
});

describe.each(eras)('a proxied server that fails, in the %s era', (era) => {
  test('declines a subscription, which the gateway declines as well', async () => {
    const upstream = createUpstream().use({
      onRequest: async ({ method }, next) => {
        if (method === 'resources/subscribe' || method === 'subscriptions/listen') throw new Error('no watchers');
        return next();
      },
    });
    const gateway = createServer();
    await gateway.proxy('up', { server: upstream, protocol: era });
    await expect(connect(gateway, era).resources.subscribe('it', 'note://one')).rejects.toThrow(
      era === 'legacy' ? 'no watchers' : 'declined the subscription',
    );
  });

  test('is unavailable to callers, who do not read its address', async () => {
    const upstream = createUpstream();
    const { url, port } = await upstream.listen();
    const lines: string[] = [];
    const logger = createLogger({ write: (line) => void lines.push(line) });
    const gateway = new MCPServer({ name: 'G', version: '1.0.0', logger, tools: {} });
    afterTest(() => gateway.close({ grace: 0 }));
    await gateway.proxy('up', { url, protocol: era, connectTimeout: 5_000 });
    const client = connect(gateway, era);
    await client.listTools();
    await upstream.close({ grace: 0 });
    const text = textOf(await client.callTool({ serverName: 'it', name: 'up_echo', args: { text: 'x' } }));
    expect(text).toMatch(/The proxied server 'up' (is unavailable|ended its connection)/);
    expect(text).not.toContain(String(port));
    expect(lines.join()).toMatch(/warn: .*'up'/);
  });
});
