import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';
import { expect, test } from 'vitest';
import { nameForm } from '../../../test/name-form.ts';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { afterTest } from '../../../test/after-test.ts';
import { modern, send } from '../../../test/clients/wire.ts';
import { MCPServer } from '../../server/mcp-server.js';

const identity = { name: 'official', version: '1' };
const protocolVersion = '2026-07-28';

const task = { pollIntervalMs: 10 };
const tools = {
  fast: toolOf('fast', { mcp: { task } }, async () => 'at once'),
  asking: toolOf('asking', { mcp: { task } }, async (_input, { mcp }) => {
    await mcp.progress({ progress: 1, total: 2, message: 'asking' });
    const first = await mcp.elicitation.sendRequest({ message: 'First name?', requestedSchema: nameForm });
    const last = await mcp.elicitation.sendRequest({ message: 'Last name?', requestedSchema: nameForm });
    return `Hello, ${first.content.name} ${last.content.name}`;
  }),
  rounds: toolOf('rounds', { mcp: { task: { ...task, after: 100 } } }, async (_input, { mcp, abortSignal }) => {
    const { content } = await mcp.elicitation.sendRequest({ message: 'Name?', requestedSchema: nameForm });
    const last = await new Promise((resolve) => {
      const timer = setTimeout(resolve, 300, 'task');
      abortSignal?.addEventListener('abort', () => clearTimeout(timer));
    });
    return `${content.name} ${String(last)}`;
  }),
  failing: toolOf('failing', { mcp: { task: { ...task, mode: 'required' } } }, async (_input, { mcp }) => {
    await new Promise((resolve) => void setTimeout(resolve, 20));
    return mcp.roots();
  }),
  endless: toolOf(
    'endless',
    { mcp: { task } },
    (_input, { abortSignal }) =>
      new Promise((_resolve, reject) => {
        abortSignal?.addEventListener('abort', () => reject(abortSignal.reason as Error));
      }),
  ),
};

async function connect(): Promise<ReturnType<typeof createTaskSessionFromClient>> {
  const server = new MCPServer({ name: 'Served', version: '1.0.0', tools });
  afterTest(() => server.close({ grace: 0 }));
  const { url } = await server.listen();
  const client = new Client(identity, {
    capabilities: { elicitation: {} },
    versionNegotiation: { mode: { pin: protocolVersion } },
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  afterTest(() => client.close());
  let id = 0;
  const session = createTaskSessionFromClient(client, {
    endpointId: 'test',
    v2RequestFraming: { protocolVersion, clientInfo: identity, clientCapabilities: { elicitation: {} } },
    rawDispatch: async (request) => {
      const { method, params } = request as { method: string; params: Record<string, unknown> };
      const { json } = await send(url, modern(method, params, (id += 1)));
      return json.error ? { kind: 'error', error: json.error } : { kind: 'result', result: json.result };
    },
    onInputRequest: async ({ params }) => {
      const name = String(params?.['message']).startsWith('Last') ? 'Lovelace' : 'Ada';
      return { action: 'accept', content: { name } } as never;
    },
  });
  afterTest(() => session.close());
  return session;
}

const run = async (name: string): Promise<unknown> => {
  const session = await connect();
  const execution = await session.callTool(name, {});
  const { outcome } = await execution.settle();
  return [execution.kind, outcome];
};

test('receives a result that is there at once', async () => {
  expect(await run('fast')).toMatchObject(['immediate', { result: { content: [{ text: 'at once' }] } }]);
});

test('provides the input of a task, and receives its result', async () => {
  expect(await run('asking')).toMatchObject([
    'task',
    { status: 'completed', result: { content: [{ text: 'Hello, Ada Lovelace' }] }, task: { statusMessage: 'asking' } },
  ]);
});

test('provides input in rounds before the call becomes a task', async () => {
  expect(await run('rounds')).toMatchObject(['task', { result: { content: [{ text: 'Ada task' }] } }]);
});

test('receives the error of a failed task', async () => {
  expect(await run('failing')).toMatchObject(['task', { status: 'failed', error: { code: -32021 } }]);
});

test('cancels a task', async () => {
  const session = await connect();
  const execution = await session.callTool('endless', {});
  expect(execution.kind).toBe('task');
  await execution.cancel();
  expect((await execution.settle()).outcome).toMatchObject({ status: 'cancelled' });
});
