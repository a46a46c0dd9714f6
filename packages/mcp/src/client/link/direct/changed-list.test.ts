import { expect, onTestFinished, test } from 'vitest';
import { MCPServer } from '../../../server/mcp-server.js';
import { MCPClient } from '../../mcp-client.js';

const schemaOf = (field: string): object => ({
  type: 'object',
  properties: { [field]: { type: 'string' } },
  required: [field],
});

test.each(['legacy', 'modern'] as const)(
  '%s: a definition that changes is never mixed with the one before, whichever way each list took',
  async (protocol) => {
    const icons = [{ src: 'https://example.com/i.png' }];
    const execute = async (): Promise<string> => 'done';
    const withIcons = { description: 'A', inputSchema: schemaOf('before'), mcp: { icons }, execute };
    const server = new MCPServer({ id: 's', name: 's', version: '1.0.0', tools: { it: withIcons } });
    const { url } = await server.listen({ port: 0 });
    const mcp = new MCPClient({ id: `changed-${protocol}`, servers: { s: { url, protocol } } });
    onTestFinished(async () => {
      await mcp.disconnect();
      await server.close();
    });
    const changed = new Promise<void>((resolve) => void mcp.tools.onListChanged('s', () => resolve()));
    // Icons are left to the SDK, which keeps what it was told.
    expect((await mcp.listToolDefinitions())['s']?.[0]).toMatchObject({ inputSchema: schemaOf('before') });
    await server.toolActions.add({ it: { description: 'B', inputSchema: schemaOf('after'), execute } });
    await changed;
    const [tool] = (await mcp.listToolDefinitions())['s'] ?? [];
    expect(tool).toMatchObject({ description: 'B', inputSchema: schemaOf('after') });
  },
);
