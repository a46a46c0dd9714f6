import { createTool } from '@quiver/core/tools';
import type { MCPClient } from '@quiver/mcp/client';
import { MCPServer, type MCPServerConfig } from '@quiver/mcp/server';
import { expect, test, vi } from 'vitest';
import { afterTest } from '../../../test/after-test.ts';
import { clientOf } from '../../../test/clients/client-of.ts';

const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
const toolOf = (id: string, text: string) => createTool({ id, description: id, execute: async () => text });

function createServer(config: Partial<MCPServerConfig>): MCPServer {
  const server = new MCPServer({ name: 'S', version: '1.0.0', logger, tools: {}, ...config });
  afterTest(() => server.close({ grace: 0 }));
  return server;
}

const connect = (server: MCPServer): MCPClient => clientOf({ it: { server, cache: false } });

async function call(client: MCPClient, name: string): Promise<unknown> {
  const { content } = await client.callTool({ serverName: 'it', name });
  return content;
}

const from = (text: string): unknown => [{ type: 'text', text }];
const namesOf = async (client: MCPClient): Promise<string[]> =>
  (await client.listToolDefinitions())['it']!.map(({ name }) => name).toSorted();

test.each([
  ['before', ['a', 'a_b']],
  ['after', ['a_b', 'a']],
])('a server with a shorter prefix, added %s, cannot take over a tool', async (_, order) => {
  const servers: Record<string, MCPServer> = {
    a: createServer({ tools: { one: toolOf('one', 'a') } }),
    a_b: createServer({ tools: { pay: toolOf('pay', 'a_b') } }),
  };
  const gateway = createServer({});
  for (const name of order) await gateway.proxy(name, { server: servers[name]!, protocol: 'legacy' });
  const client = connect(gateway);
  expect(await call(client, 'a_b_pay')).toEqual(from('a_b'));
  await servers['a']!.toolActions.add({ b_pay: toolOf('b_pay', 'a'), b_new: toolOf('b_new', 'a') });
  const isLeftOut = expect.stringContaining("'a_b_new' of the proxied server 'a' is left out");
  await vi.waitFor(async () => {
    expect(await namesOf(client)).toEqual(['a_b_pay', 'a_one']);
    expect(logger.warn).toHaveBeenCalledWith(isLeftOut);
  });
  expect(await call(client, 'a_b_pay')).toEqual(from('a_b'));
  await expect(call(client, 'a_b_new')).rejects.toThrow('a_b_new');
});

test('servers whose prefixes begin alike, and one without a prefix, keep their tools', async () => {
  const gateway = createServer({});
  await gateway.proxy({ server: createServer({ tools: { plain: toolOf('plain', 'none') } }) });
  await gateway.proxy('github', { server: createServer({ tools: { get: toolOf('get', 'github') } }) });
  await gateway.proxy('github_enterprise', { server: createServer({ tools: { get: toolOf('get', 'enterprise') } }) });
  const client = connect(gateway);
  expect(await namesOf(client)).toEqual(['github_enterprise_get', 'github_get', 'plain']);
  expect(await call(client, 'plain')).toEqual(from('none'));
  expect(await call(client, 'github_get')).toEqual(from('github'));
  expect(await call(client, 'github_enterprise_get')).toEqual(from('enterprise'));
});

test('a template that matches any URI does not answer for a more specific one of a later server', async () => {
  const read = (uriTemplate: string, text: string): MCPServer =>
    createServer({
      resources: {
        listResources: async () => [],
        resourceTemplates: async () => [{ uriTemplate, name: text }],
        getResourceContent: async () => ({ text }),
      },
    });
  const gateway = createServer({});
  await gateway.proxy('any', { server: read('{+any}', 'any') });
  await gateway.proxy('notes', { server: read('note://{id}', 'notes') });
  const contents = await connect(gateway).resources.read('it', 'note://1');
  expect(contents).toMatchObject({ contents: [{ text: 'notes' }] });
});

test('the search is enabled by `true`', async () => {
  const client = connect(createServer({ search: true, tools: { one: toolOf('one', '1') } }));
  expect(await namesOf(client)).toEqual(['call_read_tool', 'call_write_tool', 'search_tools']);
});
