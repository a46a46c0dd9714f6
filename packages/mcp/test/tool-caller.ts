// A program that lists the tools of a server over HTTP, calls one, and prints what it loaded of the official SDK.
import { registerHooks } from 'node:module';

const loaded: string[] = [];
registerHooks({
  load: (url, context, next) => {
    if (url.includes('/@modelcontextprotocol/')) loaded.push(url);
    return next(url, context);
  },
});
const { MCPClient } = await import('@quiver/mcp/client');
const [, , url, protocol] = process.argv as [string, string, string, 'auto' | 'legacy' | 'modern'];
const mcp = new MCPClient({ servers: { it: { url: new URL(url), protocol } } });
const tools = await mcp.listTools();
const output = await tools['it_add']?.execute({ a: 1, b: 2 });
await mcp.disconnect();
process.stdout.write(JSON.stringify({ output, loaded }));
