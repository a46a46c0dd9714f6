import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  acceptedContent,
  completable,
  createMcpHandler,
  inputRequired,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createRemoteServer } from '../../../test/clients/remote-server.ts';
import { outcomeOf } from '../../../test/clients/sdk-subject.ts';
import { defaultClientInfo } from '../config/client-info.js';

// With a server of the SDK, version 2, that speaks 2026-07-28, this client returns the results and errors that the SDK's client
// returns, and the server receives the same requests: bodies and protocol headers.

type Params = Record<string, unknown>;

const schema = z.object({ name: z.string() });

function createServer(): McpServer {
  const server = new McpServer({ name: 'features', version: '1' }, { capabilities: { logging: {} } });
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
  server.registerResource('a', 'note://a', { title: 'A', mimeType: 'text/plain' }, async ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'text', _meta: { own: 1 } }],
    _meta: { etag: 'x' },
  }));
  server.registerResource('bytes', 'note://bytes', {}, async ({ href }) => ({
    contents: [{ uri: href, blob: 'AAE=' }],
  }));
  const complete = { id: (value: string) => ['ada', 'alan'].filter((id) => id.startsWith(value)) };
  const template = new ResourceTemplate('user://{id}', { list: undefined, complete });
  server.registerResource('user', template, { title: 'User' }, async ({ href }, { id }) => ({
    contents: [{ uri: href, text: String(id) }],
  }));
  const argsSchema = z.object({ code: completable(z.string(), (value) => [`${value}1`, `${value}2`]) });
  server.registerPrompt('review', { title: 'Review', argsSchema }, async ({ code }) => ({
    description: 'd',
    messages: [{ role: 'user', content: { type: 'text', text: `Review ${code}` } }],
  }));
  server.registerTool('echo', { title: 'Echo', inputSchema: schema, outputSchema: schema }, async ({ name }) => ({
    ...text(name),
    structuredContent: { name },
    _meta: { own: 1 },
  }));
  server.registerTool('fail', {}, async () => Promise.reject(new Error('the disk is full')));
  server.registerTool('ask', {}, async (context) => {
    const { inputResponses } = context.mcpReq;
    const given = inputResponses as Record<string, { action?: string }> | undefined;
    if (given === undefined) {
      const elicit = inputRequired.elicit({ message: 'Name?', requestedSchema: schema });
      return inputRequired({ inputRequests: { name: elicit }, requestState: 'round 1' });
    }
    return text(acceptedContent<{ name: string }>(given, 'name')?.name ?? String(given['name']?.action));
  });
  server.registerTool('visit', {}, async ({ mcpReq }) => {
    if (mcpReq.inputResponses !== undefined) return { content: [], structuredContent: { ...mcpReq.inputResponses } };
    const page = inputRequired.elicitUrl({ message: 'Pay', url: 'https://example.com/pay' });
    return inputRequired({ inputRequests: { page } });
  });
  server.registerTool('sample', {}, async ({ mcpReq }) => {
    if (mcpReq.inputResponses !== undefined) return { content: [], structuredContent: { ...mcpReq.inputResponses } };
    const content = { type: 'text' as const, text: 'Capital of France?' };
    const message = inputRequired.createMessage({ messages: [{ role: 'user', content }], maxTokens: 9 });
    return inputRequired({ inputRequests: { message } });
  });
  server.registerTool('steps', {}, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined)
      for (const progress of [1, 2])
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 2 } });
    return text('done');
  });
  return server;
}

interface Scenario {
  readonly request: readonly [method: string, params: Params];
  readonly respond?: (params: Params) => object;
}

const read = (uri: string): Scenario => ({ request: ['resources/read', { uri }] });
const call = (name: string, args?: Params, respond?: Scenario['respond']): Scenario => ({
  request: ['tools/call', { name, ...(args && { arguments: args }) }],
  ...(respond && { respond }),
});
const complete = (ref: object, name: string, value: string): Scenario => ({
  request: ['completion/complete', { ref, argument: { name, value } }],
});
const completion = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Paris' }, stopReason: 'endTurn' };

const scenarios: Record<string, Scenario> = {
  'lists tools': { request: ['tools/list', {}] },
  'lists resources': { request: ['resources/list', {}] },
  'lists resource templates': { request: ['resources/templates/list', {}] },
  'lists prompts': { request: ['prompts/list', {}] },
  'reads a text': read('note://a'),
  'reads bytes': read('note://bytes'),
  'reads a resource of a template': read('user://ada'),
  'reads an unknown resource': read('note://none'),
  'gets a prompt': { request: ['prompts/get', { name: 'review', arguments: { code: 'x' } }] },
  'gets a prompt without a required argument': { request: ['prompts/get', { name: 'review', arguments: {} }] },
  'gets an unknown prompt': { request: ['prompts/get', { name: 'none' }] },
  'completes an argument of a prompt': complete({ type: 'ref/prompt', name: 'review' }, 'code', 'x'),
  'completes a variable of a template': complete({ type: 'ref/resource', uri: 'user://{id}' }, 'id', 'a'),
  'calls a tool': call('echo', { name: 'Ada' }),
  'calls a tool with a name beyond ASCII': call('écho', { name: 'Ada' }),
  'calls a tool with invalid arguments': call('echo', { name: 1 }),
  'calls a tool that throws': call('fail'),
  'calls an unknown tool': call('none'),
  'accepts a form': call('ask', {}, () => ({ action: 'accept', content: { name: 'Ada' } })),
  'declines a form': call('ask', {}, () => ({ action: 'decline' })),
  'cancels a form': call('ask', {}, () => ({ action: 'cancel' })),
  'accepts a URL': call('visit', {}, () => ({ action: 'accept' })),
  'samples a message': call('sample', {}, () => completion),
  'reports progress': { request: ['tools/call', { name: 'steps', _meta: { progressToken: 'p' } }] },
};

interface Subject {
  request(request: Scenario['request']): Promise<unknown>;
  close(): Promise<unknown>;
}

interface Application {
  respond(params: Params): object;
  notify(params: Params): void;
}

const capabilities = { elicitation: { form: {}, url: {} }, sampling: {} };
const url = 'http://localhost/mcp';

const subjects: Record<'sdk' | 'engine', (send: typeof fetch, application: Application) => Subject> = {
  sdk: (send, { respond, notify }) => {
    const versionNegotiation = { mode: { pin: '2026-07-28' } };
    const client = new Client(defaultClientInfo, { capabilities, versionNegotiation });
    for (const method of ['elicitation/create', 'sampling/createMessage'] as const)
      client.setRequestHandler(method as 'elicitation/create', async ({ params }) => respond(params) as never);
    client.setNotificationHandler('notifications/progress', ({ params }) => notify(params));
    let connected: Promise<void> | undefined;
    return {
      request: async ([method, params]) => {
        await (connected ??= client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: send })));
        return client.request({ method, params } as never);
      },
      close: () => client.close(),
    };
  },
  // Without tasks, which the SDK's client does not support.
  engine: (send, { respond, notify }) => {
    const server = createRemoteServer({ url, protocol: 'modern', capabilities, tasks: false, fetch: send }, 20_000);
    // Handlers receive the server in addition, and every elicitation has a schema.
    const withoutServer = (params: Params): Params => {
      const { serverName: _, requestedSchema, ...rest } = params;
      return { ...rest, ...(requestedSchema !== undefined && params['mode'] !== 'url' && { requestedSchema }) };
    };
    server.handlers.elicitation = (params) => respond(withoutServer({ ...params })) as never;
    server.handlers.sampling = (params) => respond(withoutServer({ ...params })) as never;
    server.handlers.onProgress = (update) => notify({ ...update });
    return {
      request: ([method, params]) => server.request((engine, options) => engine.request(method, params, options)),
      close: () => server.disconnect(),
    };
  },
};

interface Observed {
  readonly outcome: unknown;
  readonly asked: Params[];
  readonly notifications: Params[];
  readonly heard: object[];
}

/** Plays all scenarios, one after another, over one connection. */
async function play(kind: keyof typeof subjects): Promise<Record<string, Observed>> {
  const handler = createMcpHandler(() => createServer());
  let asked: Params[] = [];
  let notifications: Params[] = [];
  let heard: object[] = [];
  let respond: Scenario['respond'];
  const send: typeof fetch = async (to, init) => {
    const request = new Request(to, init);
    const { id: _, ...message } = (await request.clone().json()) as Params;
    const headers = [...request.headers].filter(([name]) => name.startsWith('mcp-'));
    heard.push({ ...message, headers: Object.fromEntries(headers) });
    return handler.fetch(request);
  };
  const subject = subjects[kind](send, {
    respond: (params) => {
      asked.push(params);
      return respond?.(params) ?? {};
    },
    notify: (params) => void notifications.push(params),
  });
  const observed: Record<string, Observed> = {};
  for (const [name, scenario] of Object.entries(scenarios)) {
    [asked, notifications, heard] = [[], [], []];
    ({ respond } = scenario);
    observed[name] = { outcome: await outcomeOf(subject.request(scenario.request)), asked, notifications, heard };
  }
  await subject.close();
  return observed;
}

let sdk: Record<string, Observed>;
let engine: Record<string, Observed>;
beforeAll(async () => {
  [sdk, engine] = [await play('sdk'), await play('engine')];
});

test.each(Object.keys(scenarios))('%s', (name) => {
  expect(sdk[name]?.heard.length).toBeGreaterThan(0);
  expect(engine[name]).toEqual(sdk[name]);
});
