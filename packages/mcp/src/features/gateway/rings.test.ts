import { createTool } from '@quiver/core/tools';
import { MCPClient } from '@quiver/mcp/client';
import { MCPServer } from '@quiver/mcp/server';
import { describe, expect, test } from 'vitest';
import { afterTest } from '../../../test/after-test.ts';
import { eventually } from '../../../test/eventually.ts';

const toolOf = (id: string) => createTool({ id, description: id, execute: async () => id });

interface Gateway {
  readonly server: MCPServer;
  readonly warnings: string[];
  /** Number of requests for lists that arrived. */
  lists: number;
}

function createGateway(id: string): Gateway {
  const warnings: string[] = [];
  const ignore = (): void => {};
  const logger = { debug: ignore, info: ignore, warn: (text: string) => void warnings.push(text), error: ignore };
  const server = new MCPServer({ name: id, version: '1.0.0', logger, tools: { [id]: toolOf(id) } });
  afterTest(() => server.close({ grace: 0 }));
  const gateway: Gateway = { server, warnings, lists: 0 };
  server.use({
    onRequest: (context, next) => {
      if (context.method === 'tools/list') gateway.lists += 1;
      return next();
    },
  });
  return gateway;
}

const routes = ['proxy legacy', 'proxy modern', 'mount'] as const;

async function createRing(size: number, way: (typeof routes)[number]): Promise<Gateway[]> {
  const ring = Array.from({ length: size }, (_, at) => createGateway(`g${at}`));
  const urls = await Promise.all(ring.map(({ server }) => server.listen({ port: 0 }).then(({ url }) => url)));
  for (const [at, { server }] of ring.entries()) {
    const next = (at + 1) % size;
    const protocol = way === 'proxy legacy' ? 'legacy' : 'modern';
    if (way === 'mount') await server.mount('p', ring[next]!.server);
    else await server.proxy('p', { url: urls[next]!, protocol });
  }
  return ring;
}

async function list(server: MCPServer): Promise<string[]> {
  await using client = new MCPClient({ id: crypto.randomUUID(), servers: { it: { server } } });
  return (await client.listToolDefinitions())['it']!.map(({ name }) => name).toSorted();
}

// A server refuses to mount itself.
const cases = routes.flatMap((way) => [1, 2, 3].map((size) => [way, size] as const)).slice(0, -3);
cases.push(['mount', 2], ['mount', 3]);

describe.each(cases)('gateways that offer each other by %s, in a ring of %i', (way, size) => {
  test('list each item once, call through the ring, and log the loop once', async () => {
    const ring = await createRing(size, way);
    const names = ring.map((_, at) => `${'p_'.repeat(at)}g${at}`).toSorted();
    for (let times = 0; times < 3; times += 1) expect(await list(ring[0]!.server)).toEqual(names);
    await using client = new MCPClient({ id: crypto.randomUUID(), servers: { it: { server: ring[0]!.server } } });
    for (const [at] of ring.entries())
      expect(await client.callTool({ serverName: 'it', name: `${'p_'.repeat(at)}g${at}` })).toMatchObject({
        content: [{ type: 'text', text: `g${at}` }],
      });
    await expect(client.callTool({ serverName: 'it', name: `${'p_'.repeat(size)}g0` })).rejects.toThrow('g0');
    const loops = ring.map(({ warnings }) => warnings.filter((text) => text.includes('came from this')).length);
    expect(Math.max(...loops)).toBe(1);
    const before = ring.map(({ lists }) => lists);
    await list(ring[0]!.server);
    for (const [at, { lists }] of ring.entries()) expect(lists - before[at]!).toBeLessThanOrEqual(2);
  });

  test('announce a change, and list the tool that was added', async () => {
    const ring = await createRing(size, way);
    await list(ring[0]!.server);
    const last = ring.at(-1)!;
    await last.server.toolActions.add({ later: toolOf('later') });
    await eventually(async () => expect(await list(ring[0]!.server)).toContain(`${'p_'.repeat(size - 1)}later`));
    await eventually(async () => expect(await list(last.server)).toContain('later'));
  });
});
