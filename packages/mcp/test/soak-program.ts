// Loads a server in its own process and tells the heap after collection: `calls <n>` or `sessions <n>`.
import { Agent, request } from 'node:http';
import { MCPServer } from '@quiver/mcp/server';
import { exampleTools } from './example-tools.ts';
import { initializeParams, rpc } from './wire.ts';

const [what, count] = process.argv.slice(2);
const times = Number(count);
const server = new MCPServer({ name: 'Soak', version: '1.0.0', tools: exampleTools });
const { url } = await server.listen({ idleTimeout: what === 'sessions' ? 1_000 : 60_000 });
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

function post(body: object, headers: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const accept = 'application/json, text/event-stream';
    const req = request(url, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', accept, ...headers },
    });
    req.on('error', reject);
    req.on('response', (res) => {
      const id = String(res.headers['mcp-session-id']);
      res.resume().on('end', () => resolve(id));
    });
    req.end(JSON.stringify(body));
  });
}

/** In KB. */
function heap(): number {
  for (let round = 0; round < 6; round += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024;
}

async function inParallel(total: number, run: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < total) await run((next += 1));
  };
  await Promise.all(Array.from({ length: 16 }, lane));
}

const heaps: number[] = [];
if (what === 'calls') {
  const headers = { 'mcp-session-id': await post(rpc('initialize', initializeParams)) };
  const call = (id: number): Promise<string> =>
    post(rpc('tools/call', { name: 'add', arguments: { a: id, b: 1 } }, id), headers);
  for (let quarter = 0; quarter < 4; quarter += 1) {
    await inParallel(times / 4, call);
    heaps.push(heap());
  }
} else {
  await inParallel(300, () => post(rpc('initialize', initializeParams)));
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  heaps.push(heap());
  await inParallel(times, () => post(rpc('initialize', initializeParams)));
  heaps.push(heap());
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  heaps.push(heap());
}
process.send?.(heaps);
