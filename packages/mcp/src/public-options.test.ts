import { isQuiverError } from '@quiver/core';
import { RequestContext } from '@quiver/core/request-context';
import { afterAll, describe, expect, it } from 'vitest';
import { toolOf } from '../test/servers/tool-of.ts';
import { readPublicFunctions } from '../../../scripts/public-functions.js';
import * as auth from './auth/index.js';
import { loadMcpConfig, MCPClient } from './client/index.js';
import { MastraMCPClient } from './compat/index.js';
import { cacheResults, InMemoryEventStore, MCPServer, rateLimit } from './server/index.js';
import { PostgresStore } from './shared-store/pg/index.js';
import { RedisStore } from './shared-store/redis/index.js';

// Programs in JavaScript pass it.
const unknownOption = { unknownOption: 1 };
const unknown = unknownOption as never;
const oauth = {
  resource: 'https://a.example/mcp',
  authorizationServers: ['https://b.example'],
  validateToken: unknown,
};
const metadata = { redirectUrl: 'http://localhost:1/callback', clientMetadata: { redirect_uris: [] } };
const handle = { serverName: 'it', name: 'x', taskId: '1' };

/** Returns the errors of requests to the client with an option that they do not have. */
const ask = toolOf('ask', async (_input, { mcp: client }) => {
  const requests = [
    client.elicitation.sendRequest(unknown, unknown),
    client.sample(unknown, unknown),
    client.roots(unknown),
  ];
  const settled = await Promise.allSettled(requests);
  return settled.map((result) => (result.status === 'rejected' ? String(result.reason) : 'sent')).join('\n');
});

const server = new MCPServer({ name: 'n', version: '1', tools: { ask } });
const mcp = new MCPClient({ id: 'public options', servers: { it: server } });
afterAll(async () => {
  await mcp.disconnect();
  await server.close();
});

/** A call of each public function and method with an option that it does not have. */
const calls: Record<string, () => unknown> = {
  MCPServer: () => new MCPServer({ name: 'n', version: '1', tools: {}, ...unknownOption }),
  'MCPServer.startStdio': () => server.startStdio(unknown),
  'MCPServer.startHTTP': () => server.startHTTP(unknown),
  'MCPServer.fetch': () => server.fetch(new Request('http://localhost'), unknown),
  'MCPServer.startSSE': () => server.startSSE(unknown),
  'MCPServer.startHonoSSE': () => server.startHonoSSE(unknown),
  'MCPServer.connectSSE': () => server.connectSSE(unknown),
  'MCPServer.connectHonoSSE': () => server.connectHonoSSE(unknown),
  'MCPServer.listen': () => server.listen(unknown),
  'MCPServer.close': () => server.close(unknown),
  'MCPServer.drain': () => server.drain(unknown),
  'MCPServer.proxy': () => server.proxy('p', { url: 'http://localhost:1/mcp' }, unknown),
  'MCPServer.mount': () => server.mount('m', new MCPServer({ name: 'M', version: '1.0.0', tools: {} }), unknown),
  'MCPServer.executeTool': () => server.executeTool('x', {}, unknown),
  'MCPServer.elicitation.sendRequest': () => server.elicitation.sendRequest(unknown, unknown),
  rateLimit: () => rateLimit({ capacity: 1, perSecond: 1, ...unknownOption }),
  cacheResults: () => cacheResults({ ttlMs: 1, ...unknownOption }),
  InMemoryEventStore: () => new InMemoryEventStore(unknown),
  PostgresStore: () => new PostgresStore({ connectionString: 'postgres://localhost', ...unknownOption }),
  RedisStore: () => new RedisStore(unknown),
  MCPClient: () => new MCPClient({ servers: {}, ...unknownOption }),
  'a definition with a command': () => new MCPClient({ servers: { it: { command: 'x', ...unknownOption } } }),
  'a definition with a url': () => new MCPClient({ servers: { it: { url: 'http://localhost', ...unknownOption } } }),
  'a definition with a server': () => new MCPClient({ servers: { it: { server, ...unknownOption } } }),
  'MCPClient.callTool': () => mcp.callTool({ serverName: 'it', name: 'x', ...unknownOption }),
  'MCPClient.forRequest': () => mcp.forRequest(new RequestContext(), unknown),
  'MCPClient.complete': () => mcp.complete(unknown),
  'MCPClient.listTools': () => mcp.listTools(unknown),
  'MCPClient.listToolsets': () => mcp.listToolsets(unknown),
  'MCPClient.getTools': () => mcp.getTools(unknown),
  'MCPClient.getToolsets': () => mcp.getToolsets(unknown),
  'MCPClient.listToolDefinitions': () => mcp.listToolDefinitions(unknown),
  'MCPClient.listToolsWithErrors': () => mcp.listToolsWithErrors(unknown),
  'MCPClient.getServerInstructions': () => mcp.getServerInstructions(unknown),
  'MCPClient.getInstructions': () => mcp.getInstructions(unknown),
  'MCPClient.authenticate': () => mcp.authenticate('it', unknown),
  'MCPClient.resources.list': () => mcp.resources.list(unknown),
  'MCPClient.resources.templates': () => mcp.resources.templates(unknown),
  'MCPClient.resources.read': () => mcp.resources.read('it', 'x://y', unknown),
  'MCPClient.resources.readContent': () => mcp.resources.readContent('it', 'x://y', unknown),
  'MCPClient.resources.listWithErrors': () => mcp.resources.listWithErrors(unknown),
  'MCPClient.prompts.list': () => mcp.prompts.list(unknown),
  'MCPClient.prompts.listWithErrors': () => mcp.prompts.listWithErrors(unknown),
  'MCPClient.prompts.get': () => mcp.prompts.get({ serverName: 'it', name: 'x', ...unknownOption }),
  'MCPClient.tasks.start': () => mcp.tasks.start({ serverName: 'it', name: 'x', ...unknownOption }),
  'MCPClient.tasks.get': () => mcp.tasks.get(handle, unknown),
  'MCPClient.tasks.result': () => mcp.tasks.result(handle, unknown),
  'MCPClient.tasks.cancel': () => mcp.tasks.cancel(handle, unknown),
  'MCPClient.tasks.update': () => mcp.tasks.update(handle, {}, unknown),
  loadMcpConfig: () => loadMcpConfig('mcp.json', unknown),
  'compat MastraMCPClient': () => new MastraMCPClient(unknown),
  MCPOAuthClientProvider: () => new auth.MCPOAuthClientProvider({ ...metadata, ...unknownOption }),
  FileOAuthStorage: () => new auth.FileOAuthStorage(unknown),
  SharedOAuthStorage: () => new auth.SharedOAuthStorage(unknown),
  authenticate: () => auth.authenticate(unknown),
  createClientCredentialsProvider: () => auth.createClientCredentialsProvider(unknown),
  createEnterpriseManagedProvider: () => auth.createEnterpriseManagedProvider(unknown),
  createIntrospectionValidator: () => auth.createIntrospectionValidator('https://a.example', unknown),
  createJwtBearerProvider: () => auth.createJwtBearerProvider(unknown),
  createJwtValidator: () => auth.createJwtValidator(unknown),
  createLoopbackProvider: () => auth.createLoopbackProvider(unknown),
  createOAuthCallbackServer: () => auth.createOAuthCallbackServer(unknown),
  createOAuthFetch: () => auth.createOAuthFetch(unknown),
  createOAuthMiddleware: () => auth.createOAuthMiddleware({ oauth, ...unknownOption }),
  createSimpleTokenProvider: () => auth.createSimpleTokenProvider('token', unknown),
  createStaticTokenValidator: () => auth.createStaticTokenValidator([{ token: 'token', ...unknownOption }]),
  createWebOAuth: () => auth.createWebOAuth({ oauth, ...unknownOption }),
  expressOAuth: () => auth.expressOAuth({ oauth, ...unknownOption }),
  honoOAuth: () => auth.honoOAuth({ oauth, ...unknownOption }),
  finishAuthorization: () => auth.finishAuthorization(unknown),
  generateProtectedResourceMetadata: () => auth.generateProtectedResourceMetadata(unknown),
  generateWWWAuthenticateHeader: () => auth.generateWWWAuthenticateHeader(unknown),
};

/** Classes with the methods of a contract, which the server, the client or the OAuth functions call. */
const contracts = [
  'FileOAuthStorage',
  'InMemoryEventStore',
  'InMemoryOAuthStorage',
  'InMemoryStore',
  'MCPOAuthClientProvider',
  'PostgresStore',
  'RedisStore',
  'SharedOAuthStorage',
];

const none = 'takes no options';
const handler = 'takes a handler';
const noConstructorOptions = 'its constructor takes no options';

/** Functions whose calls accept any option, each with the reason. */
const exempt: Record<string, string> = {
  InMemoryOAuthStorage: noConstructorOptions,
  InMemoryStore: noConstructorOptions,
  RemoteToolError: noConstructorOptions,
  extractBearerToken: none,
  fingerprintTool: none,
  getToolResult: none,
  urlElicitationRequired: none,
  timeLimit: 'takes limits by the names of tools',
  'MCPServer.use': 'takes a middleware, and rejects unknown hooks',
  'MCPServer.onClose': handler,
  'MCPServer.getSseTransport': none,
  'MCPServer.getSseHonoTransport': none,
  'MCPServer.getToolInfo': none,
  'MCPServer.toolActions.add': 'takes tools by name',
  'MCPServer.toolActions.remove': none,
  'MCPServer.toolActions.notifyListChanged': none,
  'MCPServer.resources.notifyUpdated': 'takes a resource of the protocol',
  'MCPServer.resources.notifyListChanged': none,
  'MCPServer.prompts.notifyListChanged': none,
  'MCPServer.elicitation.notifyComplete': 'takes a notification of the protocol',
  'MCPClient.setRoots': 'takes roots, and rejects unknown members of them',
  'MCPClient.toolsFromDefinitions': 'takes definitions of the protocol',
  'MCPClient.server': 'takes the name of a server; its methods pass their options to `callTool`',
  'MCPClient.getServerStderr': none,
  'MCPClient.reconnectServer': none,
  'MCPClient.resources.subscribe': none,
  'MCPClient.resources.unsubscribe': none,
  'MCPClient.resources.onUpdated': handler,
  'MCPClient.resources.onListChanged': handler,
  'MCPClient.prompts.onListChanged': handler,
  'MCPClient.tools.onListChanged': handler,
  'MCPClient.tools.onDefinitionsChanged': handler,
  'MCPClient.elicitation.onRequest': handler,
  'MCPClient.progress.onUpdate': handler,
};

/** Returns the functions of the objects that an instance has, such as `MCPClient.tasks.get`. */
function namesOfMembers(instance: object): string[] {
  return Object.entries(instance).flatMap(([member, value]: [string, unknown]) =>
    Object.entries((value ?? {}) as object).flatMap(([name, inner]) =>
      typeof inner === 'function' ? [`${instance.constructor.name}.${member}.${name}`] : [],
    ),
  );
}

describe('options of the public functions', () => {
  it('are checked by each function, or the function is listed as exempt', async () => {
    const pinned = await readPublicFunctions('@quiver/mcp', (entry) => import(entry));
    const functions = [...pinned, ...namesOfMembers(server), ...namesOfMembers(mcp)];
    const isListed = (name: string): boolean =>
      name in calls || name in exempt || contracts.some((contract) => name.startsWith(`${contract}.`));
    const missing = functions.filter((name) => !isListed(name));
    const removed = Object.keys(exempt).filter((name) => !functions.includes(name));
    expect({ missing, removed }).toEqual({ missing: [], removed: [] });
  });

  it.each(Object.entries(calls))('of %s are rejected if they are unknown', async (_name, call) => {
    const error: unknown = await (async () => call())().catch((thrown: unknown) => thrown);
    expect(isQuiverError(error) && error.message).toMatch(/ has no option 'unknownOption'\. Its options are: \w+/);
  });

  it('of requests to the client in a tool are rejected if they are unknown', async () => {
    const { content } = await mcp.callTool({ serverName: 'it', name: 'ask' });
    const [first] = content;
    const text = first?.type === 'text' ? first.text : '';
    const names = ['elicitation.sendRequest', 'sample', 'roots'];
    expect(text.split('\n')).toEqual(
      names.map((name) =>
        expect.stringContaining(`${name} has no option 'unknownOption'. Its options are: key, timeout`),
      ),
    );
  });
});

describe('an option with an object of the application', () => {
  const base = { name: 's', version: '1', tools: {} };
  const clientOf = (definition: object): MCPClient => new MCPClient({ servers: { a: definition as never } });
  it.each<[string, string, (value: never) => unknown]>([
    ['logger', 'a logger', (logger) => new MCPServer({ ...base, logger })],
    ['sharedStore', 'a shared store', (sharedStore) => new MCPServer({ ...base, sharedStore })],
    ['eventBus', 'an event bus', (eventBus) => new MCPServer({ ...base, eventBus })],
    ['authProvider', 'a provider of OAuth', (authProvider) => clientOf({ url: 'http://127.0.0.1:9', authProvider })],
    ['fetch', 'a function', (fetch) => clientOf({ url: 'http://127.0.0.1:9', fetch })],
    ['logger', 'a function', (logger) => clientOf({ command: 'x', logger })],
  ])('%s is refused when it is not %s', (option, expected, create) => {
    const values: unknown[] = [false, 'silent', {}, ...(expected === 'a function' ? [] : [() => {}])];
    for (const value of values)
      expect(() => create(value as never)).toThrow(new RegExp(`'${option}' must be ${expected}`));
  });
});
