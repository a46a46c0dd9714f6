import { createTool } from '@quiver/core';
import { MCPServer } from '@quiver/mcp';
import { z } from 'zod';

const weather = createTool({
  id: 'weather',
  description: 'Current weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, celsius: 4 }),
});
const server = new MCPServer({
  name: 'Weather',
  version: '1',
  tools: { weather },
});
console.log((await server.listen({ port: 3000 })).url);
