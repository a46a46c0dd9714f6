import { createTool, type ToolContext, type ToolTaskMode, type ToolTaskOptions } from '@quiver/core/tools';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { afterTest } from '../../../test/after-test.ts';
import { eventually } from '../../../test/eventually.ts';
import { nameForm } from '../../../test/name-form.ts';
import { TaskCaller, tasksExtension, type TaskCallerOptions } from '../../../test/clients/task-caller.ts';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import { MCPServer } from '../../server/mcp-server.js';
import type { MCPServerConfig } from '../../server/features.js';

/** A tool that does what a test tells it to. */
class Work {
  readonly contexts: ToolContext[] = [];
  #release: (() => void)[] = [];

  readonly execute = async (_input: unknown, context: ToolContext): Promise<unknown> => {
    this.contexts.push(context);
    return new Promise((resolve) => {
      this.#release.push(() => resolve('done'));
    });
  };

  finish(): void {
    for (const release of this.#release.splice(0)) release();
  }
}

const question = { message: 'Name?', requestedSchema: nameForm };
const accept = (name: unknown): object => ({ action: 'accept', content: { name } });

let work: Work;
beforeEach(() => {
  work = new Work();
});
afterEach(() => work.finish());

type Execute = (input: Record<string, never>, context: ToolContext) => Promise<unknown>;

function serve(
  task: ToolTaskMode | ToolTaskOptions = 'optional',
  execute: Execute = work.execute,
  config: Partial<MCPServerConfig> = {},
): MCPServer {
  const tools = {
    job: createTool({ id: 'job', description: 'Works', mcp: { task }, execute }),
    greet: createTool({ id: 'greet', description: 'Greets', execute: async () => 'Hello' }),
  };
  const server = new MCPServer({ name: 'Tasks', version: '1.0.0', tools, ...config });
  afterTest(() => server.close({ grace: 0 }));
  return server;
}

const callerOf = (server: MCPServer, options?: TaskCallerOptions): TaskCaller =>
  new TaskCaller(server, { capabilities: { elicitation: {} }, ...options });

describe('a call of a client that supports tasks', () => {
  test('returns a flat task, which holds the result of the call at its end', async () => {
    const caller = callerOf(serve({ ttlMs: 60_000, pollIntervalMs: 50 }));
    const { result } = await caller.call('job');
    expect(result).toEqual({
      resultType: 'task',
      taskId: expect.stringMatching(/^[\w-]{32}$/),
      status: 'working',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      lastUpdatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      ttlMs: 60_000,
      pollIntervalMs: 50,
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'Tasks', version: '1.0.0' } },
    });
    expect(await caller.get(result.taskId)).toMatchObject({ resultType: 'complete', status: 'working' });
    work.finish();
    const task = await caller.ended(result.taskId);
    expect(task).toMatchObject({
      status: 'completed',
      result: { resultType: 'complete', content: [{ type: 'text', text: 'done' }] },
    });
  });

  test('returns the result itself when it is there at once', async () => {
    const caller = callerOf(serve('required', async () => 'at once'));
    const { result } = await caller.call('job');
    expect(result).toMatchObject({ resultType: 'complete', content: [{ type: 'text', text: 'at once' }] });
  });

  test('returns the result itself within the time before the task', async () => {
    const caller = callerOf(serve({ after: 60_000 }));
    const call = caller.call('job');
    await eventually(() => expect(work.contexts).toHaveLength(1));
    work.finish();
    expect((await call).result).toMatchObject({ resultType: 'complete' });
  });

  test('becomes a task after the time before the task', async () => {
    const caller = callerOf(serve({ after: 1 }));
    await caller.start();
    expect(work.contexts).toHaveLength(1);
  });

  test('does not become a task by a legacy task parameter', async () => {
    const { result } = await callerOf(serve()).call('greet', {}, { task: { ttl: 60_000 } });
    expect(result).toMatchObject({ resultType: 'complete' });
  });

  test('ends with an error result, which completes the task', async () => {
    const server = serve('optional', async (input, context) => {
      await work.execute(input, context);
      throw new Error('The job failed.');
    });
    const caller = callerOf(server);
    const taskId = await caller.start();
    work.finish();
    expect(await caller.ended(taskId)).toMatchObject({ status: 'completed', result: { isError: true } });
  });

  test('fails when its result is too long to be stored', async () => {
    const execute: Execute = async (input, context) => `${await work.execute(input, context)}`.repeat(100);
    const caller = callerOf(serve('optional', execute, { tasks: { maxResultLength: 300 } }));
    const taskId = await caller.start();
    work.finish();
    expect(await caller.ended(taskId)).toMatchObject({
      status: 'failed',
      error: {
        code: -32603,
        message: expect.stringContaining('at most 300'),
        data: { code: 'TASK_RESULT_TOO_LONG' },
      },
    });
  });

  test('reports progress as the status message, and sends neither progress nor logs', async () => {
    const caller = callerOf(serve());
    const taskId = await caller.start();
    await work.contexts[0]?.mcp.progress({ progress: 1, total: 3, message: 'reading' });
    await work.contexts[0]?.mcp.log('error', 'not sent');
    await eventually(async () => expect(await caller.get(taskId)).toMatchObject({ statusMessage: 'reading' }));
    await work.contexts[0]?.mcp.progress({ progress: 2, total: 3 });
    work.finish();
    expect(await caller.ended(taskId)).toMatchObject({ statusMessage: '2 of 3' });
  });
});

describe('a call of a client that does not declare tasks', () => {
  test('waits for the result of an optional task', async () => {
    const call = callerOf(serve(), { declares: false }).call('job');
    await eventually(() => expect(work.contexts).toHaveLength(1));
    work.finish();
    expect((await call).result).toMatchObject({ resultType: 'complete' });
  });

  test('is rejected when the tool requires a task', async () => {
    const { status, error } = await callerOf(serve('required'), { declares: false }).call('job');
    expect(status).toBe(400);
    expect(error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
    });
    expect(work.contexts).toHaveLength(0);
  });

  test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])('cannot use %s', async (method) => {
    const server = serve();
    const taskId = await callerOf(server).start();
    const { error } = await callerOf(server, { declares: false }).request(method, { taskId, inputResponses: {} });
    expect(error.code).toBe(-32021);
  });

  test('cannot subscribe to tasks', async () => {
    const server = serve();
    const taskIds = [await callerOf(server).start()];
    const caller = callerOf(server, { declares: false });
    const { error } = await caller.request('subscriptions/listen', { notifications: { taskIds } });
    expect(error.code).toBe(-32021);
  });
});

describe('server/discover', () => {
  const extensionsOf = async (server: MCPServer): Promise<unknown> =>
    (await callerOf(server).request('server/discover')).result.capabilities;

  test('names the extension of a server with such a tool', async () => {
    expect(await extensionsOf(serve())).toMatchObject({ extensions: { [tasksExtension]: {} } });
    expect(await extensionsOf(serve())).not.toHaveProperty('tasks');
  });

  test('does not name it without such a tool', async () => {
    expect(await extensionsOf(serve('never'))).not.toHaveProperty('extensions');
  });
});

describe('tasks/get, tasks/update and tasks/cancel', () => {
  test.each(['tasks/list', 'tasks/result'])('%s does not exist', async (method) => {
    expect((await callerOf(serve()).request(method)).error.code).toBe(-32601);
  });

  test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
    '%s rejects ids of others like unknown ids',
    async (method) => {
      const server = serve();
      const taskId = await callerOf(server, { authInfo: { clientId: 'a', extra: { sub: 'ada' } } }).start();
      const bob = callerOf(server, { authInfo: { clientId: 'a', extra: { sub: 'bob' } } });
      const foreign = await bob.request(method, { taskId, inputResponses: {} });
      const unknown = await bob.request(method, { taskId: 'A'.repeat(32), inputResponses: {} });
      expect(foreign.error.code).toBe(-32602);
      expect(foreign).toEqual(unknown);
      for (const invalid of ['', '\0', 'x'.repeat(10_000), '__proto__'])
        expect(
          (await bob.request(method, { taskId: invalid, inputResponses: {} }, { 'mcp-name': 'x' })).error.code,
        ).toSatisfy((code: number) => [-32602, -32020].includes(code));
    },
  );

  test('rejects a header that names another task', async () => {
    const caller = callerOf(serve());
    const taskId = await caller.start();
    const { status, error } = await caller.request('tasks/get', { taskId }, { 'mcp-name': 'another' });
    expect([status, error.code]).toEqual([400, -32020]);
  });

  test.each([undefined, null, [], 'text', 7])('rejects the responses %j', async (inputResponses) => {
    const caller = callerOf(serve());
    const taskId = await caller.start();
    expect((await caller.request('tasks/update', { taskId, inputResponses })).error.code).toBe(-32602);
  });

  test('acknowledges a cancellation, also of a task that has ended, and aborts the tool', async () => {
    const caller = callerOf(serve());
    const taskId = await caller.start();
    const { result } = await caller.request('tasks/cancel', { taskId });
    expect(Object.keys(result).sort()).toEqual(['_meta', 'resultType']);
    expect(work.contexts[0]?.abortSignal?.aborted).toBe(true);
    expect((await caller.get(taskId)).status).toBe('cancelled');
    work.finish();
    expect((await caller.request('tasks/cancel', { taskId })).result.resultType).toBe('complete');
    expect((await caller.get(taskId)).status).toBe('cancelled');
  });

  test('forgets a task after its lifetime, and aborts the tool', async () => {
    const caller = callerOf(serve({ ttlMs: 20 }));
    const taskId = await caller.start();
    await eventually(() => expect(work.contexts[0]?.abortSignal?.aborted).toBe(true));
    expect((await caller.request('tasks/get', { taskId })).error.code).toBe(-32602);
  });
});

describe('requests for input', () => {
  const ask: Execute = async (_input, { mcp }) => {
    const { action, content } = await mcp.elicitation.sendRequest(question);
    return `${action} ${content?.name}`;
  };

  test('of a task wait for tasks/update', async () => {
    const caller = callerOf(serve('optional', ask));
    const taskId = await caller.start();
    expect(await caller.asked(taskId)).toEqual({
      'input-1': { method: 'elicitation/create', params: { mode: 'form', ...question } },
    });
    const { result } = await caller.respond(taskId, 'input-1');
    expect(Object.keys(result).sort()).toEqual(['_meta', 'resultType']);
    expect(await caller.ended(taskId)).toMatchObject({ result: { content: [{ text: 'accept Ada' }] } });
  });

  test.each([
    ['at once', async () => {}],
    ['after work', async (context: ToolContext) => void (await work.execute({}, context))],
  ])('%s of the tool reach a later request that declares the capability, and no other one', async (_title, doWork) => {
    const server = serve('optional', async (input, context) => {
      await doWork(context);
      const [answer, roots] = await Promise.all([ask(input, context), context.mcp.roots()]);
      return `${String(answer)} ${roots.length}`;
    });
    const creator = callerOf(server, { capabilities: {} });
    const taskId = await creator.start();
    work.finish();
    const refused = await eventually(async () => {
      const { status, error } = await creator.request('tasks/get', { taskId });
      expect(status).toBe(400);
      expect(error).toMatchObject({
        code: -32021,
        data: {
          requiredCapabilities: { elicitation: { form: {} }, roots: {} },
          task: {
            taskId,
            status: 'input_required',
            inputRequests: { 'input-1': { method: 'elicitation/create' }, 'input-2': { method: 'roots/list' } },
          },
        },
      });
      return error;
    });
    expect(JSON.stringify(refused)).not.toContain(question.message);
    const { body } = await creator.open('subscriptions/listen', { notifications: { taskIds: [taskId] } });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('notifications/tasks')) text += (await reader?.read())?.value ?? '';
    expect(text).toContain('"inputRequests":{}');
    await reader?.cancel();

    const forms = callerOf(server);
    expect(Object.keys(await forms.asked(taskId))).toEqual(['input-1']);
    await forms.respond(taskId, 'input-1');
    expect((await forms.request('tasks/get', { taskId })).error.data.requiredCapabilities).toEqual({ roots: {} });
    const roots = callerOf(server, { capabilities: { roots: {} } });
    expect(await roots.asked(taskId)).toEqual({ 'input-2': { method: 'roots/list' } });
    await roots.request('tasks/update', { taskId, inputResponses: { 'input-2': { roots: [] } } });
    expect(await creator.ended(taskId)).toMatchObject({ result: { content: [{ text: 'accept Ada 0' }] } });
  });

  test('of a call that stays without a task are rejected where the client cannot provide them', async () => {
    const server = serve('optional', (_input, { mcp }) => mcp.roots(), { tasks: { maxTotal: 1 } });
    const caller = callerOf(server);
    await caller.start();
    expect((await caller.call('job')).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { roots: {} } },
    });
  });

  test('fail with the error of a call when a client reports that it cannot provide them', async () => {
    const server = serve('optional', (_input, { mcp }) => mcp.roots());
    const caller = callerOf(server);
    const taskId = await caller.start();
    const failure = { code: 'ROOTS_NOT_SUPPORTED', message: 'No roots.' };
    const inputResponses = { 'input-1': { _meta: { 'quiver/error': failure } } };
    await caller.request('tasks/update', { taskId, inputResponses });
    const task = await caller.ended(taskId);
    expect(task).toMatchObject({
      status: 'failed',
      error: { code: -32021, data: { requiredCapabilities: { roots: {} } } },
    });
    expect(task).not.toHaveProperty('result');
  });

  test('stay until their own response, and ignore other keys', async () => {
    const server = serve('optional', async (_input, { mcp }) => {
      const answers = await Promise.all([
        mcp.elicitation.sendRequest(question, { key: 'first' }),
        mcp.elicitation.sendRequest(question, { key: 'second' }),
      ]);
      return answers.map(({ content }) => content.name).join(' ');
    });
    const caller = callerOf(server);
    const taskId = await caller.start();
    await eventually(async () => expect(Object.keys(await caller.asked(taskId))).toEqual(['first', 'second']));
    await caller.request('tasks/update', { taskId, inputResponses: { second: accept('B'), other: accept('C') } });
    expect(Object.keys(await caller.asked(taskId))).toEqual(['first']);
    await caller.request('tasks/update', { taskId, inputResponses: { second: accept('Z'), first: accept('A') } });
    expect(await caller.ended(taskId)).toMatchObject({ result: { content: [{ text: 'A B' }] } });
  });

  test('are repeated under a new key after an invalid response, and when the tool repeats them', async () => {
    const server = serve('optional', async (_input, { mcp }) => {
      const first = await mcp.elicitation.sendRequest(question, { key: 'name' });
      const second = await mcp.elicitation.sendRequest(question, { key: 'name' });
      return `${first.content.name} ${second.content.name}`;
    });
    const caller = callerOf(server);
    const taskId = await caller.start();
    const respond = async (key: string, name: unknown): Promise<void> => {
      await eventually(async () => expect(Object.keys(await caller.asked(taskId))).toEqual([key]));
      await caller.respond(taskId, key, name);
    };
    await respond('name', 7);
    await respond('name-2', 'A');
    await respond('name-3', 'B');
    expect(await caller.ended(taskId)).toMatchObject({ result: { content: [{ text: 'A B' }] } });
  });

  test('before the task are input rounds, and a later round becomes the task', async () => {
    const server = serve({ after: 30 }, async (input, context) => {
      const { content } = await context.mcp.elicitation.sendRequest(question, { key: 'user' });
      await work.execute(input, context);
      const more = await context.mcp.elicitation.sendRequest(question);
      return `${content.name} ${more.content.name}`;
    });
    const caller = callerOf(server);
    const round = (await caller.call('job')).result;
    expect(round).toMatchObject({ resultType: 'input_required', inputRequests: { user: {} } });
    const { requestState } = round;
    const { result } = await caller.call('job', {}, { requestState, inputResponses: { user: accept('Ada') } });
    expect(result).toMatchObject({ resultType: 'task', status: 'working' });
    expect(result).not.toHaveProperty('requestState');
    work.finish();
    await eventually(async () => expect(Object.keys(await caller.asked(result.taskId))).toEqual(['input-2']));
    await caller.respond(result.taskId, 'input-2', 'Lovelace');
    expect(await caller.ended(result.taskId)).toMatchObject({ result: { content: [{ text: 'Ada Lovelace' }] } });
    expect(work.contexts).toHaveLength(1);
  });

  test('end with the timeout that the tool sets', async () => {
    const execute: Execute = (_input, { mcp }) => mcp.elicitation.sendRequest(question, { timeout: 10 });
    const caller = callerOf(serve('optional', execute));
    const taskId = await caller.start();
    const task = await caller.ended(taskId);
    expect(task).toMatchObject({ status: 'completed', result: { isError: true } });
    expect(JSON.stringify(task)).toContain('did not respond within 10 ms');
    expect(task).not.toHaveProperty('inputRequests');
  });

  test.each([Infinity, 2 ** 31, 60_000.5])('wait for a response with a timeout of %d ms', async (timeout) => {
    const execute: Execute = async (_input, { mcp }) =>
      (await mcp.elicitation.sendRequest(question, { timeout })).content?.['name'];
    const caller = callerOf(serve('optional', execute));
    const taskId = await caller.start();
    await caller.asked(taskId);
    await caller.respond(taskId, 'input-1');
    expect(await caller.ended(taskId)).toMatchObject({ status: 'completed', result: { content: [{ text: 'Ada' }] } });
  });

  test('are withdrawn when the tool does not wait any longer', async () => {
    const controller = new AbortController();
    const server = serve('optional', async (input, context) => {
      const asking = context.mcp.elicitation.sendRequest(question, { signal: controller.signal });
      await asking.catch(() => {});
      return work.execute(input, context);
    });
    const caller = callerOf(server);
    const taskId = await caller.start();
    await caller.asked(taskId);
    controller.abort();
    await eventually(async () => expect((await caller.get(taskId)).status).toBe('working'));
    expect((await caller.respond(taskId, 'input-1')).result.resultType).toBe('complete');
  });

  test('of a canceled task are rejected, so that the tool can clean up', async () => {
    let isClean = false;
    const execute: Execute = async (_input, { mcp }) => {
      try {
        return await mcp.elicitation.sendRequest(question);
      } finally {
        isClean = true;
      }
    };
    const caller = callerOf(serve('optional', execute));
    const taskId = await caller.start();
    await caller.asked(taskId);
    await caller.request('tasks/cancel', { taskId });
    await eventually(() => expect(isClean).toBe(true));
  });
});

describe('limits', () => {
  test.each([{ maxTotal: 1 }, { maxCharacters: 1 }])('let an optional call run without a task: %j', async (tasks) => {
    const caller = callerOf(serve('optional', work.execute, { tasks }));
    await caller.start();
    const second = caller.call('job');
    await eventually(() => expect(work.contexts).toHaveLength(2));
    work.finish();
    expect((await second).result).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] });
  });

  test('refuse a call that requires a task, per caller', async () => {
    const server = serve('required', work.execute, { tasks: { maxPerCaller: 1 } });
    const ada = callerOf(server, { authInfo: { clientId: 'a', extra: { sub: 'ada' } } });
    const bob = callerOf(server, { authInfo: { clientId: 'a', extra: { sub: 'bob' } } });
    await ada.start();
    const { status, error } = await ada.call('job');
    expect([status, error.code]).toEqual([429, -32000]);
    await bob.start();
    // The call that was refused had no effect.
    expect(work.contexts.map(({ mcp }) => mcp.extra?.authInfo?.extra?.['sub'])).toEqual(['ada', 'bob']);
  });

  test.each([
    ['of a caller', { maxCharactersPerCaller: 20_000 }, 'maxCharactersPerCaller'],
    ['of the server', { maxCharacters: 20_000 }, 'maxCharacters'],
  ])('of the characters %s hold for any number of tasks, in every store', async (_title, tasks, name) => {
    const stores = [undefined, new InMemoryStore()];
    for (const sharedStore of stores) {
      const execute: Execute = async (input, context) => `${await work.execute(input, context)}`.repeat(1_000);
      const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
      const server = serve('required', execute, { tasks, logger, ...(sharedStore && { sharedStore }) });
      const ada = callerOf(server, { authInfo: { clientId: 'a', extra: { sub: 'ada' } } });
      const bob = callerOf(server, { authInfo: { clientId: 'a', extra: { sub: 'bob' } } });
      const ids: string[] = [];
      for (let count = 0; count < 8; count += 1) ids.push(await ada.start());
      work.finish();
      // oxlint-disable-next-line typescript/no-explicit-any -- any JSON that the server sent
      const states = (await Promise.all(ids.map((id) => ada.ended(id)))) as any[];
      const stored = states.filter(({ status }) => status === 'completed');
      expect(stored.length).toBeGreaterThan(1);
      const failed = states.filter(({ status }) => status === 'failed');
      expect(failed.length).toBeGreaterThan(1);
      for (const { error } of failed) {
        expect(error).toMatchObject({ code: -32603, data: { code: 'TASK_RESULTS_FULL' } });
        expect(error.message).toContain(name);
      }
      expect(logger.warn).toHaveBeenCalledWith(expect.stringContaining('TASK_RESULTS_FULL'));
      if (sharedStore) {
        const records = await Promise.all((await sharedStore.keys('task/')).map((key) => sharedStore.get(key)));
        const characters = records.reduce((sum, record) => sum + (record?.value.length ?? 0), 0);
        // A record has about 600 characters in addition to its result.
        expect(characters).toBeLessThan(20_000 + 8 * 1_000);
      }
      // Tasks are refused before their tool runs once the limit is reached.
      let refused = await ada.call('job');
      for (let count = 0; refused.status === 200 && count < 40; count += 1) refused = await ada.call('job');
      expect([refused.status, refused.error.code]).toEqual([429, -32000]);
      const { status } = await bob.call('job');
      expect(status).toBe(name === 'maxCharacters' ? 429 : 200);
      work.finish();
    }
  });

  test('of characters end with the lifetime of the tasks', async () => {
    const server = serve({ mode: 'required', ttlMs: 60_000 }, work.execute, { tasks: { maxCharacters: 1 } });
    const caller = callerOf(server);
    await caller.start();
    expect((await caller.call('job')).status).toBe(429);
    const { now } = performance;
    onTestFinished(() => void (performance.now = now));
    performance.now = () => now.call(performance) + 60_000;
    await caller.start();
  });

  test.each([
    { maxTotal: 0 },
    { maxPerCaller: 1.5 },
    { maxResultLength: -1 },
    { maxCharacters: 0 },
    { maxCharactersPerCaller: Number.NaN },
  ])('rejects %j', (tasks) => {
    expect(() => serve('optional', work.execute, { tasks })).toThrow(/must be an integer of at least 1/);
  });

  test.each([
    { ttlMs: 0 },
    { ttlMs: 1e15 },
    { after: -1 },
    { pollIntervalMs: 1.5 },
    { mode: 'sometimes' },
    { resume: 'yes' },
  ])('warns about the task options %j, and serves the tool without tasks', async (options) => {
    const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const server = serve(options as ToolTaskOptions, async () => 'served', { logger });
    expect(logger.warn).toHaveBeenCalledWith(expect.stringContaining('never become tasks'));
    expect((await callerOf(server).call('job')).result).toMatchObject({ resultType: 'complete' });
  });
});

test('a server that closes fails the tasks that have not ended', async () => {
  const server = serve();
  const caller = callerOf(server);
  await caller.start();
  await server.close({ grace: 1 });
  expect(work.contexts[0]?.abortSignal?.aborted).toBe(true);
});

test('a server that closes waits for a call in flight that becomes a task meanwhile', async () => {
  const server = serve({ after: 300 });
  const response = callerOf(server).call('job');
  await eventually(() => expect(work.contexts).toHaveLength(1));
  let isClosed = false;
  const closing = server.close({ grace: 60_000 }).then(() => (isClosed = true));
  expect((await response).result.resultType).toBe('task');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isClosed).toBe(false);
  work.finish();
  await closing;
});
