import { createRequire } from 'node:module';
import { createTool } from '@quiver/core/tools';
import { PostgresStore } from '@quiver/mcp/pg';
import { RedisStore } from '@quiver/mcp/redis';
import { InMemoryStore, MCPServer } from '@quiver/mcp/server';
import { z } from 'zod';
import { mode, ready } from './process.mjs';

const { QUIVER_POSTGRES_URL: postgresUrl, QUIVER_REDIS_URL: redisUrl } = process.env;
const name = 'quiver_bench';

async function openRedis() {
  // The dependency of the package, not of the benchmarks.
  const load = createRequire(new URL('../../../packages/mcp/package.json', import.meta.url));
  const { createClient } = load('@redis/client');
  return new RedisStore({ client: await createClient({ url: redisUrl }).connect(), keyPrefix: `${name}:` });
}

const stores = {
  none: () => undefined,
  memory: () => new InMemoryStore(),
  redis: openRedis,
  postgres: () => new PostgresStore({ connectionString: postgresUrl, tablePrefix: `${name}_` }),
};

const echo = createTool({
  id: 'echo',
  description: 'Echoes a message',
  inputSchema: z.object({ message: z.string() }),
  execute: async ({ message }) => message,
});
const sharedStore = await stores[mode]();
const server = new MCPServer({ name: 'bench', version: '1.0.0', tools: { echo }, sharedStore });
const { url } = await server.listen();
ready(url);
