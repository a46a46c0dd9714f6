// A server over standard input and output, started by mcp.test.mjs.
import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp/server';
import { z } from 'zod';

const echo = createTool({
  id: 'echo',
  description: 'Says it again',
  inputSchema: z.object({ text: z.string() }),
  execute: async ({ text }) => text,
});
await new MCPServer({ id: 'stdio', name: 'Stdio', version: '1.0.0', tools: { echo } }).startStdio();
