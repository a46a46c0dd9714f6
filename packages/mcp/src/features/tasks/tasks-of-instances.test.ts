import { createTool, type ToolContext, type ToolTaskOptions } from '@quiver/core/tools';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { Gate } from '../../../test/gate.ts';
import { TaskCaller, type TaskCallerOptions } from '../../../test/clients/task-caller.ts';
import { UnreliableStore } from '../../../test/stores/unreliable-store.ts';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import { cacheResults } from '../result-cache/cache-results.js';
import { MCPServer } from '../../server/mcp-server.js';
import type { MCPServerConfig } from '../../server/features.js';

type Execute = (input: Record<string, unknown>, context: ToolContext) => Promise<unknown>;

const ignore = (): void => {};
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Time of the store in addition to the clock. */
let elapsed = 0;
let shared: InMemoryStore;
const opened: Instance[] = [];
beforeEach(() => {
  elapsed = 0;
  shared = new InMemoryStore(() => Date.now() + elapsed);
});
afterEach(async () => {
  for (const { store, runs } of opened) {
    store.isCut = false;
    for (const { finish } of runs) finish('end');
  }
  await Promise.all(opened.splice(0).map(({ server }) => server.close({ grace: 0 })));
});

/** A run of the tool, which the test ends. */
interface Run {
  readonly input: Record<string, unknown>;
  readonly context: ToolContext;
  finish(result: unknown): void;
}

/** A process that serves the tool `job`. */
class Instance {
  readonly store = new UnreliableStore(shared);
  readonly runs: Run[] = [];
  readonly server: MCPServer;

  constructor(task: ToolTaskOptions, before: Execute, config: Partial<MCPServerConfig>) {
    const execute: Execute = async (input, context) => {
      const prefix = await before(input, context);
      const result = await new Promise((resolve) => {
        this.runs.push({ input, context, finish: resolve });
      });
      return `${prefix}${result}`;
    };
    this.server = new MCPServer({
      name: 'Cluster',
      version: '1.0.0',
      sharedStore: this.store,
      logger,
      tools: { job: createTool({ id: 'job', description: 'Works', mcp: { task }, execute }) },
      ...config,
    });
    opened.push(this);
  }

  as(options: TaskCallerOptions = {}): TaskCaller {
    return new TaskCaller(this.server, { capabilities: { elicitation: {} }, ...options });
  }

  /** The connection to the store breaks, and the sign of life ends. The run continues: the process may only be isolated. */
  die(): void {
    this.store.isCut = true;
    elapsed += 60_000;
  }
}

const start = (task: ToolTaskOptions = {}, before: Execute = async () => '', config: Partial<MCPServerConfig> = {}) =>
  new Instance(task, before, config);

const startTask = (instance: Instance, options?: TaskCallerOptions, args = {}) =>
  instance.as(options).start('job', args);

const ask: Execute = async (_input, { mcp }) => {
  const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' } }, required: ['name'] };
  const { content } = await mcp.elicitation.sendRequest({ message: 'Name?', requestedSchema });
  return `${content?.name} `;
};

describe('another instance', () => {
  test('returns state and result of a task', async () => {
    const [a, b] = [start(), start()];
    const taskId = await startTask(a);
    await a.runs[0]?.context.mcp.progress({ progress: 1, message: 'half' });
    await eventually(async () =>
      expect(await b.as().get(taskId)).toMatchObject({ status: 'working', statusMessage: 'half' }),
    );
    a.runs[0]?.finish('done');
    expect(await b.as().ended(taskId)).toMatchObject({ result: { content: [{ text: 'done' }] } });
    expect(b.runs).toHaveLength(0);
  });

  test('passes responses and cancellations to the one that runs the task', async () => {
    const [a, b] = [start({}, ask), start({}, ask)];
    const taskId = await startTask(a);
    const [key = ''] = Object.keys(await b.as().asked(taskId));
    await b.as().respond(taskId, key);
    await eventually(() => expect(a.runs).toHaveLength(1));
    await b.as().request('tasks/cancel', { taskId });
    await eventually(() => expect(a.runs[0]?.context.abortSignal?.aborted).toBe(true));
    expect(await a.as().get(taskId)).toMatchObject({ status: 'cancelled' });
  });

  test.each([{}, { resume: true }])(
    'requests input of a later caller that declares it, also in another run: %j',
    async (task) => {
      const [a, b] = [start(task, ask), start(task, ask)];
      const taskId = await startTask(a, { capabilities: {} });
      const refused = async (caller: TaskCaller) =>
        eventually(async () => {
          const { error } = await caller.request('tasks/get', { taskId });
          expect(error?.data).toMatchObject({ requiredCapabilities: { elicitation: { form: {} } } });
        });
      await refused(b.as({ capabilities: {} }));
      if (task.resume) a.die();
      const [key = ''] = Object.keys(await b.as().asked(taskId));
      await b.as().respond(taskId, key);
      const runner = task.resume ? b : a;
      await eventually(() => expect(runner.runs).toHaveLength(1));
      runner.runs[0]?.finish('done');
      expect(await b.as().ended(taskId)).toMatchObject({ result: { content: [{ text: 'Ada done' }] } });
    },
  );

  test('writes once for each of many simultaneous responses', async () => {
    const a = start({}, async (input, context) => {
      const names = Array.from({ length: 40 }, () => ask(input, context));
      return (await Promise.all(names)).join('');
    });
    const taskId = await startTask(a);
    const keys = await eventually(async () => {
      const all = Object.keys(await a.as().asked(taskId));
      expect(all).toHaveLength(40);
      return all;
    });
    const put = vi.spyOn(shared, 'put');
    await Promise.all(keys.map((key) => a.as().respond(taskId, key, key)));
    expect(put.mock.calls.filter(([key]) => key.startsWith('task/'))).toHaveLength(40);
    await eventually(() => expect(a.runs).toHaveLength(1));
    a.runs[0]?.finish('');
    expect(await a.as().ended(taskId)).toMatchObject({ status: 'completed' });
  });

  test('rejects other callers', async () => {
    const [a, b] = [start(), start()];
    const taskId = await startTask(a, { authInfo: { token: 'one', clientId: 'a' } });
    const { error } = await b.as({ authInfo: { token: 'two', clientId: 'a' } }).request('tasks/get', { taskId });
    expect(error.code).toBe(-32602);
    expect(await b.as({ authInfo: { token: 'one', clientId: 'a' } }).get(taskId)).toMatchObject({ status: 'working' });
  });

  test('sends notifications about a task', async () => {
    const [a, b] = [start(), start()];
    const taskId = await startTask(a);
    const { body } = await b.as().open('subscriptions/listen', { notifications: { taskIds: [taskId, 'unknown'] } });
    let text = '';
    const reading = (async () => {
      for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) text += new TextDecoder().decode(chunk);
    })();
    const messages = () => [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data as string));
    await eventually(() => expect(messages()).toHaveLength(2));
    a.runs[0]?.finish('done');
    await eventually(() => expect(messages().at(-1)).toMatchObject({ params: { status: 'completed' } }));
    const [first, ...others] = messages();
    expect(first).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [taskId] } },
    });
    const state = await b.as().get(taskId);
    delete state.resultType;
    const subscription = { 'io.modelcontextprotocol/subscriptionId': 1 };
    expect(others.at(-1)).toMatchObject({
      method: 'notifications/tasks',
      params: { ...state, _meta: subscription },
    });
    for (const { method } of others) expect(method).toBe('notifications/tasks');
    await b.server.close({ grace: 1000 });
    await reading;
  });
});

describe('a task whose process died', () => {
  test('fails with a reason when its client asks', async () => {
    const [a, b] = [start(), start()];
    const taskId = await startTask(a);
    a.die();
    expect(await b.as().get(taskId)).toMatchObject({
      status: 'failed',
      error: { code: -32603, message: expect.stringContaining('process') },
    });
    // The process was isolated, and comes back.
    a.store.isCut = false;
    await a.runs[0]?.context.mcp.progress({ progress: 1 });
    await eventually(() => expect(a.runs[0]?.context.abortSignal?.aborted).toBe(true));
    a.runs[0]?.finish('late');
    expect(await a.as().get(taskId)).toMatchObject({ status: 'failed' });
  });

  test('does not fail when its result was stored before', async () => {
    const [a, b] = [start(), start()];
    const taskId = await startTask(a);
    a.runs[0]?.finish('done');
    await a.as().ended(taskId);
    a.die();
    expect(await b.as().get(taskId)).toMatchObject({ status: 'completed' });
  });

  test('runs again in one other instance, with its input, its caller and earlier responses', async () => {
    const config = { tasks: { callerData: ['tenant', 'roles'] } };
    const instances = [1, 2, 3, 4].map(() => start({ resume: true }, ask, config));
    const [a, ...others] = instances as [Instance, ...Instance[]];
    for (const { server } of instances) {
      server.use({
        onRequest: (context, next) => {
          context.requestContext.set('tenant', 'acme').set('secret', 'hidden');
          return next();
        },
      });
    }
    const authInfo = {
      token: 'top-secret-token',
      clientId: 'app',
      scopes: ['read'],
      extra: { sub: 'ada', iss: 'https://issuer.example', roles: ['admin'], refreshToken: 'top-secret-refresh' },
    };
    const taskId = await startTask(a, { authInfo }, { year: 2026 });
    const [key = ''] = Object.keys(await a.as({ authInfo }).asked(taskId));
    await a.as({ authInfo }).respond(taskId, key);
    await eventually(() => expect(a.runs).toHaveLength(1));
    for (const name of await shared.keys('')) expect((await shared.get(name))?.value).not.toContain('top-secret');
    a.die();
    const states = await Promise.all([...others, ...others].map((instance) => instance.as({ authInfo }).get(taskId)));
    for (const { status } of states) expect(status).toBe('working');
    const runs = (): Run[] => others.flatMap((instance) => instance.runs);
    await eventually(() => expect(runs()).toHaveLength(1));
    const [run] = runs();
    expect(run?.input).toEqual({ year: 2026 });
    expect(run?.context.mcp.extra?.authInfo).toMatchObject({
      clientId: 'app',
      scopes: ['read'],
      extra: { sub: 'ada', roles: ['admin'] },
    });
    expect(run?.context.requestContext.get('tenant')).toBe('acme');
    expect(run?.context.requestContext.has('secret')).toBe(false);
    run?.finish('resumed');
    const last = others.at(-1) as Instance;
    expect(await last.as({ authInfo }).ended(taskId)).toMatchObject({
      result: { content: [{ text: 'Ada resumed' }] },
    });
    // The isolated process comes back, and its result is ignored.
    a.store.isCut = false;
    a.runs[0]?.finish('late');
    expect(await a.as({ authInfo }).ended(taskId)).toMatchObject({ result: { content: [{ text: 'Ada resumed' }] } });
    expect(runs()).toHaveLength(1);
  });

  test('runs again once where several instances find it at the same time', async () => {
    const a = start({ resume: true });
    const others = [1, 2, 3].map(() => start({ resume: true }));
    const taskId = await startTask(a);
    a.die();
    await Promise.all(others.map((instance) => instance.as().get(taskId)));
    const runs = (): Run[] => others.flatMap((instance) => instance.runs);
    await eventually(() => expect(runs()).toHaveLength(1));
    runs()[0]?.finish('resumed');
    const [b] = others as [Instance];
    expect(await b.as().ended(taskId)).toMatchObject({ result: { content: [{ text: 'resumed' }] } });
    expect(runs()).toHaveLength(1);
  });

  test('runs again without a request, where an instance with its tool starts to listen', async () => {
    const a = start({ resume: true });
    const taskId = await startTask(a, {}, { year: 2026 });
    a.die();
    const without = start();
    await without.server.listen({ port: 0, host: '127.0.0.1' });
    const b = start({ resume: true });
    await b.server.listen({ port: 0, host: '127.0.0.1' });
    await eventually(() => expect(b.runs).toHaveLength(1));
    expect(b.runs[0]?.input).toEqual({ year: 2026 });
    b.runs[0]?.finish('resumed');
    expect(await without.as().ended(taskId)).toMatchObject({ result: { content: [{ text: 'resumed' }] } });
  });

  test('runs again at once where its server is closed', async () => {
    const [a, b] = [start({ resume: true }), start({ resume: true })];
    const taskId = await startTask(a);
    // It can now receive what others send.
    await startTask(b);
    await a.server.close({ grace: 0 });
    await eventually(() => expect(b.runs).toHaveLength(2));
    b.runs[1]?.finish('resumed');
    expect(await b.as().ended(taskId)).toMatchObject({ result: { content: [{ text: 'resumed' }] } });
  });

  test('does not run in an instance that was closed while it took over', async () => {
    const [a, b, c] = [start({ resume: true }), start({ resume: true }), start({ resume: true })];
    const taskId = await startTask(a);
    a.die();
    const { put } = b.store;
    const gate = new Gate();
    const taken = new Promise<void>((resolve) => {
      b.store.put = async (key, ...rest) => {
        if (key.startsWith('task/')) {
          resolve();
          await gate.passed;
        }
        return put(key, ...rest);
      };
    });
    const taking = b.as().request('tasks/get', { taskId });
    await taken;
    await b.server.close({ grace: 0 });
    gate.open();
    await taking;
    await eventually(async () => {
      expect(await c.as().get(taskId)).toMatchObject({ status: 'working' });
      expect(c.runs).toHaveLength(1);
    });
    expect(b.runs).toHaveLength(0);
    c.runs[0]?.finish('resumed');
    expect(await c.as().ended(taskId)).toMatchObject({ result: { content: [{ text: 'resumed' }] } });
  });

  test('leaves no record of its run after its end', async () => {
    const a = start({ resume: true });
    const ids = [await startTask(a), await startTask(a)];
    await eventually(async () => expect(await shared.keys('task-run/')).toHaveLength(2));
    a.runs[0]?.finish('done');
    await a.as().request('tasks/cancel', { taskId: ids[1] });
    a.runs[1]?.finish('late');
    await eventually(async () => expect(await shared.keys('task-run/')).toEqual([]));
  });

  test('ignores the end of its first run after its instance has taken it back', async () => {
    const [a, b] = [start({ resume: true }), start({ resume: true })];
    const taskId = await startTask(a);
    a.die();
    expect(await b.as().get(taskId)).toMatchObject({ status: 'working' });
    b.die();
    a.store.isCut = false;
    expect(await a.as().get(taskId)).toMatchObject({ status: 'working' });
    await eventually(() => expect(a.runs).toHaveLength(2));
    a.runs[0]?.finish('first');
    await eventually(() => expect(a.runs[0]?.context.abortSignal?.aborted).toBe(true));
    a.runs[1]?.finish('third');
    expect(await a.as().ended(taskId)).toMatchObject({ result: { content: [{ text: 'third' }] } });
  });

  test('keeps its result when the wall clock of its process is set forward', async () => {
    const a = start({ ttlMs: 60_000 });
    const taskId = await startTask(a);
    const real = Date.now;
    onTestFinished(() => void (Date.now = real));
    elapsed = -3_600_000;
    Date.now = () => real() + 3_600_000;
    a.runs[0]?.finish('first');
    expect(await a.as().ended(taskId)).toMatchObject({ result: { content: [{ text: 'first' }] } });
  });

  test('counts for its caller where it runs again', async () => {
    const tasks = { maxCharactersPerCaller: 1 };
    const [a, b] = [start({ resume: true }, ask, { tasks }), start({ mode: 'required', resume: true }, ask, { tasks })];
    const ada = { authInfo: { clientId: 'a', extra: { sub: 'ada' } } };
    const taskId = await startTask(a, ada);
    a.die();
    await b.as(ada).get(taskId);
    await eventually(async () => expect((await b.as(ada).call('job')).status).toBe(429));
    const bob = { authInfo: { clientId: 'a', extra: { sub: 'bob' } } };
    expect((await b.as(bob).call('job')).status).toBe(200);
  });

  test.each<[string, (record: Record<string, unknown>) => unknown]>([
    ['text that is not JSON', () => '{"taskId":'],
    ['another value than an object', () => null],
    ['the record of another task', (record) => ({ ...record, taskId: 'x'.repeat(32) })],
    ['a result that closes its member', (record) => ({ ...record, result: '{}},"isError":{' })],
    ['a result that is not an object', (record) => ({ ...record, result: '7' })],
    ['no result', (record) => ({ ...record, result: undefined })],
    ['an unknown status', (record) => ({ ...record, status: 'done' })],
    ['a failure without an error', (record) => ({ ...record, status: 'failed' })],
    ['an owner that is not text', (record) => ({ ...record, owner: 7 })],
    ['requests that are not an object', (record) => ({ ...record, status: 'input_required', inputRequests: 'x' })],
    ['a request without a method', (record) => ({ ...record, inputRequests: { a: {} } })],
    [
      'a request for a capability that is not an object',
      (record) => ({ ...record, inputRequests: { a: { method: 'x', requires: { y: 7 } } } }),
    ],
    ['a call without params', (record) => ({ ...record, call: { requestId: 1 } })],
    ['an answer without its question', (record) => ({ ...record, answers: { a: { answer: 1 } } })],
    ['a lifetime that is not a number', (record) => ({ ...record, ttlMs: '1' })],
  ])('is refused by name when its record contains %s', async (_title, forge) => {
    const errors: unknown[] = [];
    const a = start({}, undefined, { logger: { ...logger, error: (_message, error) => errors.push(error) } });
    const taskId = await startTask(a);
    a.runs[0]?.finish('first');
    await a.as().ended(taskId);
    const [key = ''] = await shared.keys('task/');
    const forged = forge(JSON.parse((await shared.get(key))?.value ?? '') as Record<string, unknown>);
    await shared.put(key, typeof forged === 'string' ? forged : JSON.stringify(forged));
    const { error } = await a.as().request('tasks/get', { taskId });
    expect(error).toMatchObject({ code: -32603, data: { code: 'TASK_RECORD_INVALID' } });
    expect(errors).toMatchObject([{ code: 'TASK_RECORD_INVALID' }]);
  });

  test('has the arguments of the onRequest hooks when it runs again', async () => {
    const [a, b] = [start({ resume: true }), start({ resume: true })];
    for (const { server } of [a, b])
      server.use({
        onRequest(context, next) {
          if (context.method === 'tools/call') context.arguments = { ...context.arguments, tenant: 'acme' };
          return next();
        },
        onCallTool(context, next) {
          context.arguments = { ...context.arguments, count: Number(context.arguments['count'] ?? 0) + 1 };
          return next();
        },
      });
    const taskId = await startTask(a, {}, { tenant: 'other' });
    a.die();
    await b.as().get(taskId);
    await eventually(() => expect(b.runs).toHaveLength(1));
    expect(b.runs[0]?.input).toEqual({ tenant: 'acme', count: 1 });
  });

  test('does not share a cached result with another caller without authentication when it runs again', async () => {
    const config = { tasks: { callerData: ['tenant'] } };
    const [a, b] = ['a', 'b'].map(() => start({ resume: true }, async () => '', config)) as [Instance, Instance];
    for (const { server } of [a, b])
      server
        .use({
          onRequest(context, next) {
            context.requestContext.set('tenant', context.headers['x-tenant']);
            return next();
          },
        })
        .use(cacheResults({ ttlMs: 60_000, tools: ['job'] }));
    const taskIds: string[] = [];
    for (const tenant of ['acme', 'umbrella']) {
      const { result } = await a.as().request('tools/call', { name: 'job', arguments: {} }, { 'x-tenant': tenant });
      taskIds.push(result.taskId as string);
    }
    a.die();
    const resultOf = async (taskId = ''): Promise<unknown> => {
      await b.as().get(taskId);
      await eventually(() => expect(b.runs).toHaveLength(taskIds.indexOf(taskId) + 1));
      const { context, finish } = b.runs.at(-1) as Run;
      finish(context.requestContext?.get('tenant' as never));
      return b.as().ended(taskId);
    };
    expect(await resultOf(taskIds[0])).toMatchObject({ result: { content: [{ text: 'acme' }] } });
    expect(await resultOf(taskIds[1])).toMatchObject({ result: { content: [{ text: 'umbrella' }] } });
  });

  test('keeps its unanswered request for input when it runs again', async () => {
    const [a, b] = [start({ resume: true }, ask), start({ resume: true }, ask)];
    const taskId = await startTask(a);
    const before = await a.as().asked(taskId);
    a.die();
    expect(await b.as().asked(taskId)).toEqual(before);
    await b.as().respond(taskId, Object.keys(before)[0]!);
    await eventually(() => expect(b.runs).toHaveLength(1));
    expect(a.runs).toHaveLength(0);
  });

  test('has the responses of input rounds before the task when it runs again', async () => {
    const config = { requestState: { key: 'k'.repeat(32) } };
    const [a, b] = [start({ resume: true, after: 30 }, ask, config), start({ resume: true, after: 30 }, ask, config)];
    const { requestState, inputRequests } = (await a.as().call('job')).result;
    const [key = ''] = Object.keys(inputRequests);
    const inputResponses = { [key]: { action: 'accept', content: { name: 'Ada' } } };
    const { result } = await a.as().call('job', {}, { requestState, inputResponses });
    expect(result.resultType).toBe('task');
    a.die();
    expect(await b.as().get(result.taskId)).toMatchObject({ status: 'working' });
    await eventually(() => expect(b.runs).toHaveLength(1));
    b.runs[0]?.finish('resumed');
    expect(await b.as().ended(result.taskId)).toMatchObject({ result: { content: [{ text: 'Ada resumed' }] } });
  });

  test('takes a response that arrives after its death', async () => {
    const [a, b] = [start({ resume: true }, ask), start({ resume: true }, ask)];
    const taskId = await startTask(a);
    const [key = ''] = Object.keys(await a.as().asked(taskId));
    a.die();
    await b.as().respond(taskId, key);
    await eventually(() => expect(b.runs).toHaveLength(1));
  });

  test('is canceled without running again', async () => {
    const [a, b] = [start({ resume: true }), start({ resume: true })];
    const taskId = await startTask(a);
    a.die();
    await b.as().request('tasks/cancel', { taskId });
    expect(await b.as().get(taskId)).toMatchObject({ status: 'cancelled' });
    expect(b.runs.every(({ context }) => context.abortSignal?.aborted)).toBe(true);
  });

  test('fails when the server that takes it over does not have the tool', async () => {
    const a = start({ resume: true });
    const b = start({ resume: true }, undefined, { tools: {} });
    const taskId = await startTask(a);
    a.die();
    await b.as().get(taskId);
    expect(await b.as().ended(taskId)).toMatchObject({ status: 'failed', error: { code: -32602 } });
  });
});

describe('a server that closes', () => {
  test('fails its tasks with a reason, which a restarted server returns', async () => {
    const a = start();
    const taskId = await startTask(a);
    await a.server.close({ grace: 0 });
    expect(await start().as().get(taskId)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('closed') },
    });
  });

  test('leaves tasks that may run again to the next one', async () => {
    const a = start({ resume: true });
    const taskId = await startTask(a, {}, { year: 2026 });
    await a.server.close({ grace: 0 });
    expect(a.runs[0]?.context.abortSignal?.aborted).toBe(true);
    const b = start({ resume: true });
    expect(await b.as().get(taskId)).toMatchObject({ status: 'working' });
    await eventually(() => expect(b.runs).toHaveLength(1));
    b.runs[0]?.finish('done');
    expect(await b.as().ended(taskId)).toMatchObject({ result: { content: [{ text: 'done' }] } });
  });

  test('waits for tasks that end in time', async () => {
    const a = start();
    const taskId = await startTask(a);
    const closing = a.server.close({ grace: 60_000 });
    a.runs[0]?.finish('done');
    await closing;
    expect(await start().as().get(taskId)).toMatchObject({ status: 'completed' });
  });
});

test('data of a caller that cannot be read fails its call, not the process', async () => {
  const a = start({ resume: true }, undefined, { tasks: { callerData: ['tenant'] } });
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  a.server.use({
    onRequest: (context, next) => {
      context.requestContext.set('tenant', proxy);
      return next();
    },
  });
  expect((await a.as().call('job')).error.code).toBe(-32603);
  await eventually(() => expect(a.runs[0]?.context.abortSignal?.aborted).toBe(true));
});

describe('a store that is unavailable', () => {
  test('leaves no subscription of a listen request that fails', async () => {
    const a = start();
    const taskIds = [await startTask(a), await startTask(a)];
    const { subscribe } = a.store;
    const stop = vi.fn(async () => {});
    let calls = 0;
    a.store.subscribe = async (channel, listener) => {
      if (!channel.startsWith('task/')) return subscribe(channel, listener);
      calls += 1;
      if (calls === 1) throw new Error('cut');
      // The other one takes longer.
      await new Promise((resolve) => setTimeout(resolve, 10));
      return stop;
    };
    const { error } = await a.as().request('subscriptions/listen', { notifications: { taskIds } });
    expect(error.code).toBe(-32603);
    expect(stop).toHaveBeenCalledTimes(1);
  });

  test('refuses a call that would become a task, and aborts the tool', async () => {
    const a = start();
    a.store.isCut = true;
    const { error } = await a.as().call('job');
    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('is unavailable') });
    await eventually(() => expect(a.runs[0]?.context.abortSignal?.aborted).toBe(true));
  });

  test('rejects the request for input of a call that would become a task', async () => {
    let isClean = false;
    const a = start({}, async (input, context) => {
      try {
        return await ask(input, context);
      } finally {
        isClean = true;
      }
    });
    a.store.isCut = true;
    expect((await a.as().call('job')).error.code).toBe(-32603);
    await eventually(() => expect(isClean).toBe(true));
  });

  test('loses no result', async () => {
    const a = start();
    const taskId = await startTask(a);
    a.store.isCut = true;
    expect((await a.as().request('tasks/get', { taskId })).error.code).toBe(-32603);
    const { failures } = a.store;
    a.runs[0]?.finish('done');
    await eventually(() => expect(a.store.failures).toBeGreaterThan(failures));
    a.store.isCut = false;
    expect(await a.as().ended(taskId)).toMatchObject({ status: 'completed' });
  });
});
