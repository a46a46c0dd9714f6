import { MCPServer } from '@quiver/mcp/server';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { toolOf } from '../../test/servers/tool-of.ts';
import { TaskCaller, type Answer } from '../../test/clients/task-caller.ts';
import { rpc, toRequest } from '../../test/clients/wire.ts';
import { eventually } from '../../test/eventually.ts';
import type { CallExtension } from '../server/call-extension.js';
import { ResultLimits } from './result-limit/limit-result.js';
import { TasksFeature } from './tasks/tasks-feature.js';

afterEach(() => vi.restoreAllMocks());

const call = { name: 'call_write_tool', arguments: { name: 'save', arguments: {} } };

/** Records when an extension begins and ends, and runs it. */
function record(log: string[], name: string, extension: Required<Pick<CallExtension, 'run'>>): void {
  const { run } = extension;
  vi.spyOn(extension, 'run').mockImplementation(async function (this: unknown, ...args) {
    log.push(name);
    const result = await run.apply(this, args);
    log.push(`${name} has ${result.json.length < 1_000 ? 'a short' : 'the whole'} result`);
    return result;
  });
}

/** Serves a tool through every extension. Each writes to the log when it has its turn. */
function serve(): { server: MCPServer; log: string[] } {
  const log: string[] = [];
  record(log, 'task', TasksFeature.prototype);
  record(log, 'limit', ResultLimits.prototype);
  const save = toolOf('save', { mcp: { task: { after: 0 } } }, async () => {
    log.push('tool');
    // Long enough to become a task.
    await new Promise((resolve) => setTimeout(resolve, 20));
    return 'short';
  });
  const server = new MCPServer({
    name: 'Order',
    version: '1.0.0',
    tools: { save },
    search: true,
    resultLimit: { characters: 500 },
  });
  server.use({
    onRequest: ({ name }, next) => {
      if (name !== undefined && !name.includes('-')) log.push(`request of ${name}`);
      return next();
    },
    onCallTool: async ({ name }, next) => {
      log.push(`hook of ${name}`);
      return `${String(await next())} ${'x'.repeat(5_000)}`;
    },
  });
  onTestFinished(() => server.close());
  return { server, log };
}

/** Search first: all others see the inner call. A task around the limit stores a short result; the limit also cuts what hooks return. */
const order = [
  'request of save',
  'task',
  'limit',
  'hook of save',
  'tool',
  'limit has a short result',
  'task has a short result',
];

test('calls run through search, task, limit, hooks and the tool (legacy)', async () => {
  const { server, log } = serve();
  const request = toRequest({ headers: { 'mcp-protocol-version': '2025-03-26' }, body: rpc('tools/call', call) });
  const { result } = (await (await server.fetch(request, { serverless: true })).json()) as Answer;
  expect(log).toEqual(order);
  expect(result.content[0].text.length).toBeLessThanOrEqual(500);
});

test('calls run through search, task, limit, hooks and the tool (modern)', async () => {
  const { server, log } = serve();
  const caller = new TaskCaller(server);
  const { result } = await caller.request('tools/call', call);
  expect(result.resultType).toBe('task');
  const task = await eventually(async () => {
    const state = await caller.get(result.taskId as string);
    expect(state.status).toBe('completed');
    return state;
  });
  expect(log).toEqual(order);
  expect(task.result.content[0].text.length).toBeLessThanOrEqual(500);
});
