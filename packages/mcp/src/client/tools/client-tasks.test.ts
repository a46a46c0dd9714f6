import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolContext } from '@quiver/core/tools';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { callByModel } from '../../../test/clients/call-by-model.ts';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { eventually } from '../../../test/eventually.ts';
import { startFaultProxy } from '../../../test/stores/fault-proxy.ts';
import { Gate } from '../../../test/gate.ts';
import { MCPServer } from '../../server/mcp-server.js';
import type { ProgressUpdate } from '../config/handlers.js';
import type { HttpServerDefinition } from '../config/server-definition.js';
import { MCPClient } from '../mcp-client.js';
import type { TaskHandle } from './client-tasks.js';

const extension = 'io.modelcontextprotocol/tasks';

interface Sent {
  method: string;
  taskId: string | undefined;
  declares: boolean;
  headers: Headers;
}

let gate: Gate;
/** The tool `wait` reports its next message when the test has received the one before. */
let received: Gate[];
let contexts: ToolContext[];
let clients: MCPClient[];
let server: MCPServer;
let url: string;

const ask = (context: ToolContext, name: string): Promise<string> =>
  context.mcp.elicitation
    .sendRequest({ message: name, requestedSchema: { type: 'object', properties: { value: { type: 'string' } } } })
    .then(({ action, content }) => `${name}: ${action} ${JSON.stringify(content)}`)
    .catch((error: unknown) => `${name}: ${(error as { code: string }).code}`);

const mcp = { task: { pollIntervalMs: 20 } } as const;
const tools = {
  greet: toolOf('greet', async () => 'Hello'),
  wait: toolOf(
    'wait',
    { inputSchema: z.object({ messages: z.array(z.string()).default([]) }), mcp },
    async ({ messages }, context) => {
      contexts.push(context);
      for (const [index, message] of messages.entries()) {
        await context.mcp.progress({ progress: index + 1, message });
        await received[index]?.passed;
      }
      await gate.passed;
      return 'waited';
    },
  ),
  fail: toolOf('fail', { mcp }, async () => {
    await gate.passed;
    throw new Error('the disk is full');
  }),
  breach: toolOf('breach', { mcp }, async (_input, context) => {
    await gate.passed;
    return context.mcp.roots();
  }),
  ask: toolOf(
    'ask',
    { inputSchema: z.object({ names: z.array(z.string()), message: z.string().optional() }), mcp },
    async ({ names, message }, context) => {
      contexts.push(context);
      await sleep(1);
      if (message !== undefined) {
        await context.mcp.progress({ progress: 1, message });
        await received[0]?.passed;
      }
      return (await Promise.all(names.map((name) => ask(context, name)))).join('\n');
    },
  ),
};

beforeEach(async () => {
  gate = new Gate();
  received = [new Gate(), new Gate()];
  contexts = [];
  clients = [];
  server = new MCPServer({ name: 'Tasks', version: '1.0.0', tools });
  ({ url } = await server.listen({ port: 0 }));
});
afterEach(async () => {
  for (const each of [gate, ...received]) each.open();
  await Promise.all(clients.map((client) => client.disconnect()));
  await server.close({ grace: 0 });
});

function connect(definition: Partial<HttpServerDefinition> = {}): { client: MCPClient; sent: Sent[] } {
  const sent: Sent[] = [];
  const record: HttpServerDefinition['fetch'] = (to, init) => {
    const body =
      typeof init?.body === 'string' ? (JSON.parse(init.body) as { method: string; params?: object }) : undefined;
    const { method = '', params = {} } = body ?? {};
    const { taskId, _meta } = params as { taskId?: string; _meta?: object };
    const declares = JSON.stringify(_meta ?? {}).includes(extension);
    sent.push({ method, taskId, declares, headers: new Headers(init?.headers) });
    return fetch(to, init);
  };
  const client = new MCPClient({ servers: { it: { url, protocol: 'modern', fetch: record, ...definition } } });
  clients.push(client);
  return { client, sent };
}

/** Receives each response, although the client ends the request, and passes it on when a function has seen its method. */
const delivering =
  (arrived: (method: string) => unknown): NonNullable<HttpServerDefinition['fetch']> =>
  async (to, init) => {
    const { method } = JSON.parse(String(init?.body)) as { method: string };
    const response = await fetch(to, { ...init, signal: null });
    const text = await response.text();
    await arrived(method);
    return new Response(text, response);
  };

const textOf = (text: string): object => ({ content: [{ type: 'text', text }] });
const failsWith = (reason: string): object =>
  expect.objectContaining({
    code: reason === 'MCP_REQUEST_TIMEOUT' ? reason : 'MCP_CLIENT_TOOL_EXECUTION_FAILED',
    details: expect.objectContaining({ reason }),
  });
const polled = (sent: Sent[], times = 1): Promise<void> =>
  eventually(() => expect(sent.filter(({ method }) => method === 'tasks/get').length).toBeGreaterThanOrEqual(times));
const canceled = (): Promise<void> => eventually(() => expect(contexts[0]?.abortSignal?.aborted).toBe(true));

/** Waits until a task is in a state. */
const reached = (client: MCPClient, handle: TaskHandle, status: string) =>
  eventually(async () => {
    const task = await client.tasks.get(handle);
    expect(task.status).toBe(status);
    return task;
  });

describe('a call that becomes a task', () => {
  test('returns the result of the task, with the id in a header of each request', async () => {
    const { client, sent } = connect();
    const calling = client.callTool({ serverName: 'it', name: 'wait' });
    await polled(sent, 2);
    gate.open();
    expect(await calling).toMatchObject(textOf('waited'));
    const polls = sent.filter(({ method }) => method === 'tasks/get');
    expect(new Set(polls.map(({ taskId }) => taskId)).size).toBe(1);
    for (const { method, taskId, headers } of polls)
      expect([headers.get('mcp-method'), headers.get('mcp-name')]).toEqual([method, taskId]);
  });

  test('declares the extension where it applies', async () => {
    const { client, sent } = connect();
    await client.listTools();
    const calling = client.callTool({ serverName: 'it', name: 'wait' });
    await polled(sent);
    gate.open();
    await calling;
    expect(Object.fromEntries(sent.map(({ method, declares }) => [method, declares]))).toEqual({
      'server/discover': false,
      'tools/list': false,
      'tools/call': true,
      'tasks/get': true,
    });
  });

  test('reports the status messages as progress', async () => {
    const { client } = connect();
    const updates: ProgressUpdate[] = [];
    const all: ProgressUpdate[] = [];
    await client.progress.onUpdate('it', (update) => void all.push(update));
    gate.open();
    await client.callTool({
      serverName: 'it',
      name: 'wait',
      args: { messages: ['one', 'two'] },
      runId: 'run',
      onProgress: (update) => {
        updates.push(update);
        received[update.progress - 1]?.open();
      },
    });
    expect(updates).toEqual([
      { progressToken: 'run', progress: 1, message: 'one' },
      { progressToken: 'run', progress: 2, message: 'two' },
    ]);
    expect(all).toEqual(updates);
  });

  test('is awaited by the AI SDK, with its status messages as progress of the tool call', async () => {
    const { client } = connect();
    const updates: ProgressUpdate[] = [];
    await client.progress.onUpdate('it', (update) => {
      updates.push(update);
      received[0]?.open();
    });
    gate.open();
    const { output } = await callByModel(await client.listTools(), 'it_wait', { messages: ['reading'] });
    expect(output).toMatchObject(textOf('waited'));
    expect(updates).toEqual([{ progressToken: 'c1', progress: 1, message: 'reading' }]);
  });

  test('returns and throws error results as a direct call does', async () => {
    const [tasks, direct] = [connect(), connect({ tasks: false })];
    const calling = [tasks, direct].map(async ({ client }) => {
      const { it_fail: tool } = await client.listTools();
      const failing = Promise.resolve(tool?.execute({})).catch((error: unknown) => String(error));
      return Promise.all([client.callTool({ serverName: 'it', name: 'fail' }), failing]);
    });
    await polled(tasks.sent, 2);
    gate.open();
    const outcomes = await Promise.all(calling);
    expect(outcomes[0]).toMatchObject([{ isError: true }, expect.stringContaining('the disk is full')]);
    expect(outcomes[0]).toEqual(outcomes[1]);
  });

  test('fails with the error of a direct call', async () => {
    const tasks = connect();
    const failures = Promise.all(
      [tasks, connect({ tasks: false })].map(async ({ client }) => {
        const failing = client.callTool({ serverName: 'it', name: 'breach' });
        return failing.catch(({ code, details: { reason, rpcCode } }) => ({ code, reason, rpcCode }));
      }),
    );
    await polled(tasks.sent);
    gate.open();
    const [task, direct] = await failures;
    expect(task).toMatchObject({ code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED', rpcCode: expect.any(Number) });
    expect(task).toEqual(direct);
  });

  test('reports to the tool that its request is not supported, as a direct call does', async () => {
    const { client, sent } = connect();
    const calling = client.callTool({ serverName: 'it', name: 'ask', args: { names: ['a', 'b'] } });
    expect(await calling).toMatchObject(textOf('a: ELICITATION_NOT_SUPPORTED\nb: ELICITATION_NOT_SUPPORTED'));
    expect(sent.filter(({ method }) => method === 'tasks/update')).toHaveLength(1);
  });

  test('requests each input once, and sends each response at once', async () => {
    const { client, sent } = connect();
    const requests: string[] = [];
    const second = new Gate();
    await client.elicitation.onRequest('it', async ({ message }) => {
      requests.push(message);
      if (message === 'b') await second.passed;
      return { action: 'accept', content: { value: message } };
    });
    const calling = client.callTool({ serverName: 'it', name: 'ask', args: { names: ['a', 'b'] } });
    await eventually(() => expect(sent.map(({ method }) => method)).toContain('tasks/update'));
    const polls = sent.length;
    await eventually(() => expect(sent.length).toBeGreaterThan(polls + 3));
    second.open();
    expect(await calling).toMatchObject(textOf('a: accept {"value":"a"}\nb: accept {"value":"b"}'));
    expect(requests.toSorted()).toEqual(['a', 'b']);
    expect(sent.filter(({ method }) => method === 'tasks/update')).toHaveLength(2);
  });

  test('pauses its timeout while a handler responds', async () => {
    const { client } = connect();
    await client.elicitation.onRequest('it', async () => {
      await sleep(2100);
      return { action: 'decline' };
    });
    const options = { serverName: 'it', name: 'ask', args: { names: ['a'] }, timeout: 2000 };
    expect(await client.callTool(options)).toMatchObject(textOf('a: decline undefined'));
  });

  test('keeps its timeout when the wall clock is set forward', async () => {
    const { client } = connect();
    const { now } = Date;
    onTestFinished(() => void (Date.now = now));
    await client.elicitation.onRequest('it', async ({ message }) => ({
      action: 'accept',
      content: { value: message },
    }));
    await client.progress.onUpdate('it', () => {
      Date.now = () => now() + 3_600_000;
      received[0]?.open();
    });
    const options = { serverName: 'it', name: 'ask', args: { names: ['a'], message: 'go' }, timeout: 60_000 };
    expect(await client.callTool(options)).toMatchObject(textOf('a: accept {"value":"a"}'));
  });

  test('reports a failed handler and an invalid answer to the tool', async () => {
    const { client } = connect();
    await client.elicitation.onRequest('it', async ({ message }) => {
      if (message === 'fails') throw new Error('no terminal');
      return { action: 'accept', content: { value: 7 } };
    });
    const names = ['fails', 'invalid'];
    expect(await client.callTool({ serverName: 'it', name: 'ask', args: { names } })).toMatchObject(
      textOf('fails: ELICITATION_FAILED\ninvalid: ELICITATION_ANSWER_INVALID'),
    );
    await client.elicitation.onRequest('it', async () => ({ action: 'decline' }));
    expect(await client.callTool({ serverName: 'it', name: 'ask', args: { names } })).toMatchObject(
      textOf('fails: decline undefined\ninvalid: decline undefined'),
    );
  });

  test('is canceled by the signal, also when the client is disconnected at once', async () => {
    const { client, sent } = connect();
    const { it_wait: tool } = await client.listTools();
    const controller = new AbortController();
    const calling = tool?.execute({ messages: [] }, { abortSignal: controller.signal }) as Promise<unknown>;
    await polled(sent);
    controller.abort(new Error('no longer needed'));
    await expect(calling).rejects.toThrow('no longer needed');
    await client.disconnect();
    expect(sent.at(-1)?.method).toBe('tasks/cancel');
    await canceled();
  });

  test('is canceled by a signal that fires when the task was just created', async () => {
    const controller = new AbortController();
    const { client } = connect({
      logger: ({ message }) => {
        if (message.includes('runs as a task')) controller.abort(new Error('no longer needed'));
      },
    });
    const calling = client.callTool({ serverName: 'it', name: 'wait', signal: controller.signal });
    await expect(calling).rejects.toThrow('no longer needed');
    await canceled();
  });

  test('is canceled when its response was on its way as the signal fired', async () => {
    const controller = new AbortController();
    const methods: string[] = [];
    const { client } = connect({
      fetch: delivering((method) => {
        methods.push(method);
        if (method === 'tools/call') controller.abort(new Error('no longer needed'));
      }),
    });
    const calling = client.callTool({ serverName: 'it', name: 'wait', signal: controller.signal });
    await expect(calling).rejects.toThrow('no longer needed');
    await client.disconnect();
    expect(methods).toEqual(['server/discover', 'tools/call', 'tasks/cancel']);
    await canceled();
  });

  test('is canceled when the client connects again before its response arrived', async () => {
    const controller = new AbortController();
    const isOnItsWay = new Gate();
    const { client } = connect({
      fetch: delivering(async (method) => {
        if (method !== 'tools/call') return;
        controller.abort(new Error('no longer needed'));
        await isOnItsWay.passed;
      }),
    });
    const calling = client.callTool({ serverName: 'it', name: 'wait', signal: controller.signal });
    await expect(calling).rejects.toThrow('no longer needed');
    const reconnecting = client.reconnectServer('it');
    isOnItsWay.open();
    await reconnecting;
    await canceled();
  });

  test.each([
    ['a server with tasks', true, { [extension]: {} }],
    ['a client without tasks', false, { [extension]: {} }],
    ['a server whose extensions are malformed', true, null],
  ])('ends the request of a call without a response: %s', async (_, hasTasks, extensions) => {
    const controller = new AbortController();
    let request: AbortSignal | null | undefined;
    const { client } = connect({
      tasks: hasTasks,
      fetch: async (_to, init) => {
        const { id, method } = JSON.parse(String(init?.body)) as { id: number; method: string };
        if (method === 'server/discover') {
          const capabilities = { tools: {}, extensions };
          const discovered = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities };
          return Response.json({ jsonrpc: '2.0', id, result: discovered });
        }
        request = init?.signal;
        controller.abort(new Error('no longer needed'));
        return new Promise(() => {});
      },
    });
    const calling = client.callTool({ serverName: 'it', name: 'wait', signal: controller.signal });
    await expect(calling).rejects.toThrow('no longer needed');
    await eventually(() => expect(request?.aborted).toBe(true));
  });

  test('is canceled when the client is disconnected', async () => {
    const { client, sent } = connect();
    const calling = client.callTool({ serverName: 'it', name: 'wait' });
    await polled(sent);
    const disconnecting = client.disconnect();
    await expect(calling).rejects.toEqual(failsWith('MCP_CONNECTION_CLOSED'));
    await disconnecting;
    await canceled();
  });

  test('survives a reconnect', async () => {
    const { client, sent } = connect();
    const calling = client.callTool({ serverName: 'it', name: 'wait' });
    await polled(sent);
    await client.reconnectServer('it');
    gate.open();
    expect(await calling).toMatchObject(textOf('waited'));
  });

  test('survives connections that break', async () => {
    const proxy = await startFaultProxy(Number(new URL(url).port));
    try {
      const { client, sent } = connect({ url: `http://127.0.0.1:${proxy.port}/mcp` });
      const calling = client.callTool({ serverName: 'it', name: 'wait' });
      await polled(sent);
      proxy.setFault({ kind: 'reset' });
      await eventually(() => expect(proxy.passed).toBeGreaterThan(1));
      proxy.setFault({ kind: 'none' });
      gate.open();
      expect(await calling).toMatchObject(textOf('waited'));
    } finally {
      await proxy.close();
    }
  });

  test('becomes one over an in-process connection of the modern era', async () => {
    const client = new MCPClient({ servers: { it: { server, protocol: 'modern' } } });
    clients.push(client);
    const handle = await client.tasks.start({ serverName: 'it', name: 'wait' });
    expect(handle).toHaveProperty('taskId');
    gate.open();
    expect(await client.tasks.result(handle)).toMatchObject(textOf('waited'));
  });
});

describe('mcp.tasks', () => {
  /** As another process would read it. */
  const stored = (handle: TaskHandle): TaskHandle => JSON.parse(JSON.stringify(handle)) as TaskHandle;

  test('starts a task that another client continues', async () => {
    const { client } = connect();
    const handle = stored(await client.tasks.start({ serverName: 'it', name: 'wait', args: { messages: ['one'] } }));
    expect(handle).toEqual({ serverName: 'it', name: 'wait', taskId: expect.any(String) });
    await client.disconnect();
    const { client: other } = connect();
    expect(await reached(other, handle, 'working')).toMatchObject({
      createdAt: expect.any(String),
      pollIntervalMs: 20,
    });
    gate.open();
    const updates: ProgressUpdate[] = [];
    const result = await other.tasks.result(handle, {
      onProgress: (update) => {
        updates.push(update);
        received[0]?.open();
      },
    });
    expect(result).toMatchObject(textOf('waited'));
    expect(updates).toMatchObject([{ progress: 1, message: 'one' }]);
    expect(await other.tasks.get(handle)).toMatchObject({ status: 'completed', result });
  });

  test.for([
    ['at once', { protocol: 'modern' }, 'greet'],
    ['over a legacy connection', { protocol: 'legacy' }, 'greet'],
    ['without tasks', { tasks: false }, 'greet'],
  ] as const)('stores the result that a server returns %s', async ([, definition, name]) => {
    const { client } = connect(definition);
    const handle = stored(await client.tasks.start({ serverName: 'it', name }));
    expect(handle).toMatchObject({ result: textOf('Hello') });
    expect(await client.tasks.result(handle)).toMatchObject(textOf('Hello'));
    expect(await client.tasks.get(handle)).toMatchObject({ status: 'completed', result: textOf('Hello') });
    await client.tasks.cancel(handle);
    await client.tasks.update(handle, {});
  });

  test('cancels a task, which ends the wait of another client by a named error', async () => {
    const { client } = connect();
    const handle = await client.tasks.start({ serverName: 'it', name: 'wait' });
    const waiting = connect().client.tasks.result(stored(handle));
    await client.tasks.cancel(handle);
    await expect(waiting).rejects.toEqual(failsWith('MCP_TASK_CANCELLED'));
    await client.tasks.cancel(handle);
    expect(await client.tasks.get(handle)).toMatchObject({ status: 'cancelled' });
    await canceled();
  });

  test.for([
    ['the signal', () => ({ signal: AbortSignal.timeout(50) }), expect.objectContaining({ name: 'TimeoutError' })],
    ['the time limit', () => ({ maxTotalTimeout: 50 }), failsWith('MCP_REQUEST_TIMEOUT')],
  ] as const)('does not cancel a task when %s ends the wait', async ([, options, error]) => {
    const { client, sent } = connect();
    const handle = await client.tasks.start({ serverName: 'it', name: 'wait' });
    await expect(client.tasks.result(handle, options())).rejects.toEqual(error);
    await client.disconnect();
    expect(sent.map(({ method }) => method)).not.toContain('tasks/cancel');
    gate.open();
    expect(await connect().client.tasks.result(handle)).toMatchObject(textOf('waited'));
  });

  test('responds to input requests by key, in parts', async () => {
    const { client } = connect({ capabilities: { elicitation: { form: {} } } });
    const handle = await client.tasks.start({ serverName: 'it', name: 'ask', args: { names: ['a', 'b'] } });
    for (const value of ['a', 'b']) {
      const task = await reached(client, handle, 'input_required');
      const requests = task.status === 'input_required' ? Object.entries(task.inputRequests) : [];
      const [key] = requests.find(([, request]) => JSON.stringify(request).includes(`"message":"${value}"`)) ?? [''];
      await client.tasks.update(handle, { [key]: { action: 'accept', content: { value } } });
    }
    const { content } = await client.tasks.result(handle);
    expect(content).toEqual([{ type: 'text', text: 'a: accept {"value":"a"}\nb: accept {"value":"b"}' }]);
  });

  test.for<[string, Partial<HttpServerDefinition>]>([
    ['without a handler', {}],
    ['that declares what it has no handler for', { capabilities: { elicitation: { form: {} } } }],
  ])('leaves a task that waits for input to another client: a client %s', async ([, definition]) => {
    const { client, sent } = connect(definition);
    const handle = stored(await client.tasks.start({ serverName: 'it', name: 'ask', args: { names: ['a'] } }));
    await expect(client.tasks.result(handle)).rejects.toEqual(failsWith('MCP_TASK_INPUT_UNSUPPORTED'));
    const task = await client.tasks.get(handle);
    expect(task).toMatchObject({
      status: 'input_required',
      inputRequests: { 'input-1': { method: 'elicitation/create' } },
    });
    const isDeclared = definition.capabilities !== undefined;
    expect(task).toMatchObject(isDeclared ? {} : { requiredCapabilities: { elicitation: { form: {} } } });
    await client.disconnect();
    const changing = sent.filter(({ method }) => ['tasks/cancel', 'tasks/update'].includes(method));
    expect(changing).toEqual([]);
    const { client: other } = connect();
    await other.elicitation.onRequest('it', async () => ({ action: 'accept', content: { value: 'later' } }));
    expect(await other.tasks.result(handle)).toMatchObject(textOf('a: accept {"value":"later"}'));
  });

  test('rejects an unknown task', async () => {
    const { client } = connect();
    const handle = { serverName: 'it', name: 'wait', taskId: 'x'.repeat(32) };
    const details = { reason: 'MCP_TASK_NOT_FOUND' };
    const { get, cancel, update } = client.tasks;
    await expect(get(handle)).rejects.toMatchObject({ code: 'MCP_CLIENT_GET_TASK_FAILED', details });
    await expect(cancel(handle)).rejects.toMatchObject({ code: 'MCP_CLIENT_CANCEL_TASK_FAILED', details });
    await expect(update(handle, {})).rejects.toMatchObject({ code: 'MCP_CLIENT_UPDATE_TASK_FAILED', details });
    await expect(client.tasks.result(handle)).rejects.toEqual(failsWith('MCP_TASK_NOT_FOUND'));
  });

  test('rejects a connection without tasks', async () => {
    const handle = { serverName: 'it', name: 'wait', taskId: 'x' };
    for (const definition of [{ protocol: 'legacy' }, { tasks: false }] as const)
      await expect(connect(definition).client.tasks.get(handle)).rejects.toMatchObject({
        details: { reason: 'MCP_TASKS_UNSUPPORTED' },
      });
  });

  test.for([null, 'x', [], {}, { serverName: 'it' }, { serverName: 'it', taskId: '' }, { serverName: 5, taskId: 'x' }])(
    'rejects the handle %j',
    async (handle) => {
      const { client } = connect();
      const { get, result, cancel, update } = client.tasks;
      const given = handle as never;
      for (const run of [get, result, cancel, (it: never) => update(it, {})])
        await expect(run(given)).rejects.toMatchObject({ code: 'MCP_TASK_HANDLE_INVALID' });
      const known = { serverName: 'it', name: 'wait', taskId: 'x' };
      await expect(update(known, handle as never)).rejects.toMatchObject(
        handle !== null && typeof handle === 'object' && !Array.isArray(handle)
          ? { code: 'MCP_CLIENT_UPDATE_TASK_FAILED' }
          : { code: 'MCP_TASK_HANDLE_INVALID' },
      );
    },
  );
});
