import { createTool } from '@quiver/core/tools';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { commandFor } from '../../../mcp/test/programs/spawn-server.ts';
import { MCPServer } from '@quiver/mcp/server';
import { createTestClient, expectMcp } from './index.js';
import { describeEras, mcpMatchers } from './vitest.js';

expect.extend(mcpMatchers);

const server = new MCPServer({
  name: 'Kitchen',
  version: '1.0.0',
  tools: {
    add: createTool({
      id: 'add',
      description: 'Adds two numbers',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      mcp: { annotations: { readOnlyHint: true, idempotentHint: true } },
      execute: async ({ a, b }) => ({ sum: a + b }),
    }),
    greet: createTool({ id: 'greet', description: 'Greets', execute: async () => 'Good morning' }),
    list: createTool({ id: 'list', description: 'Lists', execute: async () => [{ id: 1 }] }),
    burn: createTool({
      id: 'burn',
      description: 'Fails',
      execute: async () => {
        throw new Error('the oven is cold');
      },
    }),
    order: createTool({
      id: 'order',
      description: 'Asks for the size, twice',
      execute: async (_input, { mcp }) => {
        const requestedSchema = { type: 'object' as const, properties: { size: { type: 'string' as const } } };
        const first = await mcp.elicitation.sendRequest({ message: 'Which size?', requestedSchema });
        const second = await mcp.elicitation.sendRequest({ message: 'Are you sure?', requestedSchema });
        return `${first.action} ${String(first.content?.['size'])}, ${second.action}`;
      },
    }),
    compose: createTool({
      id: 'compose',
      description: 'Asks the model of the client',
      execute: async (_input, { mcp }) => {
        const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Write a haiku' } }];
        return (await mcp.sample({ messages, maxTokens: 10 })).text;
      },
    }),
    folders: createTool({
      id: 'folders',
      description: 'Asks for the roots',
      execute: async (_input, { mcp }) => (await mcp.roots()).map(({ uri }) => uri),
    }),
    whoami: createTool({
      id: 'whoami',
      description: 'Returns the caller',
      execute: async (_input, { mcp }) => mcp.extra?.authInfo?.clientId ?? 'nobody',
    }),
    capabilities: createTool({
      id: 'capabilities',
      description: 'Returns what the client declared',
      execute: async (_input, { mcp }) => mcp.clientCapabilities,
    }),
  },
});
const accept = { action: 'accept' as const, content: { size: 'large' } };

describeEras((protocol) => {
  it('connects in the era of the test', async () => {
    await using client = await createTestClient(server, { protocol });
    await client.tools();
    const { protocolVersion } = client.mcp.status()['server'] ?? {};
    expect(protocolVersion).toBe(protocol === 'modern' ? '2026-07-28' : '2025-11-25');
  });

  it('finds tools by name and parts of their definition', async () => {
    await using client = await createTestClient(server, { protocol });
    await expect(client).toOfferTool('add');
    await expect(client).toOfferTool('add', { annotations: { readOnlyHint: true } });
    await expect(await client.tools()).toOfferTool('greet', { description: 'Greets' });
    await expect(client).not.toOfferTool('subtract');
    await expect(expectMcp(client).toOfferTool('subtract')).rejects.toThrow(
      "Expected the server to offer the tool 'subtract', but the tools are: add, greet, list",
    );
    await expect(expectMcp(client).toOfferTool('add', { annotations: { readOnlyHint: false } })).rejects.toThrow(
      'but it has annotations {"readOnlyHint":true,"idempotentHint":true}, not {"readOnlyHint":false}.',
    );
    await expect(expectMcp(client).not.toOfferTool('add')).rejects.toThrow('Did not expect the server to offer');
  });

  it('compares structured content, texts, JSON in texts, and content', async () => {
    await using client = await createTestClient(server, { protocol });
    const sum = client.call('add', { a: 1, b: 2 });
    await expect(sum).toReturnResult({ sum: 3 });
    await expect(sum).toReturnResult({ sum: expect.any(Number) });
    await expect(sum).not.toReturnResult({ sum: 4 });
    await expectMcp(sum).toReturnResult({ sum: 3 });
    await expectMcp(client.call('greet')).toReturnResult('Good morning');
    await expectMcp(client.call('greet')).toReturnResult(/^good/i);
    await expectMcp(client.call('greet')).toReturnResult([{ type: 'text', text: 'Good morning' }]);
    await expectMcp(client.call('list')).toReturnResult([{ id: 1 }]);
    await expect(expectMcp(sum).toReturnResult({ sum: 4 })).rejects.toMatchObject({
      code: 'ERR_ASSERTION',
      message: `Expected 'add' to return {"sum":4}, but it returned {"sum":3}.`,
      actual: { sum: 3 },
      expected: { sum: 4 },
    });
  });

  it('reports failures of tools, of arguments and of names', async () => {
    await using client = await createTestClient(server, { protocol });
    await expect(client.call('burn')).toFailWith('the oven is cold');
    await expect(client.call('add', { a: 1 })).toFailWith(/\bb\b/);
    await expect(client.call('nothing')).toFailWith('nothing');
    await expect(client.call('greet')).not.toFailWith('');
    await expect(client.call('burn')).not.toReturnResult('cold');
    await expect(expectMcp(client.call('burn')).toReturnResult('hot')).rejects.toThrow('the oven is cold');
    await expect(expectMcp(client.call('greet')).toFailWith('cold')).rejects.toThrow('it returned "Good morning"');
  });

  it('answers every elicitation request, or each with the next answer', async () => {
    await using always = await createTestClient(server, { protocol, answers: { elicitation: accept } });
    const call = await always.call('order');
    await expect(call).toReturnResult('accept large, accept');
    await expect(call).toAsk('elicitation', 'Which size?');
    await expect(call).toAsk('elicitation', /sure/);
    await expect(call).not.toAsk('elicitation', 'Which color?');
    await expect(call).not.toAsk('sampling');
    await expect(always.call('greet')).not.toAsk('elicitation');

    const elicitation = [accept, { action: 'decline' as const }];
    await using inOrder = await createTestClient(server, { protocol, answers: { elicitation } });
    await expect(inOrder.call('order')).toReturnResult('accept large, decline');
    await expect(inOrder.call('order')).toFailWith('more elicitation requests than the 2');
    expect(inOrder.asked.length).toBeGreaterThan(2);
  });

  it('answers with a function, which receives the request', async () => {
    const received: unknown[] = [];
    await using client = await createTestClient(server, {
      protocol,
      answers: {
        elicitation: ({ message }) => {
          received.push(message);
          return accept;
        },
      },
    });
    await client.call('order');
    expect(received).toEqual(['Which size?', 'Are you sure?']);
  });

  it('answers sampling requests and lists roots', async () => {
    await using client = await createTestClient(server, {
      protocol,
      answers: { sampling: 'An old silent pond', roots: [{ uri: 'file:///home' }] },
    });
    const composed = await client.call('compose');
    await expect(composed).toReturnResult('An old silent pond');
    await expect(composed).toAsk('sampling', 'Write a haiku');
    const folders = await client.call('folders');
    await expect(folders).toReturnResult(['file:///home']);
    await expect(folders).toAsk('roots');
  });

  it('declares only the kinds that have an answer', async () => {
    await using client = await createTestClient(server, { protocol });
    await expect(client.call('order')).toFailWith('elicitation');
    await expect(client.call('order')).not.toAsk('elicitation');
    await using capable = await createTestClient(server, { protocol, capabilities: { elicitation: { url: {} } } });
    await expect(capable.call('capabilities')).toReturnResult(expect.objectContaining({ elicitation: { url: {} } }));
  });

  it('passes the identity of the caller to tools', async () => {
    await using client = await createTestClient(server, {
      protocol,
      authInfo: { token: 't', clientId: 'ada', scopes: [] },
    });
    await expect(client.call('whoami')).toReturnResult('ada');
    await using anonymous = await createTestClient(server, { protocol });
    await expect(anonymous.call('whoami')).toReturnResult('nobody');
  });
});

describe('createTestClient', () => {
  it('takes servers of the official SDK and programs', async () => {
    const official = new McpServer({ name: 'Official', version: '1' });
    official.registerTool('ping', { inputSchema: z.object({}) }, async () => ({
      content: [{ type: 'text', text: 'pong' }],
    }));
    await using client = await createTestClient(official);
    await expect(client.call('ping')).toReturnResult('pong');
    await using program = await createTestClient(commandFor('stdio-server.ts'));
    expect((await program.tools()).length).toBeGreaterThan(0);
  });

  it('rejects an identity for a server elsewhere, and unknown values', async () => {
    const options = { authInfo: { clientId: 'ada' } };
    await expect(createTestClient({ url: 'http://localhost:1/mcp' }, options)).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining('Send a token with `headers`'),
    });
    await expect(createTestClient(server, { protocol: 'old' as never })).rejects.toThrow(/protocol/);
    await expect(createTestClient(42 as never)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });
});

describe('matchers', () => {
  it('name the value that they take', async () => {
    const code = 'OPTIONS_INVALID';
    await expect(expectMcp(undefined).toOfferTool('add')).rejects.toMatchObject({ code });
    for (const matcher of ['toReturnResult', 'toFailWith'] as const)
      await expect(expectMcp({ sum: 3 })[matcher]('x')).rejects.toMatchObject({
        code,
        message: expect.stringContaining(`${matcher} takes a call`),
      });
    await expect(expectMcp('call').toAsk('roots')).rejects.toMatchObject({ code });
  });
});
