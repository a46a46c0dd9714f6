import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp/server';
import { z } from 'zod';

const coat = createTool({
  id: 'coat',
  description: 'Recommends a coat for a temperature',
  inputSchema: z.object({ celsius: z.number() }),
  outputSchema: z.object({ coat: z.string() }),
  execute: async ({ celsius }) => ({
    coat: celsius < 10 ? 'winter coat' : 'no coat',
  }),
});

const server = new MCPServer({
  name: 'Coats',
  version: '1.0.0',
  tools: { coat },
});
await server.startStdio();
