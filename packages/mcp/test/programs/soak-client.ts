// Connects and disconnects a thousand times in both eras, and ends with 1 when handles or memory grew. Run it with --expose-gc.
import { MCPClient } from '@quiver/mcp/client';
import { MCPServer } from '@quiver/mcp/server';
import { exampleTools } from '../servers/example-tools.ts';

const rounds = Number(process.argv[2] ?? 1000);
await using server = new MCPServer({ name: 'Soak', version: '1', tools: exampleTools });
const { url } = await server.listen();

async function cycle(protocol: 'legacy' | 'modern'): Promise<void> {
  await using mcp = new MCPClient({ servers: { it: { url, protocol }, here: { server } } });
  await mcp.tools.onListChanged('it', () => {});
  await mcp.elicitation.onRequest('it', async () => ({ action: 'decline' }));
  const tools = await mcp.listTools();
  await tools['it_add']?.execute({ a: 1, b: 2 });
  await mcp.callTool({ serverName: 'here', name: 'echo', args: { message: 'x' } });
}

async function measure(): Promise<{ handles: number; kilobytes: number }> {
  await new Promise((resolve) => setTimeout(resolve, 500));
  globalThis.gc?.();
  return {
    handles: process.getActiveResourcesInfo().length,
    kilobytes: Math.round(process.memoryUsage().heapUsed / 1024),
  };
}

// The first rounds also fill caches and warm up the compiler.
for (let round = 0; round < rounds / 2; round += 1) await cycle(round % 2 === 0 ? 'legacy' : 'modern');
const before = await measure();
const started = performance.now();
for (let round = 0; round < rounds; round += 1) await cycle(round % 2 === 0 ? 'legacy' : 'modern');
const milliseconds = Math.round(performance.now() - started);
const after = await measure();
process.stdout.write(`${JSON.stringify({ rounds, milliseconds, before, after })}\n`);
const grown = after.handles > before.handles + 10 || after.kilobytes > before.kilobytes + rounds;
process.exit(grown ? 1 : 0);
