// A server with a tool that waits for another call, over HTTP in a separate process; prints its URL.
import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp/server';

let release = (): void => {};
const released = new Promise<void>((resolve) => {
  release = resolve;
});
let runs = 0;
const server = new MCPServer({
  name: 'Tasks',
  version: '1.0.0',
  tools: {
    report: createTool({
      id: 'report',
      description: 'Waits until it is released',
      mcp: { task: { mode: 'required', pollIntervalMs: 20 } },
      execute: async (_input, { mcp }) => {
        runs += 1;
        await mcp.progress({ progress: 1, message: 'reading' });
        await released;
        return `run ${runs}`;
      },
    }),
    release: createTool({ id: 'release', description: 'Releases the report', execute: async () => release() }),
  },
});
const { url } = await server.listen({ port: 0 });
// oxlint-disable-next-line no-console -- the parent process waits for this line
console.log(url);
