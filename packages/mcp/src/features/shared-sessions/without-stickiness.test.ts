import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { serveHttp } from '../../../test/after-test.ts';
import { eventually } from '../../../test/eventually.ts';
import { realClients } from '../../../test/clients/real-clients.ts';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import { MCPServer } from '../../server/mcp-server.js';

/** Servers of three instances, which take turns: no request of a client reaches the instance of the one before. */
let servers: MCPServer[];
let url: string;
let close: () => Promise<void>;

function createInstance(name: string, sharedStore: InMemoryStore): MCPServer {
  const tools = {
    whoAmI: toolOf('whoAmI', async () => name),
    ask: toolOf('ask', async (_input, { mcp }) => {
      const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } } as const;
      const names: unknown[] = [];
      for (const message of ['First?', 'Second?'])
        names.push((await mcp.elicitation.sendRequest({ message, requestedSchema })).content?.['name']);
      return names.join(' and ');
    }),
  };
  const resources = {
    listResources: async () => [{ uri: 'file:///a', name: 'a' }],
    getResourceContent: async () => ({ text: 'a' }),
  };
  return new MCPServer({ name: 'Turns', version: '1', tools, resources, sharedStore });
}

beforeEach(async () => {
  const store = new InMemoryStore();
  servers = ['1', '2', '3'].map((name) => createInstance(name, store));
  let turn = 0;
  const { origin } = await serveHttp((req, res) => {
    const server = servers[turn++ % servers.length];
    void server?.startHTTP({ url: new URL(req.url ?? '', 'http://localhost'), httpPath: '/mcp', req, res });
  });
  url = `${origin}/mcp`;
  close = async () => {
    await Promise.all(servers.map((server) => server.close({ grace: 100 })));
  };
});
afterEach(() => close());

describe.each(realClients(() => url).filter(({ name }) => name.includes('HTTP')))('$name', ({ connect, era }) => {
  test('calls, answers elicitation requests and receives changes through any instance', async () => {
    const changes: string[] = [];
    const client = await connect({
      elicit: ({ message }) => ({ action: 'accept', content: { name: message === 'First?' ? 'Ada' : 'Grace' } }),
      onChange: (method, uri) => changes.push(`${method} ${uri ?? ''}`.trim()),
    });
    const callTool = async (name: string): Promise<string> =>
      ((await client.callTool({ name, arguments: {} })) as { content: { text: string }[] }).content[0]?.text ?? '';
    const names = new Set<string>();
    for (let count = 0; count < 6; count += 1) names.add(await callTool('whoAmI'));
    expect([...names].sort()).toEqual(['1', '2', '3']);
    expect(await callTool('ask')).toBe('Ada and Grace');

    if (era === 'modern') await client.listen?.({ toolsListChanged: true, resourceSubscriptions: ['file:///a'] });
    else await client.subscribeResource({ uri: 'file:///a' });
    for (const server of servers) await server.resources.notifyUpdated({ uri: 'file:///a' });
    await servers[1]?.toolActions.notifyListChanged();
    // A client of the handshake opens its event stream in the background.
    const expected = ['notifications/resources/updated file:///a', 'notifications/tools/list_changed'];
    await eventually(async () => {
      if (!expected.every((change) => changes.includes(change))) {
        await servers[0]?.resources.notifyUpdated({ uri: 'file:///a' });
        await servers[0]?.toolActions.notifyListChanged();
      }
      expect(changes).toEqual(expect.arrayContaining(expected));
    });
    await client.close();
  });
});
