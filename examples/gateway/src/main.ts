// Five published servers behind one endpoint, with a search in place of their tools: over stdio, or with a port over HTTP.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MCPServer } from '@quiver/mcp/server';

/** The command line of an installed package. */
function program(name: string, ...args: string[]): { command: string; args: string[] } {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  for (const folder of folders.map((path) => join(path, name, 'package.json'))) {
    try {
      const { bin } = JSON.parse(readFileSync(folder, 'utf8')) as { bin: string | Record<string, string> };
      const [file = ''] = typeof bin === 'string' ? [bin] : Object.values(bin);
      return { command: process.execPath, args: [join(dirname(folder), file), ...args] };
    } catch {
      // It may be in the next folder.
    }
  }
  throw new Error(`Install ${name} first.`);
}

const gateway = new MCPServer({
  name: 'Gateway',
  version: '1.0.0',
  tools: {},
  search: { pinned: ['everything_echo'] },
});
await Promise.all([
  gateway.proxy('everything', program('@modelcontextprotocol/server-everything')),
  gateway.proxy('files', program('@modelcontextprotocol/server-filesystem', process.cwd())),
  gateway.proxy('memory', program('@modelcontextprotocol/server-memory')),
  gateway.proxy('thinking', program('@modelcontextprotocol/server-sequential-thinking')),
  gateway.proxy('docs', program('@upstash/context7-mcp')),
]);

const port = process.argv[2];
if (port === undefined) await gateway.startStdio();
else console.error(`${(await gateway.listen({ port: Number(port), shutdownSignals: ['SIGTERM', 'SIGINT'] })).url}`);
