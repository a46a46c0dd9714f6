import { describe, expect, test } from 'vitest';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { callServer } from '../../../test/clients/fetch-caller.ts';
import { eventually } from '../../../test/eventually.ts';
import { TaskCaller } from '../../../test/clients/task-caller.ts';
import { MCPServer } from '../../server/mcp-server.js';
import { audit, type AuditEntry } from '../../../test/servers/audit.ts';
import { timeLimit } from './time-limit.js';

const logger = { debug() {}, info() {}, warn() {}, error() {} };

describe.each(['legacy', 'modern'] as const)('timeLimit in the %s era', (era) => {
  test('aborts a tool and names the limit, also where errors are masked', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const execute = (_input: unknown, { abortSignal }: { abortSignal?: AbortSignal }): Promise<never> => {
      signals.push(abortSignal);
      return new Promise(() => {});
    };
    const tools = {
      slow: toolOf('slow', execute),
      quick: toolOf('quick', async () => 'done'),
      free: toolOf('free', async () => 'done'),
    };
    const server = new MCPServer({ name: 'n', version: '1', tools, logger, maskErrors: true });
    // Another hook around it receives the rejection first.
    server.use({ onCallTool: (_context, next) => next() }).use(timeLimit({ slow: 5, quick: 60_000 }));
    const { result } = await callServer(server, era, 'tools/call', { name: 'slow' });
    const text = 'Error: The tool slow did not finish within its limit of 5 ms.';
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text }] });
    expect(signals[0]?.reason).toMatchObject({ code: 'TOOL_TIME_LIMIT_EXCEEDED' });
    for (const name of ['quick', 'free'])
      expect((await callServer(server, era, 'tools/call', { name })).result.content[0].text).toBe('done');
  });

  test('leaves errors of tools unchanged', async () => {
    const fail = toolOf('f', async () => Promise.reject(new Error('disk full')));
    const server = new MCPServer({ name: 'n', version: '1', tools: { fail }, logger }).use(timeLimit(60_000));
    const { result } = await callServer(server, era, 'tools/call', { name: 'fail' });
    expect(result.content[0].text).toBe('Error: disk full');
  });
});

test('ends the run of a task with an error result, and audit records the task', async () => {
  const entries: AuditEntry[] = [];
  const slow = toolOf('s', { mcp: { task: 'required' } }, () => new Promise(() => {}));
  const server = new MCPServer({ name: 'n', version: '1', tools: { slow }, logger });
  server.use(audit((entry) => entries.push(entry))).use(timeLimit(200));
  const caller = new TaskCaller(server);
  const { taskId } = (await caller.call('slow')).result;
  const task = await eventually(async () => {
    const found = await caller.get(taskId);
    expect(found.status).not.toBe('working');
    return found;
  });
  const text = 'Error: The tool slow did not finish within its limit of 200 ms.';
  expect(task).toMatchObject({ status: 'completed', result: { isError: true, content: [{ text }] } });
  expect(entries[0]).toMatchObject({ method: 'tools/call', name: 'slow', outcome: 'task' });
  await server.close({ grace: 0 });
});

test.each([0, -1, Number.NaN, Infinity, '5', undefined, null, {}, { slow: 'x' }, 2 ** 31])(
  'rejects the limit %j',
  (limit) => {
    expect(() => timeLimit(limit as number)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
  },
);
