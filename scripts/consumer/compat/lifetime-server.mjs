// A server over stdio with an open timer, started by stdio-lifetime.test.mjs. `gateway` uses another one through MCPClient. It writes its
// process id and its end to standard error.
import { fileURLToPath } from 'node:url';
import { createTool } from '@quiver/core/tools';
import { MCPClient, MCPServer } from '@quiver/mcp';

setInterval(() => {}, 1000);
process.on('exit', (code) => process.stderr.write(`exit ${code}\n`));
const wait = createTool({
  id: 'wait',
  description: 'Waits',
  execute: () => {
    process.stderr.write('waits\n');
    return new Promise(() => {});
  },
});
const upstream = { command: process.execPath, args: [fileURLToPath(import.meta.url)], stderr: 'inherit' };
const isGateway = process.argv[2] === 'gateway';
const tools = isGateway ? await new MCPClient({ servers: { upstream } }).listTools() : { wait };
const server = new MCPServer({ name: 'Lifetime', version: '1.0.0', tools });
server.onClose(() => process.stderr.write('closed\n'));
await server.startStdio();
process.stderr.write(`${process.pid}\n`);
