// A server over HTTP that closes at a signal; prints its URL. Arguments: URL and name of a shared store, or none.
import { MCPServer } from '@quiver/mcp/server';
import { exampleTools } from '../servers/example-tools.ts';
import { openSharedStore } from '../stores/shared-tasks.ts';

const [storeUrl, name = ''] = process.argv.slice(2);
const shared = storeUrl === undefined ? undefined : await openSharedStore(storeUrl, name);
const sharedStore = shared && { sharedStore: shared.store };
const server = new MCPServer({ name: 'Draining', version: '1.0.0', tools: exampleTools, ...sharedStore });
if (shared) server.onClose(() => shared.close());
const { url } = await server.listen({ healthPath: '/health', shutdownSignals: ['SIGTERM', 'SIGINT'] });
// oxlint-disable-next-line no-console -- the parent process waits for this line
console.log(url);
