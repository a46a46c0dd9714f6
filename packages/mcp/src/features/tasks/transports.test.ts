import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { afterTest } from '../../../test/after-test.ts';
import { eventually } from '../../../test/eventually.ts';
import { tasksExtension } from '../../../test/clients/task-caller.ts';
import { modern } from '../../../test/clients/wire.ts';
import { MCPClient, type MastraMCPServerDefinition } from '../../client/index.js';
import { Connection } from '../../server/connection/connection.js';
import { createServerState } from '../../server/create-server-state.js';
import { MCPServer } from '../../server/mcp-server.js';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import { serveStdio } from '../../server/connection/stdio.js';

let runs = 0;
const tools = {
  greet: toolOf('greet', { mcp: { task: { pollIntervalMs: 5 } } }, async (_input, { mcp }) => {
    runs += 1;
    await mcp.progress({ progress: 1, total: 2, message: 'asking' });
    const { content } = await mcp.elicitation.sendRequest({
      message: 'Name?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    });
    return `Hello, ${content.name}`;
  }),
};

describe('one tool body', () => {
  const serve = async (transport: string): Promise<Partial<MastraMCPServerDefinition>> => {
    const server = new MCPServer({ name: 'Greeter', version: '1.0.0', tools });
    afterTest(() => server.close({ grace: 0 }));
    return transport === 'in-process' ? { server } : { url: new URL((await server.listen()).url) };
  };

  test.each([
    ['a session of 2025-11-25', { protocol: 'legacy' }, 1],
    ['input rounds of 2026-07-28', { protocol: 'modern', tasks: false }, 2],
    ['a task of 2026-07-28', { protocol: 'modern' }, 1],
  ] as const)('serves %s', async (_way, options, expectedRuns) => {
    for (const transport of ['in-process', 'http']) {
      const greeter = { ...(await serve(transport)), ...options } as MastraMCPServerDefinition;
      const mcp = new MCPClient({ id: `${_way} ${transport}`, servers: { greeter } });
      afterTest(() => mcp.disconnect());
      await mcp.elicitation.onRequest('greeter', async () => ({ action: 'accept', content: { name: 'Ada' } }));
      runs = 0;
      const result = await mcp.callTool({ serverName: 'greeter', name: 'greet' });
      expect(result.content).toEqual([{ type: 'text', text: 'Hello, Ada' }]);
      expect(runs).toBe(expectedRuns);
    }
  });
});

test('a task runs over a connection such as stdio, with notifications', async () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- any JSON that the server sent
  const sent: any[] = [];
  const server = createServerState({ name: 'Greeter', version: '1.0.0', tools }).state;
  const connection = new Connection({ server, write: (text) => void sent.push(JSON.parse(text)) });
  afterTest(() => connection.close());
  const _meta = {
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { [tasksExtension]: {} } },
  };
  const request = async (id: string, method: string, params: object): Promise<void> =>
    connection.receive(modern(method, { ...params, _meta }, id).body);
  const resultOf = (id: string): any => sent.find((message) => message.id === id)?.result; // oxlint-disable-line typescript/no-explicit-any -- any JSON that the server sent
  await request('call', 'tools/call', { name: 'greet' });
  const { taskId } = resultOf('call');
  void request('listen', 'subscriptions/listen', { notifications: { taskIds: [taskId] } });
  const states = (): any[] => sent.filter(({ method }) => method === 'notifications/tasks'); // oxlint-disable-line typescript/no-explicit-any -- any JSON that the server sent
  await eventually(() => expect(states().at(-1).params.status).toBe('input_required'));
  const inputResponses = { 'input-1': { action: 'accept', content: { name: 'Ada' } } };
  await request('update', 'tasks/update', { taskId, inputResponses });
  await eventually(() => expect(states().at(-1).params.status).toBe('completed'));
  expect(states().at(-1).params).toMatchObject({
    taskId,
    statusMessage: 'asking',
    result: { content: [{ text: 'Hello, Ada' }] },
    _meta: { 'io.modelcontextprotocol/subscriptionId': 'listen' },
  });
  expect(resultOf('update')).toMatchObject({ resultType: 'complete' });
});

test.each([
  ['aborts its tasks', {}, true],
  ['leaves its tasks to a shared store', { sharedStore: new InMemoryStore() }, false],
])('a client over stdio that disconnects %s', async (_what, config, isAborted) => {
  let signal: AbortSignal | undefined;
  const wait = toolOf('wait', { mcp: { task: 'optional' } }, async (_input, { abortSignal }) => {
    signal = abortSignal;
    return new Promise(() => {});
  });
  const { state: server, features } = createServerState({
    name: 'Waiter',
    version: '1.0.0',
    tools: { wait },
    ...config,
  });
  afterTest(
    () => server.instance?.close(),
    () => features.tasks.close(0),
  );
  const [input, output] = [new PassThrough(), new PassThrough()];
  const sent: string[] = [];
  output.on('data', (chunk: Buffer) => void sent.push(String(chunk)));
  const closed = new Promise<void>((resolve) => {
    serveStdio({ server, input, output, onClose: resolve });
  });
  const _meta = { 'io.modelcontextprotocol/clientCapabilities': { extensions: { [tasksExtension]: {} } } };
  input.write(`${JSON.stringify(modern('tools/call', { name: 'wait', _meta }, 1).body)}\n`);
  await eventually(() => expect(sent.join()).toContain('"resultType":"task"'));
  input.end();
  await closed;
  await eventually(() => expect(signal?.aborted).toBe(isAborted));
});
