// The stdio server of `quiver.mjs` without zod: its tools have JSON Schemas.
import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp/server';
import { fillers } from './process.mjs';

const tool = (id, execute) =>
  createTool({
    id,
    description: `Does what ${id} does`,
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    execute,
  });
const tools = Object.fromEntries(
  ['echo', 'add', ...fillers()].map((id) => [id, tool(id, async ({ message }) => message)]),
);
await new MCPServer({ name: 'bench', version: '1.0.0', tools }).startStdio();
