// A program that starts a task and waits for it. It prints the handle; with a handle as argument it continues that task.
import { MCPClient, type TaskHandle } from '@quiver/mcp/client';

const [url = '', stored] = process.argv.slice(2);
const mcp = new MCPClient({ servers: { reports: { url } } });
const start = async (): Promise<TaskHandle> => {
  const started = await mcp.tasks.start({ serverName: 'reports', name: 'report' });
  process.stdout.write(`${JSON.stringify(started)}\n`);
  return started;
};
const handle = stored === undefined ? await start() : (JSON.parse(stored) as TaskHandle);
const result = await mcp.tasks.result(handle, {
  // The parent process waits for these lines.
  onProgress: ({ message }) => void process.stdout.write(`${message}\n`),
});
process.stdout.write(`${JSON.stringify(result)}\n`);
await mcp.disconnect();
