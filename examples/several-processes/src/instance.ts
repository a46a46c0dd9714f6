/** One instance of the server; `instances.ts` starts three of them. They share nothing but the store. */
import { setTimeout } from 'node:timers/promises';
import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp';
import { z } from 'zod';
import { openStore } from './shared-store.ts';

const { INSTANCE = '', PORT, STORE_URL = '', STORE_NAME = '', DRAIN_DELAY } = process.env;
const { sharedStore, close } = await openStore(STORE_URL, STORE_NAME);
const weatherUri = 'weather://oslo';

/** Notes who runs a call, for the count of calls that were lost or run twice. */
const note = (log: 'started' | 'done', id: string): Promise<string> =>
  sharedStore.append(log, JSON.stringify({ id, instance: INSTANCE }), { ttlMs: 3_600_000 });

const inputSchema = z.object({ id: z.string(), milliseconds: z.number().default(0), steps: z.number().default(1) });

const tools = {
  work: createTool({
    id: 'work',
    description: 'Works for a while, and reports its steps',
    inputSchema,
    execute: async ({ id, milliseconds, steps }, { mcp, abortSignal }) => {
      await note('started', id);
      for (let step = 1; step <= steps; step += 1) {
        await setTimeout(milliseconds / steps, undefined, { signal: abortSignal });
        if (steps > 1) await mcp.progress({ progress: step, total: steps });
      }
      await note('done', id);
      return `done: ${id}`;
    },
  }),
  order: createTool({
    id: 'order',
    description: 'Orders umbrellas, after a question to the user',
    inputSchema,
    execute: async ({ id }, { mcp }) => {
      await note('started', id);
      const { action, content } = await mcp.elicitation.sendRequest({
        message: `How many for order ${id}?`,
        requestedSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
      });
      if (action !== 'accept') return 'Nothing was ordered.';
      await note('done', id);
      return content?.['count'] === 3 ? `done: ${id}` : `The user ordered ${String(content?.['count'])}.`;
    },
  }),
  report: createTool({
    id: 'report',
    description:
      'Writes a report, as a task for clients that support it; another instance repeats it when this one ends',
    inputSchema,
    mcp: { task: { mode: 'optional', resume: true } },
    execute: async ({ id, milliseconds }, { abortSignal }) => {
      await note('started', id);
      await setTimeout(milliseconds, undefined, { signal: abortSignal });
      await note('done', id);
      return `done: ${id}`;
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
server.onClose(async () => {
  await close();
  process.disconnect?.();
});
await server.listen({
  port: Number(PORT),
  healthPath: '/health',
  shutdownSignals: ['SIGTERM'],
  drainDelay: Number(DRAIN_DELAY),
  shutdownGrace: 25_000,
});

// The server is closed, or the program that started this one is gone.
process.once('disconnect', () => process.exit());
