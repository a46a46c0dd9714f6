import { describe, expect, test } from 'vitest';
import { afterTest } from '../../test/after-test.ts';
import { captureLog } from '../../test/capture-log.ts';
import { modern, send } from '../../test/clients/wire.ts';
import { MCPServer } from './mcp-server.js';
import type { MCPServerConfig } from './features.js';

async function errorOf(config: Partial<MCPServerConfig>, method: string, params: Record<string, unknown> = {}) {
  const server = new MCPServer({ name: 'n', version: '1', tools: {}, ...config });
  afterTest(() => server.close({ grace: 100 }));
  const { url } = await server.listen();
  const answer = await send(url, modern(method, params));
  expect(await send(url, modern('server/discover'))).toMatchObject({ status: 200 });
  return answer.json.error as { code: number; message: string } | undefined;
}

const prompts = (result: unknown): Partial<MCPServerConfig> => ({
  prompts: { listPrompts: async () => [{ name: 'p' }], getPromptMessages: async () => result as never },
});
const resources = (listed: unknown): Partial<MCPServerConfig> => ({
  resources: { listResources: async () => listed as never, getResourceContent: async () => ({ text: '' }) },
});

describe('a callback with an invalid result', () => {
  test.each([
    undefined,
    null,
    'text',
    {},
    { messages: 1 },
    [1],
    [{ role: 'nobody', content: { type: 'text' } }],
    [{ role: 'user', content: 'text' }],
  ])('getPromptMessages: %j', async (result) => {
    expect(await errorOf(prompts(result), 'prompts/get', { name: 'p' })).toMatchObject({
      code: -32603,
      message: expect.stringContaining('an array of messages, or { prompt, messages }'),
    });
  });

  test.each([undefined, null, {}, 'x'])('listResources: %j', async (listed) => {
    expect(await errorOf(resources(listed), 'resources/list')).toMatchObject({
      code: -32603,
      message: expect.stringContaining('an array of resources'),
    });
  });

  test('listPrompts, resourceTemplates and the completion callbacks', async () => {
    const nonsense = (async () => 'nonsense') as never;
    expect(await errorOf({ prompts: { listPrompts: nonsense } }, 'prompts/list')).toMatchObject({ code: -32603 });
    const templates = { ...resources([]).resources, resourceTemplates: nonsense } as MCPServerConfig['resources'];
    expect(await errorOf({ resources: templates as never }, 'resources/templates/list')).toMatchObject({
      code: -32603,
    });
    const completing = { prompts: { listPrompts: async () => [{ name: 'p' }], completeArgument: nonsense } };
    const params = { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } };
    expect(await errorOf(completing, 'completion/complete', params)).toMatchObject({ code: -32603 });
  });

  test('ignores an invalid template with a warning and matches the others', async () => {
    const warnings = captureLog('warn');
    const config: Partial<MCPServerConfig> = {
      resources: {
        listResources: async () => [],
        resourceTemplates: async () => [
          { uriTemplate: 'x://{', name: 'broken' },
          { uriTemplate: 'x://{id}', name: 'whole' },
        ],
        getResourceContent: async () => ({ text: '' }),
      },
    };
    expect(await errorOf(config, 'resources/read', { uri: 'x://a' })).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("The URI template 'x://{' is invalid")]);
  });
});

describe('parameters that are wrong are refused with -32602', () => {
  const config: Partial<MCPServerConfig> = {
    ...resources([{ uri: 'a://b', name: 'b' }]),
    prompts: {
      listPrompts: async () => [{ name: 'p' }],
      getPromptMessages: async () => [],
      completeArgument: async () => [],
    },
  };
  const ref = { type: 'ref/prompt', name: 'p' };

  test.each([
    ['resources/read', {}],
    ['resources/read', { uri: 5 }],
    ['prompts/get', {}],
    ['prompts/get', { name: 'p', arguments: [] }],
    ['prompts/get', { name: 'p', arguments: { a: 1 } }],
    ['completion/complete', {}],
    ['completion/complete', { ref, argument: { name: 'a' } }],
    ['completion/complete', { ref: { type: 'ref/other' }, argument: { name: 'a', value: '' } }],
    ['completion/complete', { ref: { type: 'ref/prompt' }, argument: { name: 'a', value: '' } }],
  ])('%s %j', async (method, params) => {
    expect(await errorOf(config, method, params)).toMatchObject({ code: -32602 });
  });
});
