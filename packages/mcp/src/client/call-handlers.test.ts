import { createServer } from 'node:http';
import { RequestContext } from '@quiver/core/request-context';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../test/servers/tool-of.ts';
import { exampleTools } from '../../test/servers/example-tools.ts';
import { startHost } from '../../test/servers/mcp-hosts.ts';
import { bothTransports } from '../../test/servers/mount-server.ts';
import { commandFor } from '../../test/programs/spawn-server.ts';
import { callByModel } from '../../test/clients/call-by-model.ts';
import { clientOf } from '../../test/clients/client-of.ts';
import { Gate } from '../../test/gate.ts';
import { serveHttp } from '../../test/after-test.ts';
import { MCPServer } from '../server/mcp-server.js';
import type { ElicitationHandler } from './config/handlers.js';
import type { MastraMCPServerDefinition } from './config/server-definition.js';
import type { MCPClient } from './mcp-client.js';

/** Handshakes that the server has received, each with the declared capabilities. */
let handshakes: unknown[] = [];
let released = new Gate();

const server = new MCPServer({
  name: 'Example',
  version: '1',
  tools: {
    ...exampleTools,
    complete: toolOf('complete', async (_input, { mcp }) => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Capital?' } }];
      return (await mcp.sample({ messages, maxTokens: 10 })).text;
    }),
    report: toolOf('report', { mcp: { task: { mode: 'optional', pollIntervalMs: 20 } } }, async (_input, { mcp }) => {
      const requestedSchema = { type: 'object' as const, properties: { title: { type: 'string' as const } } };
      const { content } = await mcp.elicitation.sendRequest({ message: 'Title?', requestedSchema });
      return `titled ${String(content?.['title'])}`;
    }),
    hold: toolOf('hold', async () => released.passed.then(() => 'released')),
  },
  prompts: {
    listPrompts: async () => [{ name: 'ask' }],
    getPromptMessages: async ({ mcp }) => {
      const { content } = await mcp.elicitation.sendRequest(nameRequest);
      return [{ role: 'user', content: { type: 'text', text: String(content?.['name']) } }];
    },
  },
  resources: {
    listResources: async () => [{ uri: 'note://ask', name: 'ask' }],
    getResourceContent: async ({ mcp }) => {
      const { content } = await mcp.elicitation.sendRequest(nameRequest);
      return { text: String(content?.['name']) };
    },
  },
});
const nameRequest = {
  message: 'What is your name?',
  requestedSchema: { type: 'object' as const, properties: { name: { type: 'string' as const } } },
};

const { url } = await server.listen();
const host = await startHost(() => createServer(bothTransports(server)), server);
afterAll(host.close);
beforeEach(() => {
  handshakes = [];
  released = new Gate();
});

const recordHandshakes: typeof fetch = (to, init) => {
  const body = typeof init?.body === 'string' ? (JSON.parse(init.body) as Record<string, unknown>) : {};
  const { capabilities } = (body['params'] ?? {}) as { capabilities?: unknown };
  if (body['method'] === 'initialize') handshakes.push(capabilities);
  return fetch(to, init);
};

const connect = (definition: object): MCPClient => clientOf({ it: definition as MastraMCPServerDefinition });

const textOf = (text: string): object => ({ content: [{ type: 'text', text }] });

/** A user who answers the elicitation requests of `contact`. */
function personOf(name: string, begin: () => unknown = () => {}) {
  const asked: string[] = [];
  const onElicitation: ElicitationHandler = async ({ message }) => {
    asked.push(message);
    await begin();
    return { action: 'accept', content: message.includes('old') ? { age: name.length } : { name, title: name } };
  };
  return { asked, onElicitation };
}
const both = ['What is your name?', 'How old are you?'];

/** Returns a function whose calls wait for each other. */
function meetingOf(count: number): () => Promise<void> {
  let waiting = 0;
  const opened = new Gate();
  return () => {
    waiting += 1;
    if (waiting === count) opened.open();
    return opened.passed;
  };
}

const associated = [
  { name: 'HTTP, sessions', define: (): object => ({ url, protocol: 'legacy' }) },
  { name: 'HTTP, 2026-07-28', define: (): object => ({ url, protocol: 'modern' }) },
  { name: 'in process', define: (): object => ({ server, protocol: 'legacy' }) },
  { name: 'in process, 2026-07-28', define: (): object => ({ server, protocol: 'modern' }) },
  { name: 'stdio, 2026-07-28', define: (): object => ({ ...commandFor('stdio-server.ts'), protocol: 'modern' }) },
];

describe.each(associated)('$name', ({ define }) => {
  test('asks each user about the user’s own call, at the same time over one connection', async () => {
    const mcp = connect(define());
    const operator = personOf('operator');
    await mcp.elicitation.onRequest('it', operator.onElicitation);
    const meeting = meetingOf(3);
    const people = ['Ada', 'Grace', 'Barbara'].map((name) => ({ name, ...personOf(name, meeting) }));
    const calls = people.map(({ name, onElicitation }) =>
      mcp.callTool({ serverName: 'it', name: 'contact', args: { greeting: name }, onElicitation }),
    );
    const lengths = { Ada: 3, Grace: 5, Barbara: 7 };
    expect(await Promise.all(calls)).toMatchObject(
      Object.entries(lengths).map(([name, length]) => textOf(`${name} ${name}, ${length}`)),
    );
    for (const { asked } of people) expect(asked).toEqual(both);
    expect(operator.asked).toEqual([]);
    // Other calls keep the handler of the server.
    await mcp.callTool({ serverName: 'it', name: 'contact' });
    expect(operator.asked).toEqual(both);
  });
});

const allSetups = [
  ...associated,
  { name: 'stdio, sessions', define: (): object => commandFor('stdio-server.ts') },
  { name: 'HTTP+SSE', define: (): object => ({ url: new URL('/sse', host.url), transport: 'sse' }) },
];

test.each(allSetups)('a call has handlers of its own, before those of the server: $name', async ({ define }) => {
  const mcp = connect(define());
  const ada = personOf('Ada');
  const call = { serverName: 'it', name: 'contact', args: { greeting: 'Hi' } };
  expect(await mcp.callTool({ ...call, onElicitation: ada.onElicitation })).toMatchObject(textOf('Hi Ada, 3'));
  const operator = personOf('operator');
  await mcp.elicitation.onRequest('it', operator.onElicitation);
  expect(await mcp.callTool({ ...call, onElicitation: ada.onElicitation })).toMatchObject(textOf('Hi Ada, 3'));
  expect(await mcp.callTool(call)).toMatchObject(textOf('Hi operator, 8'));
  expect([ada.asked.length, operator.asked.length]).toEqual([4, 2]);
});

describe('a transport that does not tell which call a request belongs to', () => {
  test('asks the handler of the server while several calls are in progress', async () => {
    const mcp = connect(commandFor('stdio-server.ts'));
    const operator = personOf('operator', meetingOf(2));
    await mcp.elicitation.onRequest('it', operator.onElicitation);
    const call = (user: string) =>
      mcp.callTool({
        serverName: 'it',
        name: 'contact',
        args: { greeting: user },
        onElicitation: personOf(user).onElicitation,
      });
    const results = await Promise.all([call('Ada'), call('Grace')]);
    // The last request arrives when the other call has ended, at the earliest.
    expect(JSON.stringify(results)).toContain('Ada operator, ');
    expect(JSON.stringify(results)).toContain('Grace operator, ');
  });

  test('rejects the request where the server has no handler, instead of asking any user', async () => {
    const mcp = connect({
      server: createPlainServer(async (sdk) => {
        const failed = await sdk.elicitInput(nameRequest).catch((error: unknown) => error);
        return String(failed);
      }),
    });
    const { onElicitation, asked } = personOf('Ada');
    const call = { serverName: 'it', name: 'ask', onElicitation };
    const results = await Promise.all([mcp.callTool(call), mcp.callTool(call)]);
    expect(JSON.stringify(results)).toContain('the transport does not tell which one this is for');
    expect(asked.length).toBeLessThan(2);
  });

  test.each([
    ['is not', 'another user', 'Bob', true, 0],
    ['is', 'the same user', 'Ada', true, 1],
    ['is not', 'another user with a handler only', 'Bob', false, 0],
    ['is', 'the same user with a handler only', 'Ada', false, 1],
  ])('a user %s asked about a canceled call of %s', async (_is, _who, name, hasContext, asked) => {
    const users = new Map(
      ['Ada', 'Bob'].map((user) => {
        const requestContext = hasContext ? new RequestContext({ user }) : undefined;
        return [user, { ...personOf(user), requestContext }] as const;
      }),
    );
    const begun = new Gate();
    const failures: unknown[] = [];
    let first = true;
    const sdk = createPlainServer(async (plain) => {
      if (!first) {
        asking.open();
        return released.passed.then(() => 'done');
      }
      first = false;
      begun.open();
      // A tool that ignores its cancellation, until the next call is in progress.
      await asking.passed;
      await plain.elicitInput(nameRequest).catch((error: unknown) => failures.push(error));
      released.open();
      return 'late';
    });
    const asking = new Gate();
    const mcp = connect({ server: sdk, capabilities: { elicitation: { form: {} } } });
    const stop = new AbortController();
    const call = { serverName: 'it', name: 'ask' };
    const as = (user: string) => {
      const { requestContext, onElicitation } = users.get(user) ?? {};
      return { ...call, requestContext, onElicitation };
    };
    const abandoned = mcp.callTool({ ...as(name), signal: stop.signal });
    await begun.passed;
    stop.abort(new Error('gone'));
    await expect(abandoned).rejects.toThrow('gone');
    expect(await mcp.callTool(as('Ada'))).toMatchObject(textOf('done'));
    const questions = users.get('Ada')?.asked.length;
    expect([questions, failures.length]).toEqual([asked, 1 - asked]);
  });
});

/** A server of the official SDK with a tool `ask`. */
function createPlainServer(ask: (server: Server, id: string | number) => Promise<string>): Server {
  const sdk = new Server({ name: 'sdk', version: '1' }, { capabilities: { tools: {} } });
  sdk.setRequestHandler(CallToolRequestSchema, async (_request, { requestId }) => ({
    content: [{ type: 'text', text: await ask(sdk, requestId) }],
  }));
  return sdk;
}

describe('the official SDK', () => {
  const routes: [string, (server: Server, id: string | number) => Promise<string>][] = [
    [
      'on the stream of the call',
      async (sdk, relatedRequestId) => {
        const request = { method: 'elicitation/create' as const, params: { mode: 'form' as const, ...nameRequest } };
        const { content } = await sdk.request(request, ElicitResultSchema, { relatedRequestId });
        return String(content?.['name']);
      },
    ],
    ['on the standalone stream', async (sdk) => String((await sdk.elicitInput(nameRequest)).content?.['name'])],
  ];

  test.each(routes)('asks the user of a call %s', async (_way, ask) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() });
    await createPlainServer(ask).connect(transport as Parameters<Server['connect']>[0]);
    const listens = new Gate();
    const { origin } = await serveHttp((request, response) => {
      const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => typeof response;
      response.writeHead = (...head: unknown[]) => {
        if (request.method === 'GET') listens.open();
        return writeHead(...head);
      };
      void transport.handleRequest(request, response);
    });
    const capabilities = { elicitation: { form: {} } };
    const mcp = connect({ url: `${origin}/mcp`, protocol: 'legacy', capabilities });
    await mcp.reconnectServer('it');
    await listens.passed;
    const { onElicitation } = personOf('Ada');
    expect(await mcp.callTool({ serverName: 'it', name: 'ask', onElicitation })).toMatchObject(textOf('Ada'));
  });
});

test('the official SDK, version 2, asks each user about the user’s own call in rounds', async () => {
  const handler = createMcpHandler(() => {
    const sdk = new McpServer({ name: 'sdk2', version: '1' });
    sdk.registerTool('ask', {}, async ({ mcpReq }) => {
      if (mcpReq.inputResponses === undefined) {
        const requestedSchema = z.object({ name: z.string() });
        const name = inputRequired.elicit({ message: 'What is your name?', requestedSchema });
        return inputRequired({ inputRequests: { name }, requestState: 'round 1' });
      }
      const { name = 'nobody' } = acceptedContent<{ name: string }>(mcpReq.inputResponses, 'name') ?? {};
      return { content: [{ type: 'text', text: name }] };
    });
    return sdk;
  });
  const mcp = connect({
    url: 'http://localhost/mcp',
    protocol: 'modern',
    fetch: (to: string | URL, init?: RequestInit) => handler.fetch(new Request(to, init)),
  });
  const meeting = meetingOf(2);
  const calls = ['Ada', 'Grace'].map((name) =>
    mcp.callTool({ serverName: 'it', name: 'ask', onElicitation: personOf(name, meeting).onElicitation }),
  );
  expect(await Promise.all(calls)).toMatchObject([textOf('Ada'), textOf('Grace')]);
});

describe.each(associated.slice(0, 2))('$name', ({ define }) => {
  test('other requests have handlers of their own as well', async () => {
    const mcp = connect(define());
    const { onElicitation } = personOf('Ada');
    const { messages } = await mcp.prompts.get({ serverName: 'it', name: 'ask', onElicitation });
    expect(messages).toMatchObject([{ content: { text: 'Ada' } }]);
    expect(await mcp.resources.readContent('it', 'note://ask', { onElicitation })).toBe('Ada');
    const onSampling = async () => ({
      role: 'assistant' as const,
      model: 'own',
      content: { type: 'text' as const, text: 'Paris' },
    });
    const call = { serverName: 'it', name: 'complete' };
    expect(await mcp.callTool({ ...call, onSampling })).toMatchObject(textOf('Paris'));
  });

  test('the signal of a handler fires when the call ends', async () => {
    const mcp = connect(define());
    const stop = new AbortController();
    const reason = new Error('the user has left');
    const ended = new Promise<unknown>((resolve) => {
      const onElicitation: ElicitationHandler = (_request, { signal }) => {
        signal.addEventListener('abort', () => resolve(signal.reason));
        stop.abort(reason);
        return new Promise(() => {});
      };
      const call = { serverName: 'it', name: 'contact', signal: stop.signal, onElicitation };
      mcp.callTool(call).catch(() => {});
    });
    expect(await ended).toBe(reason);
  });

  test('an elicitation request to one user does not stop the clock of the others', async () => {
    const mcp = connect(define());
    const answered = new Gate();
    const begun = new Gate();
    const ada = personOf('Ada', () => {
      begun.open();
      return answered.passed;
    });
    const asking = mcp.callTool({ serverName: 'it', name: 'contact', onElicitation: ada.onElicitation });
    await begun.passed;
    const held = mcp.callTool({ serverName: 'it', name: 'hold', timeout: 20 });
    await expect(held).rejects.toMatchObject({ code: 'MCP_REQUEST_TIMEOUT' });
    released.open();
    answered.open();
    expect(await asking).toMatchObject(textOf('Hello Ada, 3'));
  });
});

describe('the capability', () => {
  test('is declared by the first call with a handler, over one further connection', async () => {
    const mcp = connect({ url, protocol: 'legacy', fetch: recordHandshakes });
    const call = { serverName: 'it', name: 'contact', onElicitation: personOf('Ada').onElicitation };
    const plain = { serverName: 'it', name: 'contact' };
    expect(await mcp.callTool(plain)).toMatchObject(textOf('could not ask: ELICITATION_NOT_SUPPORTED'));
    await Promise.all([mcp.callTool(call), mcp.callTool(call), mcp.callTool(call)]);
    await mcp.callTool(call);
    expect(handshakes).toEqual([{}, { elicitation: { form: {} } }]);
    // From then on it is declared for all calls: the server learns later that there is no handler.
    expect(await mcp.callTool(plain)).toMatchObject(textOf('could not ask: ELICITATION_FAILED'));
  });

  test('needs no further connection where the definition declares it, or the first call', async () => {
    const capabilities = { elicitation: { form: {} } };
    const declared = connect({ url, protocol: 'legacy', fetch: recordHandshakes, capabilities });
    const call = { serverName: 'it', name: 'contact', onElicitation: personOf('Ada').onElicitation };
    await declared.listTools();
    await declared.callTool(call);
    expect(handshakes).toEqual([capabilities]);
    const first = connect({ url, protocol: 'legacy', fetch: recordHandshakes });
    await first.callTool(call);
    await first.listTools();
    expect(handshakes).toEqual([capabilities, capabilities]);
  });

  test('is declared by each modern request for itself', async () => {
    const mcp = connect({ url, protocol: 'modern', fetch: recordHandshakes });
    const plain = { serverName: 'it', name: 'contact' };
    await mcp.callTool({ ...plain, onElicitation: personOf('Ada').onElicitation });
    expect(await mcp.callTool(plain)).toMatchObject(textOf('could not ask: ELICITATION_NOT_SUPPORTED'));
  });
});

describe('a task', () => {
  test('asks the user who called the tool', async () => {
    const mcp = connect({ url, protocol: 'modern' });
    const people = ['Ada', 'Grace'].map((name) => personOf(name, meetingOf(1)));
    const calls = people.map(({ onElicitation }) => mcp.callTool({ serverName: 'it', name: 'report', onElicitation }));
    expect(await Promise.all(calls)).toMatchObject([textOf('titled Ada'), textOf('titled Grace')]);
  });

  test('asks the user who waits for its result', async () => {
    const mcp = connect({ url, protocol: 'modern' });
    const handle = await mcp.tasks.start({ serverName: 'it', name: 'report' });
    await expect(mcp.tasks.result(handle)).rejects.toMatchObject({ details: { reason: 'MCP_TASK_INPUT_UNSUPPORTED' } });
    const { onElicitation } = personOf('Ada');
    expect(await mcp.tasks.result(handle, { onElicitation })).toMatchObject(textOf('titled Ada'));
  });
});

describe('a view', () => {
  const requestContext = new RequestContext({ user: 'ada' });

  test('has handlers for the calls of its tools, by a program and by a model', async () => {
    const mcp = connect({ url });
    const { onElicitation } = personOf('Ada');
    const updates: number[] = [];
    const view = mcp.forRequest(requestContext, {
      onElicitation,
      onProgress: ({ progress }) => updates.push(progress),
    });
    const tools = await view.listTools();
    expect(await tools['it_contact']?.execute({})).toMatchObject(textOf('Hello Ada, 3'));
    await tools['it_steps']?.execute({});
    expect(updates.length).toBeGreaterThan(0);
    const { output } = await callByModel(tools, 'it_contact', { greeting: 'Dear' });
    expect(output).toMatchObject(textOf('Dear Ada, 3'));
    expect(await view.resources.readContent('it', 'note://ask')).toBe('Ada');
  });

  test('leaves the handler of a call in place', async () => {
    const mcp = connect({ url });
    const view = mcp.forRequest(requestContext, { onElicitation: personOf('Ada').onElicitation });
    const { onElicitation } = personOf('Grace');
    const call = { serverName: 'it', name: 'contact', onElicitation };
    expect(await view.callTool(call)).toMatchObject(textOf('Hello Grace, 5'));
    const none = { serverName: 'it', name: 'contact', onElicitation: undefined };
    expect(await view.callTool(none)).toMatchObject(textOf('Hello Ada, 3'));
  });
});

const eras = ['legacy', 'modern'] as const;
const pairs = eras.flatMap((era) => eras.map((upstreamEra) => ({ era, upstreamEra })));

test.each(pairs)('a gateway ($upstreamEra) asks the caller ($era) whose call it is', async ({ era, upstreamEra }) => {
  const upstream = connect({ url, protocol: upstreamEra });
  const gateway = new MCPServer({
    name: 'Gateway',
    version: '1',
    tools: {
      contact: toolOf('contact', { inputSchema: z.object({ greeting: z.string() }) }, (args, { mcp, abortSignal }) =>
        upstream.callTool({
          serverName: 'it',
          name: 'contact',
          args,
          signal: abortSignal,
          onElicitation: ({ message, requestedSchema }, { signal }) =>
            mcp.elicitation.sendRequest({ message, requestedSchema }, { key: message, signal }),
        }),
      ),
    },
  });
  const { url: address } = await gateway.listen();
  onTestFinished(() => gateway.close());
  const mcp = connect({ url: address, protocol: era });
  const meeting = meetingOf(2);
  const calls = ['Ada', 'Grace'].map((name) =>
    mcp.callTool({
      serverName: 'it',
      name: 'contact',
      args: { greeting: name },
      onElicitation: personOf(name, meeting).onElicitation,
    }),
  );
  expect(await Promise.all(calls)).toMatchObject([textOf('Ada Ada, 3'), textOf('Grace Grace, 5')]);
});
