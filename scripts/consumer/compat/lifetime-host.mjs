// A host of lifetime-server.mjs that waits for its end.
import { fileURLToPath } from 'node:url';
import { MCPClient } from '@quiver/mcp';

const args = [fileURLToPath(new URL('lifetime-server.mjs', import.meta.url))];
const client = new MCPClient({ servers: { it: { command: process.execPath, args, stderr: 'inherit' } } });
await client.listTools();
process.stderr.write('ready\n');
if (process.argv[2] === 'exception') throw new Error('The host fails.');
