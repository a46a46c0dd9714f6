import { createTool } from '@quiver/core/tools';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorOf } from '../../../test/error-of.ts';
import { exampleTools } from '../../../test/servers/example-tools.ts';
import { modern, openSession, rpc, send } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';

const warnings: string[] = [];
const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) };

/** The key of a tool is its name. */
const named = { id: 'x', description: 'd' };

const moreTools = {
  ...exampleTools,
  throwsText: createTool({ ...named, execute: async () => Promise.reject('just text') }),
  throwsNull: createTool({ ...named, execute: async () => Promise.reject(null) }),
  throwsFrozen: createTool({
    ...named,
    execute: async () => Promise.reject(Object.freeze({ code: 7 })),
  }),
  huge: createTool({ ...named, execute: async () => 'x'.repeat(20 * 1024 * 1024) }),
  keys: createTool({
    ...named,
    inputSchema: z.looseObject({}),
    execute: async (input) => Object.keys(input as object),
  }),
  falsy: createTool({
    ...named,
    outputSchema: z.object({ count: z.number() }),
    execute: async () => ({ count: 0 }),
  }),
  shown: createTool({
    ...named,
    outputSchema: z.object({ celsius: z.number() }),
    execute: async () => ({ celsius: 21 }),
    toModelOutput: ({ celsius }) => ({ type: 'text', value: `It is ${celsius} degrees.` }),
  }),
  shownAlone: createTool({
    ...named,
    execute: async () => ({ celsius: 21 }),
    toModelOutput: () => ({ type: 'text', value: 'It is warm.' }),
  }),
  list: createTool({ ...named, outputSchema: z.array(z.number()), execute: async () => [1, 2] }),
  failedContent: createTool({
    ...named,
    execute: async () => ({
      isError: true,
      content: [{ type: 'text', text: 'no such city' }],
      structuredContent: { a: 1 },
    }),
  }),
  failedList: createTool({
    ...named,
    execute: async () => ({ isError: true, content: [], structuredContent: [1] }),
  }),
  weather: createTool({
    ...named,
    inputSchema: z.object({ kind: z.string() }),
    outputSchema: z.object({ celsius: z.number() }),
    mcp: { icons: [{ src: 'https://example.com/sun.png', mimeType: 'image/png' }] },
    // In the protocol's own form, as tools with pictures answer.
    execute: async ({ kind }): Promise<never> => {
      const content = [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }];
      const results: Record<string, object> = {
        whole: { content, structuredContent: { celsius: 21 } },
        wrong: { content, structuredContent: { celsius: 'warm' } },
        failed: { content: [{ type: 'text', text: 'no such city' }], isError: true },
        failedWithData: { content, isError: true, structuredContent: { celsius: 0 } },
        failedWithOther: { content, isError: true, structuredContent: { code: 7 }, _meta: { id: 1 } },
        bare: { content },
      };
      return results[kind] as never;
    },
  }),
  hooked: createTool({
    ...named,
    onInputAvailable: () => {
      throw new Error('hook');
    },
    execute: async () => 'unharmed',
  }),
  bySdk: {
    description: 'An object of the same shape',
    inputSchema: z.object({ n: z.number() }),
    execute: async ({ n }: { n: number }) => n * 2,
  },
  union: createTool({
    ...named,
    inputSchema: z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]),
    execute: async ({ kind }) => kind,
  }),
  date: createTool({ ...named, inputSchema: z.object({ day: z.date() }), execute: async () => 1 }),
  unrepresentable: {
    description: 'd',
    inputSchema: { '~standard': { version: 1, vendor: 'nobody', validate: (value: unknown) => ({ value }) } },
    execute: async () => 'still callable',
  },
  noExecute: { description: 'Runs at the client' },
  notAnObject: createTool({ ...named, inputSchema: z.string(), execute: async () => 1 }),
};

const server = new MCPServer({ name: 'Results', version: '1.0.0', tools: moreTools, logger });

const running = await server.listen();
const session = await openSession(running.url);
afterAll(() => running.close());

/** The result or the error of a call in a session. */
// oxlint-disable-next-line typescript/no-explicit-any -- what came over the wire
async function call(name: string, args: unknown = {}): Promise<any> {
  const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${JSON.stringify(name)},"arguments":${typeof args === 'string' ? args : JSON.stringify(args)}}}`;
  const { status, json } = await send(running.url, { headers: session, body: text });
  expect(status).toBe(200);
  return json.result ?? json.error;
}

describe('results', () => {
  test('wrong and missing arguments are a result that says what is wrong', async () => {
    for (const args of [{ message: 5 }, {}]) {
      const result = await call('echo', args);
      expect(result.isError).toBe(true);
      expect(result.content[0].text).toMatch(/validation failed/i);
      expect(result.content[0].text).toContain('message');
    }
  });

  test('secrets among refused arguments are not echoed', async () => {
    const result = await call('echo', { message: 5, apiKey: 'sk-secret' });
    expect(JSON.stringify(result)).not.toContain('sk-secret');
  });

  test.each(['circular', 'bigint', 'function'])('a %s is an error result that names the reason', async (kind) => {
    const result = await call('odd', { kind });
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toContain('cannot be sent as JSON');
  });

  test.each([
    ['undefined', []],
    ['date', [{ type: 'text', text: '"1970-01-01T00:00:00.000Z"' }]],
    ['map', [{ type: 'text', text: '{}' }]],
    ['nan', [{ type: 'text', text: 'null' }]],
  ])('%s has a defined form', async (kind, content) => {
    expect(await call('odd', { kind })).toEqual({ content });
  });

  test('output that breaks its schema is an error result without structured content', async () => {
    const result = await call('wrongOutput');
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toContain('sum');
    expect(result.structuredContent).toBeUndefined();
  });

  test('content is what the tool shows to models, where the output is structured content', async () => {
    expect(await call('shown')).toEqual({
      content: [{ type: 'text', text: 'It is 21 degrees.', annotations: { audience: ['assistant'] } }],
      structuredContent: { celsius: 21 },
    });
    expect(await call('shownAlone')).toEqual({ content: [{ type: 'text', text: '{"celsius":21}' }] });
  });

  test('20 MB arrive complete', async () => {
    expect((await call('huge')).content[0].text).toHaveLength(20 * 1024 * 1024);
  });

  test('keys of Object.prototype do no harm', async () => {
    await call('keys', '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test.each(['toString', '__proto__', 'constructor', 'nobody', ''])('%j is an unknown tool', async (name) => {
    expect(await call(name)).toEqual({ code: -32602, message: `Unknown tool: ${name}` });
  });

  test.each([
    ['throwsText', 'Error: just text'],
    ['throwsNull', 'Error: null'],
    ['throwsFrozen', 'Error: {"code":7}'],
  ])('%s is a result', async (name, text) => {
    expect(await call(name)).toEqual({ isError: true, content: [{ type: 'text', text }] });
  });

  test('a hook that throws does not disturb the call', async () => {
    expect((await call('hooked')).content[0].text).toBe('unharmed');
  });

  test('content passes through: images are not text', async () => {
    expect((await call('image')).content).toEqual([{ type: 'image', data: 'AAAA', mimeType: 'image/png' }]);
  });

  const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' };
  const text = { type: 'text', text: 'no such city' };
  // The official client validates structured content of errors as well, and throws if it violates the schema.
  test.each([
    ['failed', { isError: true, content: [text] }],
    ['failedWithData', { isError: true, content: [image], structuredContent: { celsius: 0 } }],
    ['failedWithOther', { isError: true, content: [image], _meta: { id: 1 } }],
    ['whole', { content: [image], structuredContent: { celsius: 21 } }],
  ])('a result of the protocol keeps what its output schema allows: %s', async (kind, expected) => {
    expect(await call('weather', { kind })).toEqual(expected);
  });

  test('an error result without an output schema keeps its structured content', async () => {
    expect(await call('failedContent')).toEqual({ isError: true, content: [text], structuredContent: { a: 1 } });
  });

  test('structured content that is not an object goes to clients that support it', async () => {
    expect(await call('failedList')).toEqual({ isError: true, content: [] });
    const { json } = await send(running.url, modern('tools/call', { name: 'failedList', arguments: {} }));
    expect(json.result).toMatchObject({ isError: true, content: [], structuredContent: [1] });
  });

  test('structured content that is missing or does not fit its schema is an error result', async () => {
    const wrong = await call('weather', { kind: 'wrong' });
    expect(wrong).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Error: Invalid structured content for tool weather:\n- celsius: /) }],
    });
    expect(wrong).not.toHaveProperty('structuredContent');
    expect((await call('weather', { kind: 'bare' })).isError).toBe(true);
  });

  test('falsy structured values are kept', async () => {
    expect((await call('falsy')).structuredContent).toEqual({ count: 0 });
  });

  test('declares and applies an output schema of another type than object only in the modern era', async () => {
    expect((await call('list')).structuredContent).toBeUndefined();
    const now = await send(running.url, modern('tools/call', { name: 'list', arguments: {} }));
    expect(now.json.result.structuredContent).toEqual([1, 2]);
  });

  test('passes the caller to the tool and to its request context', async () => {
    const result = JSON.parse((await call('whoami')).content[0].text) as object;
    expect(result).toEqual({ sessionId: session['mcp-session-id'], requestId: 1, sameInContext: true });
  });
});

describe('the list', () => {
  test('leaves out what cannot be served, with a warning, and keeps the rest', async () => {
    const { json } = await send(running.url, { headers: session, body: rpc('tools/list') });
    const names = json.result.tools.map((tool: { name: string }) => tool.name) as string[];
    expect(names).not.toContain('noExecute');
    expect(names).not.toContain('notAnObject');
    expect(names).toEqual(Object.keys(moreTools).filter((name) => name !== 'noExecute' && name !== 'notAnObject'));
    expect(warnings.some((text) => text.includes("'noExecute'"))).toBe(true);
    expect(warnings.some((text) => text.includes("'notAnObject'"))).toBe(true);
    expect(warnings.some((text) => text.includes("'unrepresentable'"))).toBe(true);
    for (const { inputSchema } of json.result.tools as { inputSchema: { type: string } }[])
      expect(inputSchema.type).toBe('object');
  });

  test('tools without a describable schema can be called', async () => {
    expect((await call('unrepresentable')).content[0].text).toBe('still callable');
    expect((await call('union', { kind: 'b' })).content[0].text).toBe('b');
    expect((await call('bySdk', { n: 4 })).content[0].text).toBe('8');
  });

  test('carries title, annotations and metadata, under the key and not the id', async () => {
    const { json } = await send(running.url, { headers: session, body: rpc('tools/list') });
    expect(json.result.tools.find((tool: { name: string }) => tool.name === 'add')).toMatchObject({
      title: 'Addition',
      annotations: { readOnlyHint: true },
      _meta: { source: 'test' },
      outputSchema: { type: 'object' },
    });
  });
});

describe('the object in your program', () => {
  test('describes the server and its tools', () => {
    const described = new MCPServer({
      id: 'weather',
      name: 'Weather',
      version: '2.0.0',
      description: 'Knows the weather',
      releaseDate: '2026-01-01',
      packageCanonical: 'npm',
      tools: exampleTools,
    });
    expect(described.getServerInfo()).toEqual({
      id: 'weather',
      name: 'Weather',
      description: 'Knows the weather',
      version_detail: { version: '2.0.0', release_date: '2026-01-01', is_latest: true },
    });
    expect(described.getServerDetail().package_canonical).toBe('npm');
    expect(described.getToolListInfo().tools).toHaveLength(Object.keys(exampleTools).length);
    expect(described.getToolInfo('echo')).toMatchObject({ id: 'echo-tool', name: 'echo', toolType: 'tool' });
    expect(described.getToolInfo('toString')).toBeUndefined();
    expect(described.tools()['echo']).toBe(exampleTools.echo);
  });

  test('runs tools without a client', async () => {
    expect(await server.executeTool('add', { a: 1, b: 2 })).toEqual({ sum: 3 });
    expect(await server.executeTool('add', { a: 'x' })).toMatchObject({ error: true });
    await expect(server.executeTool('nobody', {})).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
    await expect(server.executeTool('fail', {})).rejects.toThrow('the disk is full');
  });

  test('a port in use is named', async () => {
    await expect(server.listen({ port: running.port })).rejects.toThrow(errorOf('PORT_IN_USE', String(running.port)));
  });
});
