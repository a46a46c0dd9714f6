// A server over HTTP in a separate process; prints its URL. Arguments: port, and `serverless` for no sessions.
import { MCPServer } from '@quiver/mcp/server';
import { exampleTools } from '../servers/example-tools.ts';

const [port = '0', mode] = process.argv.slice(2);
const server = new MCPServer({
  id: 'example',
  name: 'Example',
  version: '1.2.3',
  instructions: 'Be kind.',
  tools: exampleTools,
});
const { url } = await server.listen({ port: Number(port), serverless: mode === 'serverless' });
// oxlint-disable-next-line no-console -- the parent process waits for this line
console.log(url);
