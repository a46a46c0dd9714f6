import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp/server';
import { z } from 'zod';

const weather = createTool({
  id: 'weather',
  description: 'Current weather of a city',
  inputSchema: z.object({ city: z.string() }),
  outputSchema: z.object({ city: z.string(), celsius: z.number() }),
  execute: async ({ city }) => ({ city, celsius: 4 }),
});

const server = new MCPServer({
  name: 'Weather',
  version: '1.0.0',
  tools: { weather },
});
const port = Number(process.env['PORT'] ?? 3000);
const { url } = await server.listen({ port, shutdownSignals: ['SIGTERM'] });
console.log(`Serving ${url}`);
