import { createTool } from '@quiver/core/tools';
import type { MCPClient } from '@quiver/mcp/client';
import { expect, onTestFinished, test } from 'vitest';
import { clientOf } from '../../test/clients/client-of.ts';
import { eras } from '../../test/eras.ts';
import { NotesProvider } from '../../test/servers/notes-provider.ts';
import { OneAtATime } from '../../test/servers/one-at-a-time.ts';
import { createServerState } from './create-server-state.js';
import type { ServerState } from './definition/server-state.js';
import { addProvider } from './provider.js';
import { Transports } from './transports.js';

/** Serves a server to which a test has attached something, as `MCPServer` serves its own. */
async function serve(protocol: 'legacy' | 'modern', attach: (state: ServerState) => void): Promise<MCPClient> {
  const { state } = createServerState({ name: 'Attached', version: '1.0.0', tools: {} });
  attach(state);
  const transports = new Transports(state);
  onTestFinished(() => transports.close());
  const { url } = await transports.listen({});
  return clientOf({ attached: { url, protocol } });
}

const call = (client: MCPClient, name: string) => client.callTool({ serverName: 'attached', name, args: {} });

test.each(eras)('a provider attaches without a change of the server (%s)', async (protocol) => {
  const client = await serve(protocol, (state) => addProvider(state, new NotesProvider({ a: 'Apples', b: 'Bread' })));
  const { attached = [] } = await client.listToolDefinitions();
  expect(attached.map(({ name }) => name)).toEqual(['count_notes']);
  expect((await call(client, 'count_notes')).content).toEqual([{ type: 'text', text: '2 notes' }]);
  const { attached: resources } = await client.resources.list();
  expect(resources).toMatchObject([{ uri: 'note://a' }, { uri: 'note://b' }]);
  const { contents } = await client.resources.read('attached', 'note://b');
  expect(contents).toEqual([{ uri: 'note://b', text: 'Bread' }]);
});

test.each(eras)('a call extension attaches without a change of the server (%s)', async (protocol) => {
  const running = { now: 0, most: { remove: 0, read: 0 } };
  const toolFor = (name: 'remove' | 'read') =>
    createTool({
      id: name,
      description: 'Takes a while',
      mcp: { annotations: { destructiveHint: name === 'remove' } },
      execute: async () => {
        running.now += 1;
        running.most[name] = Math.max(running.most[name], running.now);
        await new Promise((resolve) => setTimeout(resolve, 20));
        running.now -= 1;
        return 'done';
      },
    });
  const client = await serve(protocol, (state) => {
    state.calls = [...state.calls, new OneAtATime()];
    for (const name of ['remove', 'read'] as const) state.tools.add(name, toolFor(name));
  });
  for (const name of ['remove', 'read']) await Promise.all([1, 2, 3].map(() => call(client, name)));
  expect(running.most).toEqual({ remove: 1, read: 3 });
});
