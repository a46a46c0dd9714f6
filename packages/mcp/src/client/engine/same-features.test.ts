import { Client as Client2, StreamableHTTPClientTransport as HttpTransport2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioTransport2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioTransport1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpTransport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  CompleteResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  EmptyResultSchema,
  GetPromptResultSchema,
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ProgressNotificationSchema,
  ReadResourceResultSchema,
  ResourceUpdatedNotificationSchema,
  type ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { createSimpleTokenProvider } from '@quiver/mcp/auth';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startRecordingServer } from '../../../test/programs/recording-server.ts';
import { createRemoteServer } from '../../../test/clients/remote-server.ts';
import { outcomeOf } from '../../../test/clients/sdk-subject.ts';
import { commandFor } from '../../../test/programs/spawn-server.ts';
import { defaultClientInfo } from '../config/client-info.js';

// With a server of the SDK, this client returns the results and errors that the SDK's clients (versions 1 and 2) return, and the
// server receives the same messages.

type Params = Record<string, unknown>;
type Request = readonly [method: string, params: Params];

interface Scenario {
  readonly requests: readonly Request[];
  /** Handler of the application for requests of the server. */
  readonly respond?: (params: Params) => object;
}

const note = { uri: 'note://a' };
const ask = (method: string, params: Params): Request => ['tools/call', { name: 'ask', arguments: { method, params } }];
const form = { message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
const url = { mode: 'url', message: 'Pay', url: 'https://example.com/pay', elicitationId: '1' };
const elicit = (params: Params, respond: () => object): Scenario => ({
  requests: [ask('elicitation/create', params)],
  respond,
});
const fail = (): never => {
  throw new Error('the user has left');
};
const prompt = { messages: [{ role: 'user', content: { type: 'text', text: 'Capital of France?' } }], maxTokens: 9 };
const completion = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Paris' }, stopReason: 'endTurn' };

const scenarios: Record<string, Scenario> = {
  'lists resources in pages': {
    requests: [
      ['resources/list', {}],
      ['resources/list', { cursor: 'more' }],
    ],
  },
  'lists resource templates': { requests: [['resources/templates/list', {}]] },
  'reads a resource': { requests: [['resources/read', note]] },
  'reads an unknown resource': { requests: [['resources/read', { uri: 'note://none' }]] },
  'subscribes and unsubscribes': {
    requests: [
      ['resources/subscribe', note],
      ['resources/unsubscribe', note],
    ],
  },
  'lists prompts': { requests: [['prompts/list', {}]] },
  'gets a prompt': { requests: [['prompts/get', { name: 'review', arguments: { code: 'x' } }]] },
  'gets an unknown prompt': { requests: [['prompts/get', { name: 'none' }]] },
  'completes an argument': {
    requests: [
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'review' }, argument: { name: 'code', value: '' } }],
    ],
  },
  'reports the error of a tool call': { requests: [['tools/call', { name: 'fail' }]] },
  'accepts a form': elicit(form, () => ({ action: 'accept', content: { name: 'Ada' } })),
  'declines a form': elicit(form, () => ({ action: 'decline' })),
  'cancels a form': elicit(form, () => ({ action: 'cancel' })),
  'fails to fill in a form': elicit(form, fail),
  'accepts a URL': elicit(url, () => ({ action: 'accept' })),
  'declines a URL': elicit(url, () => ({ action: 'decline' })),
  'cancels a URL': elicit(url, () => ({ action: 'cancel' })),
  'samples a message': { requests: [ask('sampling/createMessage', prompt)], respond: () => completion },
  'fails to sample a message': { requests: [ask('sampling/createMessage', prompt)], respond: fail },
  'rejects a request without a handler': { requests: [ask('roots/list', {})] },
};

/** Deliberate differences from a client of the SDK. */
const differences: Partial<Record<string, string>> = {
  'sdk1: lists prompts': 'the titles of arguments are kept',
  'sdk2: lists prompts': 'the titles of arguments are kept',
  'sdk2: reads an unknown resource': 'the error code of the server is kept',
};

type Target = { readonly url: string; readonly token?: string } | { readonly command: string; readonly args: string[] };

interface Subject {
  request(request: Request): Promise<unknown>;
  close(): Promise<unknown>;
}

interface Application {
  respond(params: Params): object;
  notify(params: Params): void;
}

const capabilities = { elicitation: { form: {}, url: {} }, sampling: {} };

const providerOf = (token: string) => {
  const redirectUrl = 'http://localhost:3000/callback';
  return createSimpleTokenProvider(token, { redirectUrl, clientMetadata: { redirect_uris: [redirectUrl] } });
};

/** Schemas of results by method, which version 2 of the SDK selects itself. */
const resultSchemas: Record<string, typeof ResultSchema> = {
  'resources/list': ListResourcesResultSchema,
  'resources/templates/list': ListResourceTemplatesResultSchema,
  'resources/read': ReadResourceResultSchema,
  'prompts/list': ListPromptsResultSchema,
  'prompts/get': GetPromptResultSchema,
  'completion/complete': CompleteResultSchema,
  'tools/call': CallToolResultSchema,
};

const subjects: Record<'sdk1' | 'sdk2' | 'engine', (target: Target, application: Application) => Subject> = {
  sdk1: (target, { respond, notify }) => {
    const client = new Client1(defaultClientInfo, { capabilities });
    for (const schema of [ElicitRequestSchema, CreateMessageRequestSchema])
      client.setRequestHandler(schema as typeof ElicitRequestSchema, async ({ params }) => respond(params));
    for (const schema of [ResourceUpdatedNotificationSchema, ProgressNotificationSchema])
      client.setNotificationHandler(schema as typeof ProgressNotificationSchema, ({ params }) => notify(params));
    const transport =
      'url' in target
        ? new HttpTransport1(
            new URL(target.url),
            target.token === undefined ? {} : { authProvider: providerOf(target.token) },
          )
        : new StdioTransport1(target);
    const connect = () => client.connect(transport as Parameters<Client1['connect']>[0]);
    return toSubject(client, connect, ([method, params]) => {
      const schema = resultSchemas[method] ?? EmptyResultSchema;
      return client.request({ method, params } as Parameters<Client1['request']>[0], schema);
    });
  },
  sdk2: (target, { respond, notify }) => {
    const client = new Client2(defaultClientInfo, { capabilities });
    for (const method of ['elicitation/create', 'sampling/createMessage'] as const)
      client.setRequestHandler(method as 'elicitation/create', async ({ params }) => respond(params) as never);
    for (const method of ['notifications/resources/updated', 'notifications/progress'] as const)
      client.setNotificationHandler(method, ({ params }) => notify(params));
    const transport =
      'url' in target
        ? new HttpTransport2(
            new URL(target.url),
            target.token === undefined ? {} : { authProvider: providerOf(target.token) },
          )
        : new StdioTransport2(target);
    const connect = () => client.connect(transport);
    return toSubject(client, connect, ([method, params]) => client.request({ method, params } as never));
  },
  engine: (target, { respond, notify }) => {
    const common = { protocol: 'legacy', capabilities } as const;
    const http = (given: { url: string; token?: string }) => ({
      url: given.url,
      ...(given.token !== undefined && { authProvider: providerOf(given.token) }),
    });
    const server = createRemoteServer({ ...common, ...('url' in target ? http(target) : target) }, 20_000);
    server.handlers.elicitation = (params) => respond({ ...params }) as never;
    server.handlers.sampling = (params) => respond(params) as never;
    server.handlers.onResourceUpdated = notify;
    server.handlers.onProgress = (update) => notify({ ...update });
    return {
      request: ([method, params]) => server.request((engine, options) => engine.request(method, params, options)),
      close: () => server.disconnect(),
    };
  },
};

function toSubject(client: Client1 | Client2, connect: () => Promise<void>, send: Subject['request']): Subject {
  let connected: Promise<void> | undefined;
  return {
    request: async (request) => {
      connected ??= connect();
      await connected.catch((cause: unknown) => {
        throw Object.assign(new Error('connect', { cause }), { isConnect: true });
      });
      return send(request);
    },
    close: () => client.close(),
  };
}

interface Observed {
  readonly outcomes: unknown[];
  readonly notifications: unknown[];
  readonly heard: unknown[];
}

/** Plays all scenarios over one connection. */
async function play(target: Target, kind: keyof typeof subjects): Promise<Record<string, Observed>> {
  let respond: Scenario['respond'] = fail;
  let notifications: unknown[] = [];
  const subject = subjects[kind](target, {
    respond: (params) => respond?.(params) ?? {},
    notify: (params) => void notifications.push(params),
  });
  let known = 0;
  const observed: Record<string, Observed> = {};
  const run = async (requests: readonly Request[]): Promise<Observed> => {
    const outcomes: unknown[] = [];
    for (const request of requests) outcomes.push(await outcomeOf(subject.request(request)));
    const result = (await subject.request(['tools/call', { name: 'heard' }])) as { content: [{ text: string }] };
    const all = JSON.parse(result.content[0].text, withoutErrorText) as unknown[];
    const heard = all.slice(known);
    known = all.length;
    return { outcomes, heard, notifications: notifications.splice(0) };
  };
  try {
    observed['connects'] = await run([]);
    for (const [name, scenario] of Object.entries(scenarios)) {
      respond = scenario.respond;
      notifications = [];
      observed[name] = await run(scenario.requests);
    }
    return observed;
  } finally {
    await subject.close();
  }
}

/** The texts of errors that clients send differ. */
function withoutErrorText(key: string, value: unknown): unknown {
  return key === 'error' ? { code: (value as { code: number }).code } : value;
}

const kinds = ['sdk1', 'sdk2', 'engine'] as const;
const targets = ['HTTP', 'HTTP with a token', 'stdio'] as const;

describe.each(targets)('over %s', (over) => {
  const observed: Partial<Record<(typeof kinds)[number], Record<string, Observed>>> = {};
  const requests: unknown[] = [];

  beforeAll(async () => {
    for (const kind of kinds) {
      if (over === 'stdio') observed[kind] = await play(commandFor('recording-server.ts', 'stdio'), kind);
      else {
        const token = over === 'HTTP' ? undefined : 'a-token';
        const server = await startRecordingServer(token);
        observed[kind] = await play({ url: server.url, ...(token && { token }) }, kind).finally(server.close);
        requests.push(server.requests.filter(({ method }) => method !== 'DELETE'));
      }
    }
  });

  test.each(['connects', ...Object.keys(scenarios)])('%s', (name) => {
    for (const sdk of ['sdk1', 'sdk2'] as const) {
      const [actual, expected] = [observed.engine?.[name], observed[sdk]?.[name]];
      expect(actual).toBeDefined();
      // A difference that is gone is removed from the list.
      if (differences[`${sdk}: ${name}`] === undefined) expect(actual, sdk).toEqual(expected);
      else expect(actual, sdk).not.toEqual(expected);
    }
  });
});

test.each([
  ['with a token', 'wrong'],
  ['without a token', undefined],
])('a connection %s that the server rejects ends with its status', async (_, token) => {
  const outcomes: unknown[] = [];
  for (const kind of kinds) {
    const server = await startRecordingServer('right');
    onTestFinished(server.close);
    const subject = subjects[kind]({ url: server.url, ...(token && { token }) }, { respond: fail, notify() {} });
    outcomes.push([await outcomeOf(subject.request(['tools/call', { name: 'any' }])), server.heard]);
    await subject.close();
  }
  // Version 2 reports the status even with a provider, which has its own error here.
  expect(outcomes[2]).toEqual(outcomes[0]);
});

test.each([undefined, 'a-token'])('resumes an interrupted stream, with token %s', async (token) => {
  const observed: unknown[] = [];
  for (const kind of kinds) {
    const server = await startRecordingServer(token);
    onTestFinished(server.close);
    const notifications: unknown[] = [];
    const target = { url: server.url, ...(token && { token }) };
    const subject = subjects[kind](target, { respond: fail, notify: (params) => void notifications.push(params) });
    onTestFinished(async () => void (await subject.close()));
    const call = ['tools/call', { name: 'cut', _meta: { progressToken: 'p' } }] as const;
    const outcome = await outcomeOf(subject.request(call));
    const resumed = server.requests.filter(({ isResumed }) => isResumed);
    observed.push({ outcome, notifications, resumed, heard: server.heard });
  }
  const [sdk1, sdk2, engine] = observed;
  expect(engine).toMatchObject({ notifications: [{ progressToken: 'p', progress: 1 }], resumed: [{ method: 'GET' }] });
  expect(engine).toEqual(sdk1);
  expect(engine).toEqual(sdk2);
});
