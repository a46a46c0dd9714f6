import type { Logger } from '@quiver/core';
import { createTool } from '@quiver/core/tools';
import { beforeEach, expect, test } from 'vitest';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { modern, send, toRequest } from '../../../test/clients/wire.ts';
import { RemoteToolError } from '../../client/index.js';
import { MCPServer } from '../mcp-server.js';

const logged: string[] = [];
beforeEach(() => void logged.splice(0));
const note = (message: string): void => void logged.push(message);
const logger: Logger = { debug: note, info: note, warn: note, error: note };

let started = 0;
const server = new MCPServer({
  name: 'Calls',
  version: '1.0.0',
  logger,
  maskErrors: true,
  tools: {
    ask: toolOf('ask', (_input, { mcp }) =>
      mcp.elicitation.sendRequest({ message: 'Well?', requestedSchema: { type: 'object', properties: {} } }),
    ),
    never: toolOf('never', () => new Promise(() => void (started += 1))),
    log: toolOf('log', async (_input, { mcp }) => {
      const circular: Record<string, unknown> = { big: 1n, error: new Error('lost') };
      circular['self'] = circular;
      // Not awaited: a rejection would end the process.
      void mcp.log('error', 'failed', circular);
      return 'logged';
    }),
    odd: toolOf('odd', { mcp: { _meta: { big: 1n } } }, async () => 'odd'),
  },
});

test('does not log an input_required result as a failure', async () => {
  const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
  const response = await server.fetch(toRequest(modern('tools/call', { name: 'ask', _meta: capabilities })));
  expect(await response.json()).toMatchObject({ result: { resultType: 'input_required' } });
  await new Promise((resolve) => setImmediate(resolve));
  expect(logged).toEqual([]);
});

test('does not log a canceled call as a failure', async () => {
  const controller = new AbortController();
  const answered = server.fetch(toRequest(modern('tools/call', { name: 'never' }), { signal: controller.signal }));
  await expect.poll(() => started).toBe(1);
  controller.abort();
  expect((await answered).status).toBe(202);
  expect(logged).toEqual([]);
});

test('what is logged reaches the client as far as JSON can carry it', async () => {
  const { url, close } = await server.listen();
  const level = { 'io.modelcontextprotocol/logLevel': 'info' };
  const { events } = await send(url, modern('tools/call', { name: 'log', _meta: level }));
  expect(events[0].params).toEqual({
    level: 'error',
    data: { message: 'failed', data: { big: '1', error: { name: 'Error', message: 'lost' } } },
  });
  await close();
});

test('a tool whose metadata cannot be written is offered without it', async () => {
  const response = await server.fetch(toRequest(modern('tools/list')));
  const { tools } = ((await response.json()) as { result: { tools: { name: string }[] } }).result;
  expect(tools.map(({ name }) => name)).toEqual(['ask', 'never', 'log', 'odd']);
  expect(tools[3]).not.toHaveProperty('_meta');
});

const remoteError = new RemoteToolError('it', 'remote', {
  content: [{ type: 'text', text: 'no such city' }],
  structuredContent: { a: 1 },
  isError: true,
});
test.each([
  ['an error', new Error('no such format'), 'no such format'],
  ['the error of a remote tool', remoteError, remoteError.message],
])('reports an output schema that throws %s for the error result of a remote tool', async (_what, thrown, reported) => {
  const validate = (): never => {
    throw thrown;
  };
  const jsonSchema = { input: () => ({}), output: () => ({ type: 'object' }) };
  const outputSchema = { '~standard': { version: 1, vendor: 'test', validate, jsonSchema } } as never;
  const execute = async (): Promise<never> => {
    throw remoteError;
  };
  const remote = createTool({ id: 'remote', description: 'Fails elsewhere', outputSchema, execute });
  const gateway = new MCPServer({ name: 'Gateway', version: '1.0.0', logger, tools: { remote } });
  const response = await gateway.fetch(toRequest(modern('tools/call', { name: 'remote' })));
  expect(await response.json()).toMatchObject({
    result: { isError: true, content: [{ text: `Error: ${reported}` }] },
  });
});
