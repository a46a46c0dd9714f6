import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { RequestContext } from '@quiver/core/request-context';
import { InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioClientTransport1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { McpServer } from '@modelcontextprotocol/server';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { errorOf } from '../../test/error-of.ts';
import { toolOf } from '../../test/servers/tool-of.ts';
import { certificate, certificateKey } from '../../test/servers/localhost-certificate.ts';
import * as scripted from '../../test/servers/scripted-server.ts';
import { exampleTools } from '../../test/servers/example-tools.ts';
import { createFullServer } from '../../test/servers/full-server.ts';
import { commandFor } from '../../test/programs/spawn-server.ts';
import { clientOf, pick } from '../../test/clients/client-of.ts';
import { captureLog } from '../../test/capture-log.ts';
import { MCPServer } from '../server/mcp-server.js';
import { MCPClient } from './mcp-client.js';
import type { LogMessage } from './config/handlers.js';
import type { Resource } from '../resource.js';
import type { HttpServerDefinition, MastraMCPServerDefinition } from './config/server-definition.js';

const full = createFullServer();
const example = new MCPServer({
  name: 'Example',
  version: '1',
  instructions: 'Be kind. '.repeat(100),
  tools: {
    ...exampleTools,
    seen: toolOf('seen', { inputSchema: z.object({}) }, async (_input, { mcp }) => ({ authInfo: mcp.extra?.authInfo })),
  },
});

const fullHttp = await full.listen();
const exampleHttp = await example.listen();
afterAll(async () => {
  await full.close();
  await example.close();
});

/** Transports to the full and to the example server. The stateless revision is requested by `protocol`. */
const transports: [name: string, full: MastraMCPServerDefinition, example: MastraMCPServerDefinition][] = [
  ['HTTP', { url: fullHttp.url, protocol: 'legacy' }, { url: exampleHttp.url, protocol: 'legacy' }],
  ['stdio', commandFor('full-stdio-server.ts'), commandFor('stdio-server.ts')],
  ['in process', { server: full }, { server: example }],
];
const setups = transports.flatMap(([name, ...definitions]) => [
  { name, definitions, isModern: false },
  {
    name: `${name}, stateless revision`,
    definitions: definitions.map((definition) => ({ ...definition, protocol: 'modern' })),
    isModern: true,
  },
]);

describe.each(setups)('$name', ({ name, definitions: [fullDefinition, exampleDefinition], isModern }) => {
  /** Only members of every definition are added. */
  const connectTo = (definition: object | undefined, extra: object): MCPClient =>
    clientOf({ it: { ...definition, ...extra } as MastraMCPServerDefinition });
  const connect = (extra: Partial<MastraMCPServerDefinition> = {}) => connectTo(fullDefinition, extra);

  // What no transport affects is tested without the processes of stdio.
  const isStdio = name.startsWith('stdio');

  test('resources and templates are listed by server and read', async () => {
    const mcp = connect();
    const { it } = await mcp.resources.list();
    expect(it?.map(({ uri }) => uri)).toContain('note://watched');
    expect((await mcp.resources.templates())['it']).toMatchObject([{ uriTemplate: 'user://{id}/profile{?lang}' }]);
    const text = await mcp.resources.read('it', 'note://watched');
    expect(text.contents[0]?.text).toBe('watched');
    expect((await mcp.resources.read('it', 'note://bytes')).contents[0]?.blob).toBe('AP8B');
    expect((await mcp.resources.read('it', 'user://7/profile')).contents[0]?.text).toBe('{"id":"7"}');
    const watched = it?.find(({ uri }) => uri === 'note://watched') as Resource;
    expect(await mcp.resources.read('it', watched)).toEqual(text);
    expect(await mcp.resources.readContent('it', watched)).toBe('watched');
    expect(await mcp.resources.readContent('it', 'note://bytes')).toEqual({
      data: Buffer.from([0, 255, 1]),
      mediaType: 'application/octet-stream',
    });
  });

  test.skipIf(isStdio)('every request of the server reaches `onMessage` as well as its handler', async () => {
    const events: string[] = [];
    const mcp = connect({
      onMessage: ({ method, params }, { serverName }) => {
        events.push(`${serverName} ${method} ${params === undefined}`);
        throw new Error('an error of the handler harms nothing');
      },
      sampling: async () => {
        events.push('sampling');
        return { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' };
      },
    });
    captureLog('error');
    await mcp.callTool({ serverName: 'it', name: 'sample' });
    expect(events).toEqual(['it sampling/createMessage false', 'sampling']);
  });

  test.skipIf(isStdio)('a resource that is not there is an error that names the operation and the reason', async () => {
    const mcp = connect();
    await expect(mcp.resources.read('it', 'note://nowhere')).rejects.toMatchObject({
      code: 'MCP_CLIENT_READ_RESOURCE_FAILED',
      details: { server: 'it', domain: 'MCP', reason: 'MCP_REQUEST_FAILED', rpcCode: -32602 },
    });
  });

  test('subscribed resources and changed lists are reported, and reports stop when asked', async () => {
    const mcp = connect();
    const heard: string[] = [];
    await mcp.resources.onUpdated('it', ({ uri }) => heard.push(uri));
    await mcp.resources.onListChanged('it', () => heard.push('resources'));
    await mcp.prompts.onListChanged('it', () => heard.push('prompts'));
    await mcp.tools.onListChanged('it', () => heard.push('tools'));
    await mcp.resources.subscribe('it', 'note://watched');
    await mcp.callTool({ serverName: 'it', name: 'change' });
    await expect.poll(() => heard.toSorted()).toEqual(['note://watched', 'prompts', 'resources', 'tools']);
    await mcp.resources.unsubscribe('it', 'note://watched');
    heard.length = 0;
    await mcp.callTool({ serverName: 'it', name: 'change' });
    await expect.poll(() => heard.toSorted()).toEqual(['prompts', 'resources', 'tools']);
  });

  test.skipIf(isStdio)('prompts are listed with their versions and filled with arguments of any type', async () => {
    const mcp = connect();
    const { it } = await mcp.prompts.list();
    expect(it?.map(({ name, version }) => [name, version])).toContainEqual(['review', 'v2']);
    const { prompt, messages, _meta } = await mcp.prompts.get({
      serverName: 'it',
      name: 'review',
      args: { code: { lines: [1, 2] } },
      version: 'v2',
    });
    expect(prompt).toMatchObject({ name: 'review', version: 'v2' });
    expect(_meta).toMatchObject({ 'quiver/version': 'v2' });
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'v2: {"lines":[1,2]}' } }]);
    // Programs in JavaScript pass `null` as well.
    const { messages: all } = await mcp.prompts.get({ serverName: 'it', name: 'everything', args: null as never });
    expect(all.map(({ content }) => content.type)).toEqual(['text', 'image', 'audio', 'resource_link', 'resource']);
    await expect(mcp.prompts.get({ serverName: 'it', name: 'review' })).rejects.toThrow(
      errorOf('MCP_CLIENT_GET_PROMPT_FAILED'),
    );
  });

  test.skipIf(isStdio)('arguments are completed', async () => {
    const mcp = connect();
    const options = { serverName: 'it', argument: { name: 'code', value: 'x' }, context: { language: 'ts' } };
    expect(await mcp.complete({ ...options, ref: { type: 'prompt', name: 'review' } })).toMatchObject({
      values: ['code=x', 'ts'],
    });
    const uriTemplate = 'user://{id}/profile{?lang}';
    const { values } = await mcp.complete({
      serverName: 'it',
      ref: { type: 'resource', uriTemplate },
      argument: { name: 'lang', value: 'd' },
    });
    expect(values).toEqual([`${uriTemplate} lang d`]);
    // References as the protocol writes them.
    expect(await mcp.complete({ ...options, ref: { type: 'ref/prompt', name: 'review' } })).toMatchObject({
      values: ['code=x', 'ts'],
    });
    const template = { type: 'ref/resource', uri: uriTemplate } as const;
    const argument = { name: 'lang', value: 'd' };
    expect(await mcp.complete({ serverName: 'it', ref: template, argument })).toMatchObject({ values });
    const unknown = mcp.complete({ ...options, ref: { type: 'tool', name: 'review' } as never });
    await expect(unknown).rejects.toThrow("Set its `type` to 'prompt' or 'resource'");
  });

  test('passes elicitation requests to the handler, with the name of the server', async () => {
    const mcp = connectTo(exampleDefinition, {});
    const asked: string[] = [];
    await mcp.elicitation.onRequest('it', async ({ message, serverName, mode, requestedSchema }) => {
      asked.push(`${serverName} ${mode}: ${message} ${Object.keys(requestedSchema.properties).join()}`);
      return message.includes('old')
        ? { action: 'accept', content: { age: 36 } }
        : { action: 'accept', content: { name: 'Ada' } };
    });
    const contact = pick(await mcp.listTools(), 'it_contact');
    expect(await contact.execute({ greeting: 'Hi' })).toMatchObject({ content: [{ text: 'Hi Ada, 36' }] });
    expect(asked).toEqual(['it form: What is your name? name', 'it form: How old are you? age']);
  });

  test.skipIf(isStdio)('rejects a failed elicitation inside the tool, with the code of the failure', async () => {
    const logged: string[] = [];
    const logger = ({ level, message }: LogMessage): void => void (level === 'error' && logged.push(message));
    const mcp = connectTo(exampleDefinition, { logger });
    const call = async (): Promise<unknown> =>
      (await mcp.callTool({ serverName: 'it', name: 'contact', args: {} })).content;
    expect(await call()).toMatchObject([{ text: 'could not ask: ELICITATION_NOT_SUPPORTED' }]);
    await mcp.elicitation.onRequest('it', () => Promise.reject(new Error('no terminal')));
    expect(await call()).toMatchObject([{ text: 'could not ask: ELICITATION_FAILED' }]);
    expect(logged).toEqual([expect.stringContaining('no terminal')]);
    await mcp.elicitation.onRequest('it', async () => ({ action: 'accept', content: { name: 7 } }));
    expect(await call()).toMatchObject([{ text: 'could not ask: ELICITATION_ANSWER_INVALID' }]);
    // A failure after a round with a response.
    await mcp.elicitation.onRequest('it', async ({ message }) => {
      if (message.includes('old')) throw new Error('no terminal');
      return { action: 'accept', content: { name: 'Ada' } };
    });
    expect(await call()).toMatchObject([{ text: 'could not ask: ELICITATION_FAILED' }]);
    await mcp.elicitation.onRequest('it', async () => ({ action: 'decline' }));
    expect(await call()).toMatchObject([{ text: 'no name: decline' }]);
  });

  test.skipIf(isStdio)('the model of the client answers, within its limits', async () => {
    const seen: unknown[] = [];
    const model = {
      specificationVersion: 'v3',
      provider: 'test',
      modelId: 'parrot',
      doGenerate: async (options: unknown) => {
        seen.push(options);
        return { content: [{ type: 'text', text: 'Paris' }], finishReason: { unified: 'stop' } };
      },
      doStream: () => Promise.reject(new Error('not used')),
    };
    const mcp = connect({ sampling: { model, maxTokens: 5, approve: ({ serverName }) => serverName === 'it' } });
    expect(await mcp.callTool({ serverName: 'it', name: 'sample' })).toMatchObject({
      content: [{ text: 'parrot: Paris' }],
    });
    expect(seen).toMatchObject([
      { maxOutputTokens: 5, prompt: [{ role: 'user', content: [{ type: 'text', text: 'Capital of France?' }] }] },
    ]);
  });

  test.skipIf(isStdio)('sends the roots, also after they change', async () => {
    const mcp = connect({ roots: [{ uri: 'file:///a' }] });
    const ask = async (): Promise<unknown> => (await mcp.callTool({ serverName: 'it', name: 'roots' })).content;
    expect(await ask()).toMatchObject([{ text: '["file:///a"]' }]);
    await mcp.setRoots('it', [{ uri: 'file:///b', name: 'B' }]);
    expect(await ask()).toMatchObject([{ text: '["file:///b"]' }]);
  });

  test.skipIf(isStdio)('only pages that are safe to open reach the handler', async () => {
    const mcp = connect({ capabilities: { elicitation: { form: {}, url: {} } } });
    const urls: unknown[] = [];
    await mcp.elicitation.onRequest('it', async ({ mode, url }) => {
      urls.push([mode, url]);
      return { action: 'accept' };
    });
    expect(await mcp.callTool({ serverName: 'it', name: 'visit', args: {} })).toMatchObject({
      content: [{ text: 'accept' }],
    });
    const refused = await mcp
      .callTool({ serverName: 'it', name: 'visit', args: { url: 'http://evil.example/login' } })
      .catch((error: unknown) => ({ isError: true, thrown: (error as Error).message }));
    expect(refused).toMatchObject({ isError: true });
    expect(urls).toEqual([['url', 'https://example.com/pay']]);
  });

  test('progress carries the id of the run, logs reach the handler', async () => {
    const logs: string[] = [];
    const log = ({ level, message }: LogMessage) => logs.push(`${level} ${message}`);
    const mcp = connectTo(exampleDefinition, { log });
    const updates: unknown[] = [];
    await mcp.progress.onUpdate('it', (update) => updates.push(update));
    const steps = pick(await mcp.listTools(), 'it_steps');
    await steps.execute({}, { runId: 'run-1' });
    const reports = (token: unknown): object[] => [
      { progressToken: token, progress: 1, total: 2, message: 'half' },
      { progressToken: token, progress: 2, total: 2 },
    ];
    await expect.poll(() => updates).toEqual(reports('run-1'));
    expect(logs).toContain('info [it] working');
    updates.length = 0;
    const own: unknown[] = [];
    await Promise.all([
      mcp.callTool({ serverName: 'it', name: 'steps', runId: 'same', onProgress: (update) => own.push(update) }),
      mcp.callTool({ serverName: 'it', name: 'steps', runId: 'same' }),
    ]);
    expect(own).toEqual(reports('same'));
    await expect.poll(() => updates).toHaveLength(4);
    expect(updates).toEqual(expect.arrayContaining(reports('same#2')));
  });

  test.skipIf(isStdio)('requests no progress without progress tracking', async () => {
    const mcp = connectTo(exampleDefinition, { enableProgressTracking: false });
    const updates: unknown[] = [];
    await mcp.progress.onUpdate('it', (update) => updates.push(update));
    await mcp.callTool({ serverName: 'it', name: 'steps' });
    expect(updates).toEqual([]);
  });

  test('the state of the connection can be asked', async () => {
    const mcp = connect();
    expect(mcp.status()).toEqual({ it: { state: 'idle' } });
    await mcp.listTools();
    expect(mcp.status()['it']).toMatchObject({
      state: 'ready',
      serverInfo: { name: 'Full', version: '1.0.0' },
      protocolVersion: isModern ? '2026-07-28' : '2025-11-25',
      capabilities: { tools: {} },
    });
    await mcp.disconnect();
    expect(mcp.status()).toEqual({ it: { state: 'idle' } });
  });
});

test('the request context of a call reaches headers, fetch and _meta, and no other call', async () => {
  const seen: string[] = [];
  const fetchAs = async (url: string | URL, init?: RequestInit, requestContext?: RequestContext): Promise<Response> => {
    const { method, params } = JSON.parse(typeof init?.body === 'string' ? init.body : '{}') as {
      method?: string;
      params?: { arguments?: { message?: string }; _meta?: { tenant?: string } };
    };
    const token = new Headers(init?.headers).get('x-user');
    if (method === 'tools/call')
      seen.push(`${params?.arguments?.message} ${token} ${requestContext?.get('user')} ${params?._meta?.tenant}`);
    else if (method !== undefined) seen.push(`${method} ${token}`);
    return fetch(url, init);
  };
  const mcp = clientOf({
    it: {
      url: exampleHttp.url,
      protocol: 'legacy',
      fetch: fetchAs,
      headers: ({ requestContext }) => ({ 'x-user': String(requestContext?.get('user') ?? 'nobody') }),
      requestMeta: ({ requestContext }) => ({ tenant: String(requestContext.get('user')) }),
    },
  });
  // The first call also connects; the connection belongs to no caller.
  const tools = mcp.toolsFromDefinitions({ it: [{ name: 'echo', inputSchema: { type: 'object' } }] });
  await Promise.all(
    ['ada', 'bob', 'eve'].map((user) =>
      pick(tools, 'it_echo').execute({ message: user }, { requestContext: new RequestContext([['user', user]]) }),
    ),
  );
  expect(seen.filter((line) => line.split(' ').length === 4).toSorted()).toEqual([
    'ada ada ada ada',
    'bob bob bob bob',
    'eve eve eve eve',
  ]);
  expect(seen).toContain('initialize nobody');
  expect(seen).toContain('notifications/initialized nobody');
});

test('every notification of the server reaches `onMessage` after its handler', async () => {
  const events: string[] = [];
  const { url } = await scripted.startScripted({
    'tools/call': scripted.stream((response, { id }) => {
      response.write(scripted.event(scripted.changed));
      response.write(scripted.event({ jsonrpc: '2.0', method: 'notifications/custom', params: { a: 1 } }));
      response.end(scripted.event({ jsonrpc: '2.0', id, result: { content: [] } }));
    }),
  });
  const mcp = clientOf({
    it: {
      url,
      protocol: 'legacy',
      onMessage: ({ method, params }) => events.push(`${method} ${JSON.stringify(params)}`),
    },
  });
  await mcp.tools.onListChanged('it', () => events.push('handler'));
  await mcp.callTool({ serverName: 'it', name: 'go' });
  expect(events).toEqual(['handler', 'notifications/tools/list_changed undefined', 'notifications/custom {"a":1}']);
});

test.for(['legacy', 'modern'] as const)(
  'the clientInfo of a server replaces that of the client (%s)',
  async (protocol) => {
    const script = { ...(protocol === 'modern' && { 'server/discover': scripted.result(scripted.discovered) }) };
    const [one, other, default_] = [
      await scripted.startScripted(script),
      await scripted.startScripted(script),
      await scripted.startScripted(script),
    ];
    const mcp = clientOf(
      {
        one: { url: one.url, protocol },
        other: { url: other.url, protocol, clientInfo: { name: 'other', version: '3', title: 'Other' } },
      },
      { clientInfo: { name: 'app', version: '2' } },
    );
    const plain = clientOf({ it: { url: default_.url, protocol } });
    await mcp.listTools();
    await plain.listTools();
    const received = ({ heard }: typeof one): unknown => {
      const params = heard.find(({ name }) => name === (protocol === 'modern' ? 'tools/list' : 'initialize'))?.params;
      const meta = params?.['_meta'] as Record<string, unknown> | undefined;
      return protocol === 'modern' ? meta?.['io.modelcontextprotocol/clientInfo'] : params?.['clientInfo'];
    };
    expect(received(one)).toEqual({ name: 'app', version: '2' });
    expect(received(other)).toEqual({ name: 'other', version: '3', title: 'Other' });
    expect(received(default_)).toMatchObject({ name: 'quiver' });
  },
);

describe('transports of the application', () => {
  const { command, args } = commandFor('sdk1-server.ts', 'stdio');

  test.for([
    ['SDK 1, stdio', () => new StdioClientTransport1({ command, args })],
    ['SDK 2, HTTP', () => new StreamableHTTPClientTransport(new URL(exampleHttp.url))],
  ] as const)('%s: tools are listed and called', async ([, createTransport]) => {
    const mcp = clientOf({ it: createTransport(), timed: { server: createTransport(), timeout: 5000 } });
    expect(Object.keys(await mcp.listTools())).toEqual(expect.arrayContaining(['it_add', 'timed_add']));
    expect(await mcp.callTool({ serverName: 'it', name: 'add', args: { a: 1, b: 2 } })).toMatchObject({
      structuredContent: { sum: 3 },
    });
    expect(mcp.status()['it']).toMatchObject({ state: 'ready', transport: 'custom' });
  });

  test('a closed transport is a lost connection', async () => {
    const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
    await createSdkServer().connect(serverSide);
    const mcp = clientOf({ it: clientSide });
    await mcp.callTool({ serverName: 'it', name: 'hello' });
    await serverSide.close();
    expect(mcp.status()['it']?.state).toBe('idle');
    await expect(mcp.callTool({ serverName: 'it', name: 'hello' })).rejects.toThrow(
      errorOf('MCP_CLIENT_TOOL_EXECUTION_FAILED'),
    );
  });

  function createSdkServer(): McpServer {
    const server = new McpServer({ name: 'sdk', version: '1' });
    server.registerTool('hello', {}, async () => ({ content: [{ type: 'text', text: 'hi' }] }));
    return server;
  }
});

describe('tls', () => {
  test('a server with a private certificate is reached with `ca` or without verification, in both eras', async () => {
    const https = createServer({ key: certificateKey, cert: certificate }, (req, res) => {
      void example.startHTTP({ url: new URL(req.url as string, 'https://localhost'), httpPath: '/mcp', req, res });
    });
    await new Promise<void>((resolve) => https.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void https.close());
    const url = `https://localhost:${(https.address() as AddressInfo).port}/mcp`;
    const mcp = clientOf({
      trusted: { url, tls: { ca: certificate } },
      bytes: { url, tls: { ca: [new TextEncoder().encode(certificate)] }, protocol: 'legacy' },
      unverified: { url, tls: { rejectUnauthorized: false } },
      untrusted: { url },
    });
    const { tools, errors } = await mcp.listToolsWithErrors();
    expect(Object.keys(tools)).toEqual(expect.arrayContaining(['trusted_add', 'bytes_add', 'unverified_add']));
    expect(errors).toEqual({ untrusted: expect.stringContaining('self-signed certificate') });
  });

  test('is refused together with `fetch`', () => {
    const definition = { url: 'https://localhost', tls: {}, fetch: globalThis.fetch };
    expect(() => new MCPClient({ servers: { it: definition } })).toThrow(errorOf('OPTIONS_INVALID', '`tls`'));
  });
});

test('a logger receives events of the client, with the request context of tool calls', async () => {
  const messages: LogMessage[] = [];
  const { url } = exampleHttp;
  const mcp = clientOf({
    it: { url, protocol: 'modern', logger: (message) => messages.push(message), enableServerLogs: false },
    down: { url: 'http://127.0.0.1:1/mcp', logger: (message) => messages.push(message) },
  });
  const requestContext = new RequestContext();
  const { tools } = await mcp.listToolsWithErrors();
  await tools['it_add']?.execute({ a: 1, b: 2 }, { requestContext, runId: 'run-1' });
  await mcp.callTool({ serverName: 'it', name: 'add', args: { a: 'x' }, requestContext, runId: 'run-2' });
  await mcp.callTool({ serverName: 'down', name: 'add' }).catch(() => {});
  await mcp.disconnect();
  const of = (server: string): LogMessage[] => messages.filter(({ serverName }) => serverName === server);
  expect(of('it').map(({ level, message }) => `${level} ${message}`)).toEqual([
    'debug [it] Connected: transport http, protocol version 2026-07-28.',
    "debug [it] Calling tool 'add'.",
    "debug [it] Tool 'add' returned.",
    "debug [it] Calling tool 'add'.",
    "warning [it] Tool 'add' returned an error.",
    'debug [it] Disconnected.',
  ]);
  expect(of('it')[1]?.requestContext).toBe(requestContext);
  expect(of('it')[1]?.details).toEqual({ toolName: 'add', runId: 'run-1' });
  expect(of('it')[4]).toMatchObject({ requestContext, details: { runId: 'run-2' } });
  // A second attempt to connect depends on the time that has passed.
  expect([...new Set(of('down').map(({ level, message }) => `${level} ${message}`))]).toEqual([
    expect.stringMatching(/^error \[down\] Could not connect to MCP server 'down'/),
    "debug [down] Calling tool 'add'.",
    expect.stringMatching(/^error \[down\] Tool 'add' failed: Could not connect/),
  ]);
});

describe('other things', () => {
  test('instructions are cut to a length', async () => {
    const mcp = clientOf({ it: { server: example }, full: { server: full } });
    const instructions = await mcp.getServerInstructions({ maxLength: 20 });
    expect(instructions).toEqual({ it: 'Be kind. Be kind. Be' });
  });

  test('instructions of the servers that are included become text for a model', async () => {
    const included = { server: example, includeInstructions: true };
    const mcp = clientOf({ a: included, b: included, c: { server: example } });
    expect(await mcp.getInstructions({ maxLength: 8 })).toBe(
      "Instructions of the MCP server 'a':\nBe kind.\n\nInstructions of the MCP server 'b':\nBe kind.",
    );
    const none = clientOf({ c: { server: example } });
    expect(await none.getInstructions()).toBeUndefined();
    expect(none.status()['c']?.state).toBe('idle');
  });

  test('each list can be cached or not', async () => {
    const methods: string[] = [];
    const fetch: HttpServerDefinition['fetch'] = (url, init) => {
      if (typeof init?.body === 'string') methods.push((JSON.parse(init.body) as { method: string }).method);
      return globalThis.fetch(url, init);
    };
    const mcp = clientOf({ it: { url: fullHttp.url, protocol: 'legacy', fetch, cache: { resources: false } } });
    for (const _ of [1, 2]) {
      await mcp.listTools();
      await mcp.resources.list();
      await mcp.prompts.list();
    }
    const count = (method: string): number => methods.filter((sent) => sent === method).length;
    expect(['tools/list', 'resources/list', 'prompts/list'].map(count)).toEqual([1, 2, 1]);
  });

  test('an unknown server is named in the error', async () => {
    const mcp = clientOf({ it: { server: full } });
    await expect(mcp.resources.read('nobody', 'note://x')).rejects.toThrow(
      errorOf('MCP_CLIENT_READ_RESOURCE_FAILED', 'Server configuration not found for name: nobody'),
    );
    await expect(mcp.elicitation.onRequest('nobody', async () => ({ action: 'cancel' }))).rejects.toThrow(
      errorOf('MCP_CLIENT_ON_REQUEST_ELICITATION_FAILED'),
    );
  });
});
