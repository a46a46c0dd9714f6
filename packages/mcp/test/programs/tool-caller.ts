// A program that lists the tools of a server, calls one, and prints what it loaded of the official SDK, and of TLS.
import { registerHooks } from 'node:module';
import type { MastraMCPServerDefinition } from '@quiver/mcp/client';
import { commandFor } from './spawn-server.ts';

const loaded: string[] = [];
registerHooks({
  load: (url, context, next) => {
    if (url.includes('/@modelcontextprotocol/')) loaded.push(url);
    return next(url, context);
  },
});
const { MCPClient } = await import('@quiver/mcp/client');
const [, , kind, url, protocol] = process.argv as [string, string, string, string, 'auto' | 'legacy' | 'modern'];
const definitions: Record<string, MastraMCPServerDefinition> = {
  http: { url: new URL(url), protocol },
  fetch: { url: new URL(url), protocol, fetch: (to, init) => fetch(to, init) },
  stdio: { ...commandFor('stdio-server.ts'), protocol },
};
const mcp = new MCPClient({ servers: { it: definitions[kind] as MastraMCPServerDefinition } });
const tools = await mcp.listTools();
const output = await tools['it_add']?.execute({ a: 1, b: 2 });
await mcp.disconnect();
const { moduleLoadList } = process as unknown as { moduleLoadList: string[] };
loaded.push(...moduleLoadList.filter((name) => kind !== 'fetch' && name === 'NativeModule https'));
process.stdout.write(JSON.stringify({ output, loaded }));
