// Loads a server in its own process and tells the heap after collection: `calls <n>` or `sessions <n>`.
import { setTimeout as sleep } from 'node:timers/promises';
import { MCPServer } from '@quiver/mcp/server';
import { exampleTools } from '../servers/example-tools.ts';
import { SoakConnection } from '../clients/soak-connection.ts';
import { initializeParams, rpc } from '../clients/wire.ts';

const [what, count] = process.argv.slice(2);
const times = Number(count);
const server = new MCPServer({ name: 'Soak', version: '1.0.0', tools: exampleTools });
const { url } = await server.listen({ idleTimeout: what === 'sessions' ? 1_000 : 60_000 });
const connections = Array.from({ length: 16 }, () => new SoakConnection(new URL(url)));

async function openSession(connection: SoakConnection): Promise<string> {
  const { head } = await connection.post(rpc('initialize', initializeParams));
  return `Mcp-Session-Id: ${/mcp-session-id: (\S+)/i.exec(head)?.[1]}\r\n`;
}

/** In KB. */
function heap(): number {
  for (let round = 0; round < 6; round += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024;
}

async function inParallel(
  total: number,
  run: (connection: SoakConnection, index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    connections.map(async (connection) => {
      while (next < total) await run(connection, (next += 1));
    }),
  );
}

const heaps: number[] = [];
if (what === 'calls') {
  const session = await openSession(connections[0] as SoakConnection);
  for (let quarter = 0; quarter < 4; quarter += 1) {
    await inParallel(times / 4, async (connection, index) => {
      const { body } = await connection.post(
        rpc('tools/call', { name: 'add', arguments: { a: index, b: 1 } }, index),
        session,
      );
      if (!body.includes(`"sum":${index + 1}}`)) throw new Error(`a wrong answer: ${body}`);
    });
    heaps.push(heap());
  }
} else {
  await inParallel(300, openSession);
  // Sessions end in the first sweep after their idle timeout; the server sweeps every 10 s.
  await sleep(12_000);
  const before = heap();
  await inParallel(times, openSession);
  heaps.push(before, heap());
  const end = performance.now() + 60_000;
  do await sleep(1_000);
  while ((heap() - before) / times > 0.3 && performance.now() < end);
  heaps.push(heap());
}
process.send?.(heaps);
