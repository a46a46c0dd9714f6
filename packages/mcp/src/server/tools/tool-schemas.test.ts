import { createRequire } from 'node:module';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { McpServer as OfficialServer } from '@modelcontextprotocol/server';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { createTool } from '@quiver/core/tools';
import { tool } from 'ai-v7';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { MCPClient } from '../../client/mcp-client.js';
import { MCPServer } from '../mcp-server.js';

/** The validator of the official SDK with the options of the class, which knows draft 7 only and checks `$schema`. */
function createValidator(): AjvJsonSchemaValidator {
  const ofSdk = createRequire(import.meta.url).resolve('@modelcontextprotocol/sdk/validation/ajv');
  const { Ajv } = createRequire(ofSdk)('ajv');
  return new AjvJsonSchemaValidator(new Ajv());
}

const describedByUser = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: { pair: { type: 'array', items: [{ type: 'string' }] } },
} as const;

const zod4 = {
  inputSchema: z.object({ a: z.number(), b: z.object({ c: z.string() }).optional() }),
  outputSchema: z.object({ sum: z.number() }),
};

const tools = {
  zod3: createTool({
    id: 'zod3',
    description: 'd',
    inputSchema: z3.object({ a: z3.number().positive(), b: z3.object({ c: z3.string() }).optional() }),
    outputSchema: z3.object({ sum: z3.number() }),
    execute: async ({ a }) => ({ sum: a }),
  }),
  zod4: createTool({ id: 'zod4', description: 'd', ...zod4, strict: true, execute: async ({ a }) => ({ sum: a }) }),
  aiSdk: tool({ description: 'd', inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => ({ sum: a }) }),
  json: createTool({ id: 'json', description: 'd', inputSchema: describedByUser, execute: async () => 1 }),
};

const names = ['zod3', 'zod4', 'aiSdk'];
const server = new MCPServer({ name: 'Schemas', version: '1.0.0', tools });
const running = await server.listen();
afterAll(() => server.close());

async function connectOfficial(): Promise<Client> {
  const client = new Client({ name: 'c', version: '1' }, { jsonSchemaValidator: createValidator() });
  // The types of the SDK forbid `undefined` members.
  await client.connect(new StreamableHTTPClientTransport(new URL(running.url)) as never);
  return client;
}

describe('schemas of served tools', () => {
  test('compile in a client whose validator knows draft 7 only', async () => {
    const client = await connectOfficial();
    const listed = await client.listTools();
    for (const name of names) {
      const found = listed.tools.find((each) => each.name === name);
      const check = createValidator().getValidator(found?.inputSchema as never);
      expect(check({ a: 1 }), name).toMatchObject({ valid: true });
      expect(check({ a: 'x' }), name).toMatchObject({ valid: false });
    }
    for (const name of names.slice(0, 2))
      // The client validates the output.
      expect(await client.callTool({ name, arguments: { a: 2 } })).toMatchObject({ structuredContent: { sum: 2 } });
    await client.close();
  });

  test('accept the further members that the tools accept', async () => {
    const client = await connectOfficial();
    const listed = await client.listTools();
    for (const name of names) {
      const found = listed.tools.find((each) => each.name === name);
      const args = { a: 1, reason: 'of the host', b: { c: 'x', d: 1 } };
      expect(createValidator().getValidator(found?.inputSchema as never)(args), name).toMatchObject({ valid: true });
      expect((await client.callTool({ name, arguments: args })).isError, name).not.toBe(true);
    }
    await client.close();
  });

  test('are those of the official SDK for zod 4, without $schema', async () => {
    const { inputSchema } = zod4;
    const official = new OfficialServer({ name: 'o', version: '1' });
    official.registerTool('zod4', { inputSchema }, () => ({ content: [] }));
    const mcp = new MCPClient({ id: crypto.randomUUID(), servers: { official: { server: official }, ours: server } });
    const listed = await mcp.listToolDefinitions();
    await mcp.disconnect();
    const { $schema, ...theirs }: Record<string, unknown> = listed['official']?.[0]?.inputSchema ?? {};
    const ours = listed['ours']?.find(({ name }) => name === 'zod4');
    expect($schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(ours?.inputSchema).toEqual(theirs);
  });

  test('are verbatim if they were given as JSON Schema', async () => {
    const client = new ClientV2({ name: 'c', version: '1' });
    await client.connect(new HttpV2(new URL(running.url)));
    const listed = await client.listTools();
    expect(listed.tools.find(({ name }) => name === 'json')?.inputSchema).toEqual(describedByUser);
    await client.close();
  });
});
