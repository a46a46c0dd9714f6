import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { beforeAll, describe, expect, test } from 'vitest';
import { startRecordingServer } from '../../../test/programs/recording-server.ts';
import { createRemoteServer } from '../../../test/clients/remote-server.ts';
import { outcomeOf } from '../../../test/clients/sdk-subject.ts';
import { commandFor } from '../../../test/programs/spawn-server.ts';
import { defaultClientInfo } from '../config/client-info.js';

// With a server of the SDK, this client returns the results and errors that the SDK's client returns, and the server receives the
// same messages.

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
const differences: Partial<Record<string, object>> = {
  // The titles of arguments are kept.
  'lists prompts': { outcomes: [{ value: { prompts: [{ arguments: [{ title: expect.any(String) }] }] } }] },
  // The error code of the server is kept.
  'reads an unknown resource': { outcomes: [{ error: { rpcCode: -32_002 } }] },
};

type Target = { readonly url: string } | { readonly command: string; readonly args: string[] };

interface Subject {
  request(request: Request): Promise<unknown>;
  close(): Promise<unknown>;
}

interface Application {
  respond(params: Params): object;
  notify(params: Params): void;
}

const capabilities = { elicitation: { form: {}, url: {} }, sampling: {} };

const subjects: Record<'sdk' | 'engine', (target: Target, application: Application) => Subject> = {
  sdk: (target, { respond, notify }) => {
    const client = new Client(defaultClientInfo, { capabilities });
    for (const method of ['elicitation/create', 'sampling/createMessage'] as const)
      client.setRequestHandler(method as 'elicitation/create', async ({ params }) => respond(params) as never);
    for (const method of ['notifications/resources/updated', 'notifications/progress'] as const)
      client.setNotificationHandler(method, ({ params }) => notify(params));
    const transport =
      'url' in target ? new StreamableHTTPClientTransport(new URL(target.url)) : new StdioClientTransport(target);
    let connected: Promise<void> | undefined;
    return {
      request: async ([method, params]) => {
        await (connected ??= client.connect(transport));
        return client.request({ method, params } as never);
      },
      close: () => client.close(),
    };
  },
  engine: (target, { respond, notify }) => {
    const server = createRemoteServer({ protocol: 'legacy', capabilities, ...target }, 20_000);
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

describe.each(['HTTP', 'stdio'] as const)('over %s', (over) => {
  const observed: Partial<Record<keyof typeof subjects, Record<string, Observed>>> = {};

  beforeAll(async () => {
    for (const kind of ['sdk', 'engine'] as const) {
      if (over === 'stdio') observed[kind] = await play(commandFor('recording-server.ts', 'stdio'), kind);
      else {
        const server = await startRecordingServer();
        observed[kind] = await play({ url: server.url }, kind).finally(server.close);
      }
    }
  });

  test.each(['connects', ...Object.keys(scenarios)])('%s', (name) => {
    const [actual, expected] = [observed.engine?.[name], observed.sdk?.[name]];
    expect(actual).toBeDefined();
    const difference = differences[name];
    if (!difference) return expect(actual).toEqual(expected);
    expect(actual).toMatchObject(difference);
    // A difference that is gone is removed from the list.
    expect(actual).not.toEqual(expected);
  });
});
