import { createTool } from '@quiver/core/tools';
import { describe, expect, test } from 'vitest';
import { afterTest } from '../../../test/after-test.ts';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { createFullServer } from '../../../test/servers/full-server.ts';
import { modern, openSession, rpc, send } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';
import type { MCPServerConfig } from '../features.js';

async function serve(config: Partial<MCPServerConfig> = {}): Promise<string> {
  const server = createFullServer(config);
  afterTest(() => server.close({ grace: 100 }));
  return (await server.listen()).url;
}

const plain = (name: string): ReturnType<typeof createTool> =>
  createTool({ id: name, description: name, execute: async () => name });

describe('maskErrors', () => {
  const secret = 'password=hunter2';
  const failing = {
    fail: toolOf('fail', async () => Promise.reject(new Error(secret))),
    refuse: toolOf('refuse', async () => ({ content: [{ type: 'text', text: 'no such city' }], isError: true })),
  };

  test('hides the message of an exception behind a reference that the log explains', async () => {
    const logged: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void logged.push(message) };
    const url = await serve({
      maskErrors: true,
      logger,
      tools: failing,
      resources: {
        listResources: async () => [{ uri: 'a://b', name: 'b' }],
        getResourceContent: async () => Promise.reject(new Error(secret)),
      },
    });
    const { result } = (await send(url, modern('tools/call', { name: 'fail' }))).json;
    const [, reference] = /under the reference (\w{8})\.$/.exec(result.content[0].text) ?? [];
    expect(result.isError).toBe(true);
    expect(result.content[0].text).not.toContain(secret);
    expect(logged).toEqual([`Tool fail failed (reference ${reference}): ${secret}`]);
    const read = await send(url, modern('resources/read', { uri: 'a://b' }));
    expect(read.json.error.code).toBe(-32603);
    expect(read.text).not.toContain(secret);
  });

  test('shows what a tool says on purpose, and refused arguments', async () => {
    const url = await serve({ maskErrors: true, tools: failing });
    const { result } = (await send(url, modern('tools/call', { name: 'refuse' }))).json;
    expect(result).toMatchObject({ isError: true, content: [{ text: 'no such city' }] });
  });
});

describe('pageSize', () => {
  test.each(['tools/list', 'resources/list', 'prompts/list'])(
    '%s comes in pages whose cursors lead through all of it',
    async (method) => {
      const url = await serve({ pageSize: 2 });
      const member = method.split('/')[0] as string;
      const complete = (await send(await serve(), modern(method))).json.result[member];
      const items: unknown[] = [];
      let cursor: string | undefined;
      do {
        const { result } = (await send(url, modern(method, cursor === undefined ? {} : { cursor }))).json;
        expect(result[member].length).toBeLessThanOrEqual(2);
        items.push(...result[member]);
        cursor = result.nextCursor;
      } while (cursor !== undefined);
      expect(items).toEqual(complete);
    },
  );

  test('sessions page alike, and an invented cursor is refused with -32602', async () => {
    const url = await serve({ pageSize: 2 });
    const headers = await openSession(url);
    const first = await send(url, { headers, body: rpc('tools/list') });
    const next = await send(url, { headers, body: rpc('tools/list', { cursor: first.json.result.nextCursor }) });
    expect(next.json.result.tools[0].name).toBe('visit');
    const invented = await send(url, { headers, body: rpc('tools/list', { cursor: 'mine' }) });
    expect(invented.json.error.code).toBe(-32602);
  });
});

test('allows caching of lists for 5 s without a cache hint, and never for other callers', async () => {
  const url = await serve({ cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } } });
  const hintOf = async (method: string, params?: Record<string, unknown>): Promise<unknown> => {
    const { ttlMs, cacheScope } = (await send(url, modern(method, params))).json.result;
    return { ttlMs, cacheScope };
  };
  const none = { ttlMs: 0, cacheScope: 'private' };
  expect(await hintOf('tools/list')).toEqual({ ttlMs: 60_000, cacheScope: 'public' });
  expect(await hintOf('server/discover')).toEqual(none);
  for (const method of ['resources/list', 'resources/templates/list', 'prompts/list'])
    expect(await hintOf(method)).toEqual({ ttlMs: 5000, cacheScope: 'private' });
  expect(await hintOf('resources/read', { uri: 'note://watched' })).toEqual(none);
});

test.each([
  [{ cacheHints: { 'tools/list': { ttlMs: -1 } } }, "'cacheHints.tools/list.ttlMs' must be an integer of at least 0"],
  [
    { cacheHints: { 'tools/call': { ttlMs: 1 } } as never },
    "no option 'cacheHints.tools/call'. The options of 'cacheHints' are: tools/list, ",
  ],
  [
    { cacheHints: { 'tools/list': { ttlMs: 1, cacheScope: 'shared' as never } } },
    "must be one of 'public', 'private', not 'shared'.",
  ],
  [{ pageSize: 0 }, 'pageSize'],
  [{ name: '' }, 'needs a name and a version'],
  [{ fga: {} } as never, "has no option 'fga'"],
  [{ requestState: { ttl: 1 } as never }, "Did you mean 'requestState.ttlSeconds'?"],
  [{ requestState: { ttlSeconds: Number.NaN } }, "'requestState.ttlSeconds' must be a finite number above 0, not NaN."],
  [{ requestState: { key: 5 as never } }, "'requestState.key' must be a string or bytes."],
  [{ resources: { listResources: [] } as never }, "'resources.listResources' must be a function"],
  [{ prompts: { listPrompts: {} } as never }, "'prompts.listPrompts' must be a function"],
  [{ tasks: { maxPerCaler: 1 } as never }, "Did you mean 'tasks.maxPerCaller'?"],
  [{ prompts: { listPrompt: () => [] } as never }, "Did you mean 'prompts.listPrompts'?"],
  [{ tools: [] as never }, "'tools' must be an object with one entry per name"],
  [{ tools: Promise.resolve({ a: plain('a') }) as never }, 'such as { weather }. Await the promise.'],
  [{ tools: new Map([['a', plain('a')]]) as never }, "'tools' must be an object with one entry per name"],
  [{ agents: [] as never }, "'agents' must be an object with one entry per name"],
  [{ workflows: 'all' as never }, "'workflows' must be an object with one entry per name"],
])('the configuration %j is refused', (config, reason) => {
  expect(() => new MCPServer({ name: 'n', version: '1', tools: {}, ...config })).toThrow(
    expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining(reason) }) as Error,
  );
});

describe('what clients see', () => {
  test('is the same list in every response, with any characters', async () => {
    const server = createFullServer({ tools: { grüße: { ...plain('grüße ✓'), title: 'Grüße' } } });
    afterTest(() => server.close({ grace: 100 }));
    const { url } = await server.listen();
    const headers = await openSession(url);
    for (const request of [modern('tools/list'), { headers, body: rpc('tools/list') }]) {
      const first = await send(url, request);
      expect(first.json.result.tools).toMatchObject([{ name: 'grüße', title: 'Grüße', description: 'grüße ✓' }]);
      const next = await send(url, { ...request, body: { ...(request.body as object), id: 'next ✓' } });
      expect(next.json).toEqual({ ...first.json, id: 'next ✓' });
    }
    const { headers: modernHeaders, body } = modern('tools/list');
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...modernHeaders },
      body: JSON.stringify(body),
    };
    const response = await server.fetch(new Request(url, init as RequestInit));
    expect(await response.json()).toEqual((await send(url, modern('tools/list'))).json);
  });

  test('title, icons, website and description of the server; icons, title and _meta of a tool', async () => {
    const icons = [{ src: 'https://example.com/icon.svg', mimeType: 'image/svg+xml', sizes: ['any'] }];
    const tool = { ...plain('drawn'), title: 'Drawn', mcp: { icons, _meta: { a: 1 } } };
    const url = await serve({
      title: 'The full server',
      description: 'Has everything',
      icons,
      websiteUrl: 'https://example.com',
      tools: { drawn: tool },
    });
    const about = { title: 'The full server', description: 'Has everything', icons, websiteUrl: 'https://example.com' };
    const { result } = (await send(url, modern('server/discover'))).json;
    expect(result._meta['io.modelcontextprotocol/serverInfo']).toMatchObject(about);
    expect((await send(url, modern('tools/list'))).json.result.tools).toMatchObject([
      { name: 'drawn', title: 'Drawn', icons, _meta: { a: 1 } },
    ]);
  });

  test('methods of what a server does not have are unknown', async () => {
    const url = await serve({ resources: undefined as never, prompts: undefined as never });
    for (const method of ['resources/list', 'resources/read', 'prompts/list', 'prompts/get', 'completion/complete']) {
      const answer = await send(url, modern(method));
      expect([answer.status, answer.json.error.code]).toEqual([404, -32601]);
    }
  });

  test.each(['resources/subscribe', 'resources/unsubscribe', 'ping', 'logging/setLevel', 'initialize'])(
    'the stateless revision does not know %s',
    async (method) => {
      const answer = await send(await serve(), modern(method, { uri: 'note://watched' }));
      expect([answer.status, answer.json.error.code]).toEqual([404, -32601]);
    },
  );

  test('lists of one caller are never shown to another', async () => {
    const url = await serve({
      resources: {
        listResources: async ({ extra }) => [{ uri: `user://${String(extra.sessionId)}`, name: 'mine' }],
        getResourceContent: async ({ uri, extra }) => ({ text: `${uri} for ${String(extra.sessionId)}` }),
      },
    });
    const [one, two] = await Promise.all([openSession(url), openSession(url)]);
    const mine = `user://${one['mcp-session-id']}`;
    const read = (headers: Record<string, string>): Promise<{ json: { error?: { code: number } } }> =>
      send(url, { headers, body: rpc('resources/read', { uri: mine }) });
    expect((await send(url, { headers: one, body: rpc('resources/list') })).json.result.resources[0].uri).toBe(mine);
    expect((await read(one)).json.error).toBeUndefined();
    expect((await read(two)).json.error?.code).toBe(-32602);
  });
});

test('shows name, version, description and release date', () => {
  const config = { name: 'n', version: '1.2.3', description: 'd', releaseDate: '2026-01-01T00:00:00Z', tools: {} };
  const { name, version, description, releaseDate } = new MCPServer(config);
  expect({ name, version, description, releaseDate, tools: {} }).toEqual(config);
});

test('serves names that clients refuse, with a warning that names the rule', async () => {
  const warnings: string[] = [];
  const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) };
  const names = ['a b', 'x'.repeat(129), 'größe', 'fine.name-1_x'];
  const server = new MCPServer({
    name: 'n',
    version: '1',
    logger,
    tools: Object.fromEntries(names.map((name) => [name, plain(name)])),
  });
  expect(server.getToolListInfo().tools.map(({ name }) => name)).toEqual(names);
  expect(warnings).toHaveLength(3);
  expect(warnings[0]).toContain('use 1 to 128 of A-Z a-z 0-9 _ . -');
});
