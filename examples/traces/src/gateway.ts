// An MCP server over stdio whose tool calls a tool of another MCP server.
import { createTool } from '@quiver/core/tools';
import { MCPClient } from '@quiver/mcp/client';
import { MCPServer } from '@quiver/mcp/server';
import { startTelemetry } from './telemetry.ts';

const [file = '', url = '', protocol] = process.argv.slice(2);
startTelemetry('gateway', file);
const mcp = new MCPClient({ servers: { docs: { url, protocol: protocol === 'modern' ? 'modern' : 'legacy' } } });
const { docs_search: search } = await mcp.listTools();

const ask = createTool({
  id: 'ask',
  description: 'Answers a question from the notes',
  inputSchema: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] } as const,
  execute: async ({ question }) => {
    const found = await search?.execute({ queryText: question, topK: 1 });
    const { nothingFound, relevantContext } = found as { nothingFound?: true; relevantContext: string };
    return nothingFound ? 'The notes do not answer this.' : relevantContext;
  },
});

const server = new MCPServer({ name: 'gateway', version: '1.0.0', tools: { ask } });
await server.startStdio();
