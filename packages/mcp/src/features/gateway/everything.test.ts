import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MCPClient, type MastraMCPServerDefinition } from '@quiver/mcp/client';
import { MCPServer } from '@quiver/mcp/server';
import { expect, onTestFinished, test } from 'vitest';

const require = createRequire(import.meta.url);

/** The reference server of the protocol, over stdio. */
function everything(): { command: string; args: string[] } {
  const manifest = require.resolve('@modelcontextprotocol/server-everything/package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
  const [file = 'dist/index.js'] = Object.values(bin);
  return { command: process.execPath, args: [join(dirname(manifest), file), 'stdio'] };
}

// Names and URIs that are in no list are refused by the gateway itself.
const calls: [name: string, args: Record<string, unknown>][] = [
  ['echo', { message: 'hello' }],
  ['echo', { message: 3 }],
  ['get-sum', { a: 1, b: 2 }],
  ['get-structured-content', { location: 'Chicago' }],
  ['get-annotated-message', { messageType: 'error', includeImage: true }],
  ['get-tiny-image', {}],
  ['get-resource-links', { count: 2 }],
  ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
  ['trigger-long-running-operation', { duration: 0.3, steps: 3 }],
  ['trigger-elicitation-request', {}],
  ['trigger-url-elicitation', { url: 'https://example.com', message: 'Open it' }],
  ['trigger-sampling-request', { prompt: 'Hi', maxTokens: 10 }],
  ['get-roots-list', {}],
];

/** Members that name the request or the connection, and times. */
const own = new Set([
  'progressToken',
  'elicitationId',
  'requestId',
  'ttlMs',
  'cacheScope',
  'resultType',
  'lastModified',
]);

function normalize(value: unknown): unknown {
  const text = JSON.stringify(value, (key, member: unknown) => {
    if (own.has(key)) return undefined;
    // Its text contains the time.
    if (key === 'blob') return Buffer.from(String(member), 'base64').toString();
    // The gateway is the server of the modern era; the protocol forbids other members of the key.
    const isEmpty = key === '_meta' && JSON.stringify(member)?.startsWith('{"io.modelcontextprotocol/serverInfo"');
    return isEmpty ? undefined : member;
  });
  return JSON.parse(
    text.replaceAll('up:', '').replaceAll(/\d+:\d+:\d+ [AP]M|\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f]{8}-[0-9a-f-]{27}/g, '…'),
  ) as unknown;
}

/** Uses all that the server offers. Returns the results, with the requests and notifications that came before each. */
async function record(definition: MastraMCPServerDefinition, prefix: string): Promise<Record<string, unknown>> {
  let messages: unknown[] = [];
  const client = new MCPClient({
    id: crypto.randomUUID(),
    servers: {
      it: {
        ...definition,
        capabilities: { elicitation: { form: {}, url: {} } },
        roots: [{ uri: 'file:///home', name: 'home' }],
        sampling: () => ({ role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'test' }),
        onMessage: ({ method, params }) => {
          // The server asks for the roots after the handshake, at any time: a gateway has no caller then.
          const isAboutRoots = method === 'roots/list' || JSON.stringify(params)?.includes('Roots updated');
          if (!isAboutRoots && !method.endsWith('list_changed')) messages.push({ method, params });
        },
      } as MastraMCPServerDefinition,
    },
  });
  onTestFinished(() => client.disconnect());
  await client.elicitation.onRequest('it', async ({ mode }) => ({
    action: 'accept',
    ...(mode === 'form' && { content: { name: 'Ada', check: true, color: 'red', email: 'ada@example.com' } }),
  }));
  const transcript: Record<string, unknown> = {};
  const take = async (label: string, run: () => Promise<unknown>): Promise<void> => {
    messages = [];
    const result = await run().catch((error: Error) => ({ error: error.message }));
    transcript[label] = normalize({ result, messages });
  };
  // Some tools are listed only after the handshake.
  await client.listTools();
  await take('tools', async () => {
    const { it = [] } = await client.listToolDefinitions();
    // A gateway leaves out tools that run only as tasks of protocol version 2025-11-25.
    return it.filter(({ execution }) => execution?.taskSupport !== 'required');
  });
  await take('resources', () => client.resources.list());
  await take('templates', () => client.resources.templates());
  await take('prompts', () => client.prompts.list());
  for (const [name, args] of calls)
    await take(`${name} ${JSON.stringify(args)}`, () =>
      client.callTool({ serverName: 'it', name: `${prefix}${name}`, args, onProgress: () => {} }),
    );
  for (const uri of ['demo://resource/dynamic/text/1', 'demo://resource/dynamic/blob/2'])
    await take(uri, () => client.resources.read('it', uri));
  for (const [name, args] of [
    ['simple-prompt', {}],
    ['args-prompt', { city: 'Oslo', state: 'Oslo' }],
    ['args-prompt', {}],
  ] as const)
    await take(`${name} ${JSON.stringify(args)}`, async () => {
      const { messages: texts } = await client.prompts.get({ serverName: 'it', name: `${prefix}${name}`, args });
      return texts;
    });
  await take('complete', () =>
    client.complete({
      serverName: 'it',
      ref: { type: 'prompt', name: `${prefix}completable-prompt` },
      argument: { name: 'department', value: 'E' },
    }),
  );
  return transcript;
}

test('server-everything is the same directly and through a gateway, message by message, in both eras', async () => {
  const direct = await record(everything(), '');
  const gateway = new MCPServer({ name: 'Gateway', version: '1.0.0', tools: {} });
  onTestFinished(() => gateway.close());
  await gateway.proxy('up', everything(), { prefix: 'up:' });
  for (const protocol of ['legacy', 'modern'] as const) {
    const proxied = await record({ server: gateway, protocol }, 'up:');
    for (const [label, expected] of Object.entries(direct))
      expect({ [label]: proxied[label] }).toEqual({ [label]: expected });
  }
});
