/** One instance of the server; `main.ts` starts three of them. They share nothing but the store. */
import { setTimeout } from 'node:timers/promises';
import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp';
import { z } from 'zod';
import { openStore } from './shared-store.ts';

const { INSTANCE = '', STORE_URL = '', STORE_NAME = '' } = process.env;
const { sharedStore, close } = await openStore(STORE_URL, STORE_NAME);
const weatherUri = 'weather://oslo';

const tools = {
  whoAmI: createTool({
    id: 'whoAmI',
    description: 'Returns the number of the instance',
    execute: async () => INSTANCE,
  }),
  order: createTool({
    id: 'order',
    description: 'Orders umbrellas, after a question to the user',
    execute: async (_input, { mcp }) => {
      await sharedStore.put('asking', INSTANCE);
      const { action, content } = await mcp.elicitation.sendRequest({
        message: 'How many?',
        requestedSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
      });
      if (action !== 'accept') return 'Nothing was ordered.';
      await sharedStore.append('orders', String(content?.['count']));
      return `Ordered ${String(content?.['count'])}.`;
    },
  }),
  report: createTool({
    id: 'report',
    description: 'Writes a report; another instance repeats it when this one ends',
    inputSchema: z.object({ report: z.string() }),
    mcp: { task: { mode: 'required', resume: true } },
    execute: async ({ report }, { abortSignal }) => {
      await sharedStore.append(report, INSTANCE);
      while (!(await sharedStore.get(`end of ${report}`))) await setTimeout(200, undefined, { signal: abortSignal });
      return `Reported by ${INSTANCE}.`;
    },
  }),
  setWeather: createTool({
    id: 'setWeather',
    description: 'Changes the weather of Oslo',
    inputSchema: z.object({ weather: z.string() }),
    execute: async ({ weather }) => {
      await sharedStore.put('weather', weather);
      await server.resources.notifyUpdated({ uri: weatherUri });
      return 'Done.';
    },
  }),
};

const server = new MCPServer({
  name: 'Weather',
  version: '1.0.0',
  tools,
  resources: {
    listResources: async () => [{ uri: weatherUri, name: 'Weather of Oslo' }],
    getResourceContent: async () => ({ text: (await sharedStore.get('weather'))?.value ?? 'unknown' }),
  },
  sharedStore,
});
const { port } = await server.listen();
process.send?.({ port });

// The program that started this one is gone.
process.once('disconnect', () => process.exit(1));
process.once('SIGTERM', async () => {
  await server.close();
  await close();
  process.exit();
});
