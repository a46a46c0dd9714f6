// A server over stdio, for clients that spawn it.
import { MCPServer } from '@quiver/mcp/server';
import { exampleTools } from '../servers/example-tools.ts';

const server = new MCPServer({
  id: 'example',
  name: 'Example',
  version: '1.2.3',
  instructions: 'Be kind.',
  tools: exampleTools,
});
await server.startStdio();
// oxlint-disable-next-line no-console -- a stray line that must not reach the protocol
console.log('ready');
