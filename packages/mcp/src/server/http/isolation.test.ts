import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { modern, openSession, rpc, send } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';
import { InMemoryEventStore } from './event-store.js';

const tools = {
  secret: toolOf(
    'secret',
    { inputSchema: z.object({ secret: z.string(), milliseconds: z.number() }) },
    async ({ secret, milliseconds }, { mcp }) => {
      await mcp.log('info', secret);
      await mcp.progress({ progress: 1, message: secret });
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      await mcp.log('info', secret);
      return secret;
    },
  ),
};

const server = new MCPServer({ name: 'Isolation', version: '1.0.0', tools });
const plain = await server.listen();
const stored = await server.listen({ eventStore: new InMemoryEventStore() });
afterAll(() => server.close());

const clients = 100;
const secretOf = (client: number): string => `secret-${client}-`.repeat(3);
const callOf = (client: number): Record<string, unknown> => ({
  name: 'secret',
  arguments: { secret: secretOf(client), milliseconds: Math.random() * 50 },
  _meta: { progressToken: 1, 'io.modelcontextprotocol/logLevel': 'debug' },
});

/** Clients that did not receive exactly their own secret, four times: two log messages, the progress and the result. */
function confused(answers: { text: string; events: unknown[] }[]): number[] {
  return answers.flatMap(({ text, events }, client) => {
    const seen = new Set([...text.matchAll(/secret-\d+-/g)].map(([secret]) => secret));
    return events.length === 4 && seen.size === 1 && seen.has(`secret-${client}-`) ? [] : [client];
  });
}

describe('100 clients that use the same ids at the same time', () => {
  test.each(['plain', 'stored'])('in sessions (%s)', async (name) => {
    const { url } = name === 'plain' ? plain : stored;
    const sessions = await Promise.all(Array.from({ length: clients }, () => openSession(url)));
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(
        sessions.map((headers, client) => send(url, { headers, body: rpc('tools/call', callOf(client), 1) })),
      );
      expect(confused(answers)).toEqual([]);
    }
  });

  test('in the stateless revision', async () => {
    const calls = Array.from({ length: clients }, (_, client) => modern('tools/call', callOf(client), 1));
    expect(confused(await Promise.all(calls.map((call) => send(plain.url, call))))).toEqual([]);
  });
});
