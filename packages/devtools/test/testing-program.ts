// Tests of a server with `node:test`: `node --test`.
import { test } from 'node:test';
import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp/server';
import { createTestClient, describeEras, expectMcp } from '@quiver/devtools/testing';

const greet = createTool({ id: 'greet', description: 'Greets', execute: async () => 'Good morning' });
const server = new MCPServer({ name: 'Greeter', version: '1', tools: { greet } });

describeEras((protocol) => {
  test('greets', async () => {
    await using client = await createTestClient(server, { protocol });
    await expectMcp(client).toOfferTool('greet');
    await expectMcp(client.call('greet')).toReturnResult('Good morning');
  });

  test('fails on purpose', async () => {
    await using client = await createTestClient(server, { protocol });
    await expectMcp(client.call('greet')).toReturnResult('Good evening');
  });
});
