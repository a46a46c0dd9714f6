import { describe, expect, test, vi } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import {
  atEnd,
  discovered,
  error,
  result,
  startScripted,
  type Reaction,
  type Script,
} from '../../../test/servers/scripted-server.ts';
import type { HttpServerDefinition } from '../config/server-definition.js';
import { MCPClient } from '../mcp-client.js';

const extension = 'io.modelcontextprotocol/tasks';
const created = { resultType: 'task', taskId: 't1', status: 'working', ttlMs: null, pollIntervalMs: 20 };
const state = (members: object): Reaction =>
  result({ resultType: 'complete', taskId: 't1', ttlMs: null, pollIntervalMs: 20, ...members }, {});
const done = { content: [{ type: 'text', text: 'done' }] };
const completed = state({ status: 'completed', result: done });
const working = state({ status: 'working' });
const acknowledged = result({ resultType: 'complete' }, {});

/** Reacts with one after the other, and with the last one from then on. */
const inTurn = (...reactions: Reaction[]): Reaction => {
  let place = 0;
  return (...args) => (reactions[Math.min(place++, reactions.length - 1)] as Reaction)(...args);
};
const asked = (keys: string[]): Reaction =>
  state({
    status: 'input_required',
    inputRequests: Object.fromEntries(
      keys.map((key) => [key, { method: 'elicitation/create', params: { message: key } }]),
    ),
  });

async function connect(script: Script, definition: Partial<HttpServerDefinition> = {}) {
  const server = await startScripted({
    'server/discover': result(discovered, {}),
    'tools/call': result(created, {}),
    'tasks/get': completed,
    'tasks/cancel': acknowledged,
    'tasks/update': acknowledged,
    ...script,
  });
  const mcp = new MCPClient({ servers: { it: { url: server.url, protocol: 'modern', ...definition } } });
  atEnd.push(() => mcp.disconnect());
  const call = (options: Partial<Parameters<MCPClient['callTool']>[0]> = {}) =>
    mcp.callTool({ serverName: 'it', name: 'go', ...options });
  const names = (): string[] => server.heard.map(({ name }) => name);
  const count = (name: string): number => names().filter((each) => each === name).length;
  return { mcp, call, names, count, ...server };
}

const failsWith = (reason: string, message: string): object =>
  expect.objectContaining({
    code: reason === 'MCP_REQUEST_TIMEOUT' ? reason : 'MCP_CLIENT_TOOL_EXECUTION_FAILED',
    details: expect.objectContaining({ reason }),
    message: expect.stringContaining(message),
  });

describe.concurrent('a task of a server that misbehaves', () => {
  test.for([
    ['0', 0],
    ['negative', -5],
    ['NaN as JSON', null],
    ['text', '10'],
    ['absent', undefined],
  ] as const)('is polled once a second when its poll interval is %s', async ([, pollIntervalMs]) => {
    const { call, count } = await connect({ 'tools/call': result({ ...created, pollIntervalMs }, {}) });
    await expect(call({ maxTotalTimeout: 300 })).rejects.toEqual(failsWith('MCP_REQUEST_TIMEOUT', '300 ms'));
    expect(count('tasks/get')).toBe(0);
  });

  test('does not wrap the timer with a huge poll interval', async () => {
    const { call, count } = await connect({ 'tools/call': result({ ...created, pollIntervalMs: 1e15 }, {}) });
    await expect(call({ maxTotalTimeout: 300 })).rejects.toEqual(failsWith('MCP_REQUEST_TIMEOUT', '300 ms'));
    expect(count('tasks/get')).toBe(0);
  });

  test.for([
    ['`tasks.timeout` of the server', { tasks: { timeout: 2000 } }, {}],
    ['the `timeout` of the call', {}, { timeout: 2000 }],
    ['`maxTotalTimeout`', {}, { maxTotalTimeout: 2000 }],
  ] as const)('is canceled after %s', async ([, definition, options]) => {
    const { call, names, count } = await connect({ 'tasks/get': working }, definition);
    await expect(call(options)).rejects.toEqual(failsWith('MCP_REQUEST_TIMEOUT', 'did not end within 2000 ms'));
    await eventually(() => expect(names()).toContain('tasks/cancel'));
    const polls = count('tasks/get');
    await new Promise((resolve) => setTimeout(resolve, 100));
    // One may have been on its way.
    expect(count('tasks/get')).toBeLessThanOrEqual(polls + 1);
  });

  test.for([
    ['an id that is not text', { taskId: 5 }, 'taskId'],
    ['no id', { taskId: undefined }, 'taskId'],
    ['an empty id', { taskId: '' }, 'taskId'],
    ['an id that does not fit into a header', { taskId: 'x'.repeat(100_000) }, 'taskId'],
    ['an unknown status', { status: 'paused' }, 'status is "paused"'],
    ['the status `__proto__`', { status: '__proto__' }, 'status is "__proto__"'],
  ] as const)('is rejected with %s', async ([, members, message]) => {
    const { call } = await connect({ 'tools/call': result({ ...created, ...members }, {}) });
    await expect(call()).rejects.toEqual(failsWith('MCP_REQUEST_FAILED', message));
  });

  test.for([
    ['the id of another task', { taskId: 't2', status: 'completed', result: done }, 'another task'],
    ['an unknown status', { status: 'submitted' }, 'status is "submitted"'],
    ['no result', { status: 'completed' }, 'result is not an object'],
    ['a result without content', { status: 'completed', result: {} }, 'content'],
    ['content of a wrong type', { status: 'completed', result: { content: [{ type: 'text', text: 5 }] } }, 'content.0'],
    ['another task as result', { status: 'completed', result: created }, 'resultType of the result is "task"'],
    ['no error', { status: 'failed' }, 'error is not an error'],
    ['an error without code', { status: 'failed', error: { message: 'x' } }, 'error is not an error'],
    ['input requests that are a list', { status: 'input_required', inputRequests: [] }, 'inputRequests'],
    ['an input request that is text', { status: 'input_required', inputRequests: { a: 'x' } }, "input request 'a'"],
    [
      'an unknown input request',
      { status: 'input_required', inputRequests: { a: { method: 'tools/list' } } },
      'tools/list',
    ],
  ] as const)('is an error when its state has %s', async ([, members, message]) => {
    const { call, names } = await connect({ 'tasks/get': state(members) });
    await expect(call()).rejects.toEqual(failsWith('MCP_REQUEST_FAILED', message));
    await eventually(() => expect(names()).toContain('tasks/cancel'));
  });

  test('is an error when the state is not a complete result', async () => {
    const { call } = await connect({ 'tasks/get': result(created, {}) });
    await expect(call()).rejects.toEqual(failsWith('MCP_REQUEST_FAILED', 'resultType is "task"'));
  });

  test('is rejected for a call that did not declare tasks', async () => {
    const { call, heard } = await connect({}, { tasks: false });
    await expect(call()).rejects.toEqual(failsWith('MCP_REQUEST_FAILED', 'resultType is "task"'));
    expect(JSON.stringify(heard)).not.toContain(extension);
  });

  test('ends after ten rounds of input', async () => {
    let polls = 0;
    const { mcp, call, names } = await connect({
      'tasks/get': (...args) => asked([`key ${(polls += 1)}`])(...args),
    });
    let questions = 0;
    await mcp.elicitation.onRequest('it', () => {
      questions += 1;
      return { action: 'decline' };
    });
    await expect(call()).rejects.toEqual(failsWith('MCP_INPUT_ROUNDS_EXCEEDED', 'after 10 rounds'));
    expect(questions).toBe(10);
    await eventually(() => expect(names()).toContain('tasks/cancel'));
  });

  test('asks once for a key that it repeats, and may name a key `__proto__`', async () => {
    const keys = ['__proto__', 'constructor'];
    const { mcp, call, heard } = await connect({
      'tasks/get': inTurn(asked(keys), asked(keys), asked(keys), asked(keys), completed),
    });
    const messages: string[] = [];
    await mcp.elicitation.onRequest('it', ({ message }) => {
      messages.push(message);
      return { action: 'accept', content: {} };
    });
    expect(await call()).toEqual(done);
    expect(messages).toEqual(keys);
    const sent = heard
      .filter(({ name }) => name === 'tasks/update')
      .map(({ params }) => JSON.stringify(params?.['inputResponses']));
    expect(sent).toEqual(keys.map((key) => `{"${key}":{"action":"accept","content":{}}}`));
    expect(({} as Record<string, unknown>)['action']).toBeUndefined();
  });

  test('does not read progress from hostile descriptions', async () => {
    const onProgress = vi.fn();
    const { call } = await connect({
      'tasks/get': inTurn(
        state({ status: 'working', statusMessage: { toString: 1 }, ttlMs: -1, createdAt: 5 }),
        completed,
      ),
    });
    expect(await call({ onProgress })).toEqual(done);
    expect(onProgress).not.toHaveBeenCalled();
  });

  test('is an error when the server has forgotten it', async () => {
    const { call, names } = await connect({ 'tasks/get': inTurn(working, error(-32_602)) });
    await expect(call()).rejects.toEqual(failsWith('MCP_TASK_NOT_FOUND', 'does not know the task'));
    expect(names()).not.toContain('tasks/cancel');
  });

  test('is polled again after errors that pass', async () => {
    const { call, count } = await connect({
      'tasks/get': inTurn(
        (response) => response.destroy(),
        (response) => response.writeHead(503).end(),
        (response) => response.writeHead(429).end(),
        error(-32_603),
        completed,
      ),
    });
    expect(await call()).toEqual(done);
    expect(count('tasks/get')).toBe(5);
  });

  test.for([
    ['a status that does not pass', (response) => response.writeHead(403).end()],
    ['an unknown method', error(-32_601, 404)],
  ] as [string, Reaction][])('is not polled again after %s', async ([, reaction]) => {
    const { call, count } = await connect({ 'tasks/get': reaction });
    await expect(call()).rejects.toEqual(failsWith('MCP_REQUEST_FAILED', ''));
    expect(count('tasks/get')).toBe(1);
  });
});
