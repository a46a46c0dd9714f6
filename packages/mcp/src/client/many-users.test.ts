import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RequestContext } from '@quiver/core/request-context';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../test/servers/tool-of.ts';
import { clientOf } from '../../test/clients/client-of.ts';
import type { HttpServerDefinition } from './config/server-definition.js';
import { MCPServer } from '../server/mcp-server.js';
import type { MCPClient, MCPClientOptions } from './mcp-client.js';

const contextOf = (user: string): RequestContext => new RequestContext([['user', user]]);
const alice = contextOf('alice');
const bob = contextOf('bob');
const identity: MCPClientOptions['identity'] = (context) => context.get('user') as string | undefined;

/** Lists that the servers have sent, as `<user> <method>`. */
let sent: string[] = [];
const headersOf = (context: RequestContext): Record<string, unknown> =>
  (context.get('mcp.extra') as { requestInfo?: { headers?: Record<string, unknown> } } | undefined)?.requestInfo
    ?.headers ?? {};
const userOf = (context: RequestContext): string => String(headersOf(context)['x-user'] ?? 'nobody');

const say = toolOf('say', { inputSchema: z.object({}) }, async (_input, { requestContext }) => userOf(requestContext));
const item = (user: string): { uri: string; name: string } => ({ uri: `note://${user}`, name: user });

/** Each user sees the items with its name. */
const quiver = new MCPServer({
  name: 'Quiver',
  version: '1',
  tools: { nobody: say, alice: say, bob: say },
  visible: ({ name }, { requestContext }) => {
    const user = userOf(requestContext);
    if (name === 'nobody') sent.push(user);
    return name === user;
  },
  cacheHints: Object.fromEntries(
    ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'].map((method) => [
      method,
      { ttlMs: 60_000, cacheScope: 'private' },
    ]),
  ),
  resources: {
    listResources: async () => ['nobody', 'alice', 'bob'].map(item),
    resourceTemplates: async () => ['nobody', 'alice', 'bob'].map((name) => ({ uriTemplate: `${name}://{id}`, name })),
    getResourceContent: async ({ uri }) => ({ text: uri }),
  },
  prompts: {
    listPrompts: async () => ['nobody', 'alice', 'bob'].map((name) => ({ name, description: `for ${name}` })),
    completeArgument: async ({ value }) => [`${value}!`],
    getPromptMessages: async ({ name }) => [{ role: 'user', content: { type: 'text', text: name } }],
  },
});

/** A stateless server of the official SDK with one tool per user. */
function createSdkServer(): HttpServer {
  return createServer(async (request, response) => {
    const user = String(request.headers['x-user'] ?? 'nobody');
    const server = new Server({ name: 'sdk', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, async () => {
      sent.push(user);
      return { tools: [{ name: user, inputSchema: { type: 'object' } }] };
    });
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport as Parameters<Server['connect']>[0]);
    await transport.handleRequest(request, response);
  });
}

const sdk = createSdkServer();
await new Promise<void>((resolve) => sdk.listen(0, '127.0.0.1', resolve));
const sdkUrl = `http://127.0.0.1:${(sdk.address() as AddressInfo).port}/mcp`;
const urls = { quiver: (await quiver.listen()).url, sdk: sdkUrl };
beforeEach(() => {
  sent = [];
});
afterAll(async () => {
  await quiver.close();
  sdk.closeAllConnections();
  await new Promise((resolve) => sdk.close(resolve));
});

const headers: HttpServerDefinition['headers'] = ({ requestContext }) => {
  const user = requestContext?.get('user') as string | undefined;
  return user === undefined ? {} : { 'x-user': user };
};

const connect = (definition: HttpServerDefinition, options?: Partial<MCPClientOptions>): MCPClient =>
  clientOf({ it: definition }, options);

const names = async (list: Promise<Record<string, unknown>>): Promise<string[]> => Object.keys(await list);

const servers = [
  { name: 'Quiver, sessions', define: () => ({ url: urls.quiver, headers, protocol: 'legacy' as const }) },
  { name: 'Quiver, 2026-07-28', define: () => ({ url: urls.quiver, headers, protocol: 'modern' as const }) },
  { name: 'official SDK', define: () => ({ url: urls.sdk, headers }) },
];

describe.each(servers)('lists of $name', ({ define }) => {
  test('of tools depend on the request context', async () => {
    const mcp = connect(define());
    expect(await names(mcp.listTools())).toEqual(['it_nobody']);
    expect(await names(mcp.listTools({ requestContext: alice }))).toEqual(['it_alice']);
    expect(await mcp.listToolsets({ requestContext: bob })).toMatchObject({ it: { bob: {} } });
    const { tools } = await mcp.listToolsWithErrors({ requestContext: alice });
    expect(Object.keys(tools)).toEqual(['it_alice']);
    expect(await mcp.listToolDefinitions({ requestContext: alice })).toMatchObject({ it: [{ name: 'alice' }] });
    expect(await names(mcp.listTools())).toEqual(['it_nobody']);
  });

  test('are cached per identity, and for callers without a request context', async () => {
    const mcp = connect(define(), { identity });
    for (const requestContext of [alice, bob, undefined, contextOf('alice'), bob, undefined])
      await mcp.listTools({ requestContext });
    expect(sent.toSorted()).toEqual(['alice', 'bob', 'nobody']);
    // An anonymous caller has a request context, and may still have headers of its own.
    for (let round = 0; round < 2; round += 1) await mcp.listTools({ requestContext: new RequestContext() });
    expect(sent.slice(3)).toEqual(['nobody', 'nobody']);
  });

  test('are not cached without `identity`, because another caller could receive them', async () => {
    const mcp = connect(define());
    for (const requestContext of [alice, alice, undefined, undefined]) await mcp.listTools({ requestContext });
    expect(sent).toEqual(['alice', 'alice', 'nobody']);
  });
});

test('lists and requests of other kinds depend on the request context', async () => {
  const mcp = connect({ url: urls.quiver, headers }, { identity });
  const requestContext = alice;
  const own = [{ name: 'alice' }];
  expect(await mcp.resources.list({ requestContext })).toMatchObject({ it: own });
  expect(await mcp.resources.templates({ requestContext })).toMatchObject({ it: own });
  expect((await mcp.resources.listWithErrors({ requestContext })).data).toMatchObject({ it: own });
  expect(await mcp.prompts.list({ requestContext })).toMatchObject({ it: own });
  expect((await mcp.prompts.listWithErrors({ requestContext })).data).toMatchObject({ it: own });
  expect(await mcp.resources.readContent('it', 'note://alice', { requestContext })).toBe('note://alice');
  await expect(mcp.resources.read('it', 'note://alice', { requestContext: bob })).rejects.toMatchObject({
    code: 'MCP_CLIENT_READ_RESOURCE_FAILED',
  });
  const get = { serverName: 'it', name: 'alice' };
  expect(await mcp.prompts.get({ ...get, requestContext })).toMatchObject({ prompt: { description: 'for alice' } });
  await expect(mcp.prompts.get({ ...get, requestContext: bob })).rejects.toMatchObject({
    code: 'MCP_CLIENT_GET_PROMPT_FAILED',
  });
  const ref = { type: 'prompt', name: 'alice' } as const;
  const completion = { serverName: 'it', ref, argument: { name: 'x', value: '' } };
  expect(await mcp.complete({ ...completion, requestContext })).toMatchObject({ values: ['!'] });
  await expect(mcp.complete({ ...completion, requestContext: bob })).rejects.toMatchObject({
    code: 'MCP_CLIENT_COMPLETE_FAILED',
  });
});

test('a signal ends the read of a resource', async () => {
  const mcp = connect({ url: urls.quiver, headers });
  const reason = new Error('enough');
  const signal = AbortSignal.abort(reason);
  await expect(mcp.resources.read('it', 'note://nobody', { signal })).rejects.toBe(reason);
});

test('one list serves all callers where the request context has no effect', async () => {
  const mcp = connect({ url: urls.sdk, headers: { 'x-user': 'shared' } });
  for (const requestContext of [alice, bob, undefined]) await mcp.listTools({ requestContext });
  expect(sent).toEqual(['shared']);
});

test('a custom `fetch` may depend on the request context as well', async () => {
  const mcp = connect({
    url: urls.sdk,
    fetch: (url, init, requestContext) => {
      const own = new Headers(init?.headers);
      if (requestContext) own.set('x-user', String(requestContext.get('user')));
      return fetch(url, { ...init, headers: own });
    },
  });
  expect(await names(mcp.listTools({ requestContext: alice }))).toEqual(['it_alice']);
  expect(await names(mcp.listTools({ requestContext: bob }))).toEqual(['it_bob']);
});

test('a change of the list drops the lists of all callers', async () => {
  const mcp = connect({ url: urls.quiver, headers, protocol: 'legacy' }, { identity });
  const changed = new Promise<void>((resolve) => void mcp.tools.onListChanged('it', resolve));
  for (const requestContext of [alice, bob, undefined]) await mcp.listTools({ requestContext });
  await quiver.toolActions.notifyListChanged();
  await changed;
  sent = [];
  for (const requestContext of [alice, bob, undefined]) await mcp.listTools({ requestContext });
  expect(sent).toEqual(['alice', 'bob', 'nobody']);
});

test('the least recently used list is evicted', async () => {
  const mcp = connect({ url: urls.quiver, headers }, { identity });
  const list = (user: string): Promise<unknown> => mcp.listTools({ requestContext: contextOf(user) });
  await list('first');
  await list('second');
  await Promise.all(Array.from({ length: 254 }, (_, number) => list(`user ${number}`)));
  await list('first');
  await list('another');
  sent = [];
  for (const user of ['first', 'second']) await list(user);
  expect(sent).toEqual(['second']);
});

test('an `identity` that throws is an error of the list, not the list of another caller', async () => {
  const mcp = connect(
    { url: urls.sdk, headers },
    {
      identity: () => {
        throw new Error('no user in the context');
      },
    },
  );
  const { tools, errors } = await mcp.listToolsWithErrors({ requestContext: alice });
  expect({ tools, errors }).toEqual({ tools: {}, errors: { it: 'no user in the context' } });
});

describe('a view', () => {
  test('sends everything for its caller', async () => {
    const mcp = connect({ url: urls.quiver, headers });
    const view = mcp.forRequest(alice);
    const tools = await view.listTools();
    expect(Object.keys(tools)).toEqual(['it_alice']);
    expect(await tools['it_alice']?.execute({})).toMatchObject({ content: [{ text: 'alice' }] });
    // Agents and the AI SDK pass contexts of their own.
    expect(await tools['it_alice']?.execute({}, { requestContext: bob })).toMatchObject({
      content: [{ text: 'alice' }],
    });
    expect(Object.keys((await view.listToolsets())['it'] ?? {})).toEqual(['alice']);
    const stored = view.toolsFromDefinitions(await view.listToolDefinitions());
    expect(await stored['it_alice']?.execute({})).toMatchObject({ content: [{ text: 'alice' }] });
    const call = { serverName: 'it', name: 'alice' };
    expect(await view.callTool(call)).toMatchObject({ content: [{ text: 'alice' }] });
    expect(await view.callTool({ ...call, requestContext: bob })).toMatchObject({ content: [{ text: 'alice' }] });
    expect(await view.resources.list()).toMatchObject({ it: [{ name: 'alice' }] });
    expect(await view.resources.templates()).toMatchObject({ it: [{ name: 'alice' }] });
    expect(await view.resources.readContent('it', 'note://alice')).toBe('note://alice');
    expect(await view.prompts.list()).toMatchObject({ it: [{ name: 'alice' }] });
    expect(await view.prompts.get(call)).toMatchObject({ prompt: { name: 'alice' } });
    expect(await view.tasks.start(call)).toMatchObject({ result: { content: [{ text: 'alice' }] } });
    expect(await names(mcp.listTools())).toEqual(['it_nobody']);
  });

  test('decides about approval with its request context', async () => {
    const users: unknown[] = [];
    const requireToolApproval = ({ requestContext }: { requestContext: RequestContext }): boolean => {
      users.push(requestContext.get('user'));
      return false;
    };
    const mcp = connect({ url: urls.quiver, headers, requireToolApproval });
    const [tool] = Object.values(await mcp.forRequest(alice).listTools());
    const { needsApproval } = tool as { needsApproval: (input: object, options: object) => unknown };
    await needsApproval({}, {});
    expect(users).toEqual(['alice']);
  });

  test('rejects a missing request context, which would be sent without a user', () => {
    const mcp = connect({ url: urls.quiver, headers });
    for (const context of [undefined, null, { user: 'alice' }])
      expect(() => mcp.forRequest(context as never)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
  });
});
