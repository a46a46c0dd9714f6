// Serves the fixtures at http://localhost:$PORT/mcp until SIGTERM.
import { InMemoryEventStore } from '@quiver/mcp/server';
import { createConformanceServer } from './server.ts';

const server = createConformanceServer();
const { port } = await server.listen({ port: Number(process.env['PORT'] ?? 0), eventStore: new InMemoryEventStore() });
console.log(`http://localhost:${port}/mcp`);
process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));
