import { createTool } from '@quiver/core/tools';
import type { SharedStore } from '@quiver/mcp';
import { PostgresStore } from '@quiver/mcp/pg';
import { RedisStore } from '@quiver/mcp/redis';
import { MCPServer } from '@quiver/mcp/server';
import { createClient } from '@redis/client';

/** Opens the store that the processes of a test share. Its tables or keys begin with the name. */
export async function openSharedStore(
  url: string,
  name: string,
): Promise<{ store: SharedStore; close(): Promise<void> }> {
  if (url.startsWith('postgres')) {
    const store = new PostgresStore({ connectionString: url, schemaName: name });
    return { store, close: () => store.close() };
  }
  const client = createClient({ url });
  client.on('error', () => {});
  await client.connect();
  const store = new RedisStore({ client, keyPrefix: `${name}:` });
  return {
    store,
    close: async () => {
      await store.close();
      client.destroy();
    },
  };
}

/**
 * A server whose tools request a name as a task. Another process runs `greet` again, and not `once`.
 *
 * @param onRun - receives the name of the tool
 */
export function createTaskServer(sharedStore: SharedStore, onRun?: (tool: string) => void): MCPServer {
  const createAsking = (id: string, resume: boolean): ReturnType<typeof createTool> =>
    createTool({
      id,
      description: 'Requests a name',
      mcp: { task: { mode: 'required', resume, pollIntervalMs: 20 } },
      execute: async (_input, { mcp }) => {
        onRun?.(id);
        const { content } = await mcp.elicitation.sendRequest({
          message: 'Name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        });
        return `Hello, ${content?.['name']}`;
      },
    });
  const tools = { greet: createAsking('greet', true), once: createAsking('once', false) };
  return new MCPServer({ name: 'Shared tasks', version: '1.0.0', sharedStore, tools });
}
