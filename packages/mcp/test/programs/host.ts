// A program that uses a server over stdio, prints the ids of the server and of its child, and ends as its argument says.
import { MCPClient } from '@quiver/mcp/client';

const script = `
  const { spawn } = require('child_process');
  const grandchild = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  process.stdin.on('end', () => process.exit());
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    const reply = (result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
    const serverInfo = { name: 'h', version: '1' };
    if (method === 'initialize') reply({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
    else if (id !== undefined) reply({ content: [{ type: 'text', text: JSON.stringify([process.pid, grandchild.pid]) }] });
  });`;

const mcp = new MCPClient({ servers: { it: { command: process.execPath, args: ['-e', script] } } });
// An application that ends in order. It sets its handler before there is a child.
const endInOrder = (): void => void mcp.callTool({ serverName: 'it', name: 'pids' }).then(() => process.exit(7));
if (process.argv[2] === 'once') process.once('SIGTERM', endInOrder);
const { content } = await mcp.callTool({ serverName: 'it', name: 'pids' });
process.stdout.write(`${(content[0] as { text: string }).text}\n`);
if (process.argv[2] === 'exit') process.exit(0);
if (process.argv[2] === 'exception') throw new Error('The host fails.');
if (process.argv[2] === 'rejection') void Promise.reject(new Error('The host fails.'));
