import { createTool, type Tool } from '@quiver/core/tools';
import { MCPServer, type MCPServerConfig } from '@quiver/mcp/server';
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { errorOf } from '../../../test/error-of.ts';
import { afterTest } from '../../../test/after-test.ts';
import { mountServer } from '../../../test/servers/mount-server.ts';
import { eventually } from '../../../test/eventually.ts';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { postProtected } from '../../../test/oauth/protected-fetch.ts';
import { readEvents, type EventReader } from '../../../test/clients/event-reader.ts';
import { initializeParams, modern, openSession, rpc, send, toRequest } from '../../../test/clients/wire.ts';

const silent = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };

const scopedTool = (id: string, scopes?: string[]): Tool =>
  toolOf(id, { ...(scopes && { mcp: { scopes } }) }, async () => `${id} ran`);

const scopedItems = {
  resources: {
    listResources: async () => [
      { uri: 'note://open', name: 'open' },
      { uri: 'note://secret', name: 'secret', mcp: { scopes: ['admin'] } },
    ],
    resourceTemplates: async () => [
      { uriTemplate: 'open://{id}', name: 'open' },
      { uriTemplate: 'secret://{id}', name: 'secret', mcp: { scopes: ['admin'] } },
      { uriTemplate: 'note://{id}', name: 'any note' },
    ],
    getResourceContent: async ({ uri }) => ({ text: uri }),
    completeVariable: async ({ uriTemplate }) => [uriTemplate],
  },
  prompts: {
    listPrompts: async () => [{ name: 'open' }, { name: 'secret', mcp: { scopes: ['admin'] } }],
    getPromptMessages: async ({ name }) => [{ role: 'user', content: { type: 'text', text: name } }],
    completeArgument: async ({ name }) => [name],
  },
} satisfies Partial<MCPServerConfig>;

function createCatalogServer(config: Partial<MCPServerConfig> = {}): MCPServer {
  return new MCPServer({
    name: 'Catalog',
    version: '1.0.0',
    logger: silent,
    tools: { open: scopedTool('open'), secret: scopedTool('secret', ['admin']) },
    ...scopedItems,
    ...config,
  });
}

/** Serves over HTTP. The token is a list of scopes, and the subject. */
async function serve(server: MCPServer): Promise<string> {
  const url = await mountServer(server, {}, (req) => {
    const scopes = req.headers.authorization?.replace('Bearer ', '').split(',');
    if (scopes) Object.assign(req, { auth: { scopes, extra: { subject: scopes.join(',') } } });
  });
  afterTest(() => server.close({ grace: 100 }));
  return url;
}

const as = (scopes: string): { authorization: string } => ({ authorization: `Bearer ${scopes}` });

/** Sends one request in both eras, and returns the whole bodies: they must not differ in anything but names. */
async function request(url: string, scopes: string, method: string, params: Record<string, unknown>) {
  const session = await openSession(url, as(scopes));
  const answers = [
    await send(url, { headers: { ...as(scopes), ...session }, body: rpc(method, params) }),
    await send(url, modern(method, params, 1, as(scopes))),
  ];
  return answers.map(({ status, json }) => ({ status, json }));
}

describe('a hidden item has the response of an unknown one', () => {
  const unknown = (text: string): string => text.replaceAll('secret', 'absent');
  test.each([
    ['tools/call', { name: 'secret' }],
    ['tools/call', { name: 'secret', arguments: 3 }],
    ['resources/read', { uri: 'note://secret' }],
    ['resources/read', { uri: 'secret://1' }],
    ['prompts/get', { name: 'secret' }],
    ['prompts/get', { name: 'secret', arguments: {}, _meta: { 'quiver/version': 'v2' } }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'secret' }, argument: { name: 'a', value: '' } }],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'secret://{id}' }, argument: { name: 'id', value: '' } },
    ],
    ['resources/subscribe', { uri: 'note://secret' }],
  ])('%s %j', async (method, params) => {
    const isListed = JSON.stringify(params).includes('note://secret');
    // Where a visible template matches every note, the unknown one must match no template.
    const absent = JSON.parse(
      unknown(JSON.stringify(params)).replace('note://absent', 'absent://note'),
    ) as typeof params;
    const url = await serve(createCatalogServer());
    const hidden = await request(url, 'user', method, params);
    const missing = await request(url, 'user', method, absent);
    const rename = (value: unknown): string =>
      JSON.stringify(value).replaceAll(isListed ? 'note://secret' : 'secret', isListed ? 'absent://note' : 'absent');
    expect(rename(hidden)).toBe(JSON.stringify(missing));
    const seen = await request(url, 'admin', method, params);
    if (!('arguments' in params)) expect(seen.map(({ json }) => json.error?.code)).not.toContain(-32602);
  });

  test('with toolScopes and Mcp-Param headers, in single calls and in batches', async () => {
    const secret = createTool({
      id: 'secret',
      description: 'Secret',
      inputSchema: {
        type: 'object',
        properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
      },
      mcp: { scopes: ['admin'] },
      execute: async () => 'ran',
    });
    const server = createCatalogServer({ tools: { secret } });
    afterTest(() => server.close());
    const postAs = postProtected(server, { secret: ['write'], absent: ['write'] });
    const post = async (scopes: string, body: unknown, headers: object = {}): Promise<string> => {
      const response = await postAs(scopes, body, headers, true);
      return `${response.status} ${await response.text()}`;
    };
    const bodies = ['secret', 'absent'].map((name) => {
      const params = { name, arguments: { region: 'eu' } };
      const version = { 'mcp-protocol-version': '2025-03-26' };
      return [rpc('tools/call', params), modern('tools/call', params), [[rpc('tools/call', params)], version]] as const;
    });
    const [hidden, missing] = await Promise.all(
      bodies.map(async ([legacy, { body, headers }, [batch, version]]) => [
        await post('user', legacy),
        await post('user', body, headers),
        await post('user', batch, version),
      ]),
    );
    expect(hidden?.map((text) => text.replaceAll('secret', 'absent'))).toEqual(missing);
    expect(hidden?.every((text) => text.startsWith('200 '))).toBe(true);
    // The caller who sees the tool learns what it lacks: a scope, or a header.
    expect(await post('admin', bodies[0]?.[0])).toMatch(/^403 .*insufficient_scope/);
    const { body, headers } = modern('tools/call', { name: 'secret', arguments: { region: 'eu' } });
    expect(await post('admin.write', body, headers)).toMatch(/^400 .*-32020/);
  });

  test('also where it would become a task, or needs one', async () => {
    const asTask = (name: string, mode: 'optional' | 'required') =>
      createTool({ id: name, description: name, mcp: { scopes: ['admin'], task: mode }, execute: async () => 'ran' });
    const url = await serve(
      createCatalogServer({
        tools: { optional: asTask('optional', 'optional'), required: asTask('required', 'required') },
      }),
    );
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    for (const name of ['optional', 'required']) {
      for (const clientCapabilities of [{}, capabilities]) {
        const _meta = { 'io.modelcontextprotocol/clientCapabilities': clientCapabilities };
        const [, hidden] = await request(url, 'user', 'tools/call', { name, _meta });
        expect(hidden?.json.error).toEqual({ code: -32602, message: `Unknown tool: ${name}` });
      }
    }
    for (const scopes of ['user', 'admin']) {
      const [, discovered] = await request(url, scopes, 'server/discover', {});
      expect(discovered?.json.result.capabilities.extensions).toEqual(
        scopes === 'admin' ? capabilities.extensions : undefined,
      );
    }
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
    const [, seen] = await request(url, 'admin', 'tools/call', { name: 'required', _meta });
    expect(seen?.json.error).toBeUndefined();
  });

  test('a resource also under another spelling, which a visible template matches', async () => {
    const uris = ['file:///open', 'file:///secret/a', 'file:///rows?year=1&month=2'];
    const server = createCatalogServer({
      resources: {
        listResources: async () =>
          uris.map((uri) => ({ uri, name: uri, ...(uri !== 'file:///open' && { mcp: { scopes: ['admin'] } }) })),
        resourceTemplates: async () => [
          { uriTemplate: 'file:///{+path}', name: 'file' },
          { uriTemplate: 'file:///rows{?year,month}', name: 'rows' },
        ],
        getResourceContent: async ({ variables }) => ({ text: JSON.stringify(variables) }),
      },
    });
    const url = await serve(server);
    for (const uri of ['file:///secret/%61', 'file:///secret%2Fa', 'file:///rows?month=2&year=1']) {
      for (const { json } of await request(url, 'user', 'resources/read', { uri }))
        expect(json.error).toMatchObject({ code: -32602, message: `Resource not found: ${uri}` });
      for (const { json } of await request(url, 'admin', 'resources/read', { uri })) expect(json.error).toBeUndefined();
    }
    const [open] = await request(url, 'user', 'resources/read', { uri: 'file:///%6Fpen' });
    expect(open?.json.result.contents[0].text).toBe('{"path":"open"}');
  });

  test('a prompt that was added to a list without scopes', async () => {
    const prompts: { name: string; mcp?: { scopes: string[] } }[] = [{ name: 'open' }];
    const server = createCatalogServer({ prompts: { ...scopedItems.prompts, listPrompts: async () => prompts } });
    const url = await serve(server);
    await request(url, 'user', 'prompts/list', {});
    prompts.push({ name: 'secret', mcp: { scopes: ['admin'] } });
    await server.prompts.notifyListChanged();
    const ref = { type: 'ref/prompt', name: 'secret' };
    for (const { json } of await request(url, 'user', 'completion/complete', {
      ref,
      argument: { name: 'a', value: '' },
    }))
      expect(json.error).toEqual({ code: -32602, message: 'Prompt not found: secret' });
  });

  test('a completion, where the callbacks list other items per caller', async () => {
    const server = createCatalogServer({
      resources: {
        listResources: async () => [],
        resourceTemplates: async ({ extra }) =>
          extra.authInfo?.scopes?.includes('admin') ? [{ uriTemplate: 'secret://{id}', name: 'secret' }] : [],
        getResourceContent: async ({ uri }) => ({ text: uri }),
        completeVariable: async ({ uriTemplate }) => [uriTemplate],
      },
      prompts: {
        listPrompts: async ({ extra }) => (extra.authInfo?.scopes?.includes('admin') ? [{ name: 'secret' }] : []),
        getPromptMessages: async () => [],
        completeArgument: async ({ name }) => [name],
      },
    });
    const url = await serve(server);
    const argument = { name: 'id', value: '' };
    for (const [ref, message] of [
      [{ type: 'ref/prompt', name: 'secret' }, 'Prompt not found: secret'],
      [{ type: 'ref/resource', uri: 'secret://{id}' }, 'Resource template not found: secret://{id}'],
    ] as const) {
      for (const { json } of await request(url, 'user', 'completion/complete', { ref, argument }))
        expect(json.error).toMatchObject({ code: -32602, message });
      for (const { json } of await request(url, 'admin', 'completion/complete', { ref, argument }))
        expect(json.result.completion.values).toHaveLength(1);
    }
  });

  test('in the middle of a list, when its name is the cursor', async () => {
    const url = await serve(createCatalogServer({ pageSize: 1 }));
    const cursorOf = (name: string): string => encodeURIComponent(`2:${name}`);
    const [hidden] = await request(url, 'user', 'tools/list', { cursor: cursorOf('secret') });
    const [missing] = await request(url, 'user', 'tools/list', { cursor: cursorOf('absent') });
    expect(hidden).toEqual(missing);
  });
});

test('the messages of a prompt are those of the version that the caller can see', async () => {
  const listPrompts = async () => [
    { name: 'plan', version: '2', mcp: { scopes: ['admin'] } },
    { name: 'plan', version: '1' },
  ];
  const getPromptMessages: (typeof scopedItems.prompts)['getPromptMessages'] = async ({
    version = '2',
  }: {
    version?: string;
  }) => [{ role: 'user', content: { type: 'text', text: `version ${version}` } }];
  const url = await serve(createCatalogServer({ prompts: { listPrompts, getPromptMessages } }));
  for (const [scopes, text] of [
    ['user', 'version 1'],
    ['admin', 'version 2'],
  ] as const)
    for (const { json } of await request(url, scopes, 'prompts/get', { name: 'plan' }))
      expect(json.result.messages[0].content.text).toBe(text);
});

describe('lists', () => {
  test.each(['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'])(
    '%s shows what the scopes allow, and no scopes',
    async (method) => {
      const url = await serve(createCatalogServer({ cacheHints: { [method]: { ttlMs: 10, cacheScope: 'public' } } }));
      for (const [scopes, isAdmin] of [
        ['user', false],
        ['admin', true],
      ] as const) {
        const answers = await request(url, scopes, method, {});
        for (const { json } of answers) {
          expect(JSON.stringify(json).includes('secret')).toBe(isAdmin);
          expect(JSON.stringify(json)).not.toContain('scopes');
        }
        expect(answers[1]?.json.result.cacheScope).toBe('private');
      }
    },
  );

  test('show no item with scopes to callers without authentication', async () => {
    const url = await serve(createCatalogServer());
    const { json } = await send(url, modern('tools/list'));
    expect(json.result.tools.map(({ name }: { name: string }) => name)).toEqual(['open']);
  });

  test('are cached per set of visible tools, and made again when tools change', async () => {
    const server = createCatalogServer();
    const url = await serve(server);
    const names = async (scopes: string): Promise<string[]> => {
      const { json } = await send(url, modern('tools/list', {}, 1, as(scopes)));
      return json.result.tools.map(({ name }: { name: string }) => name);
    };
    expect([await names('user'), await names('admin'), await names('user')]).toEqual([
      ['open'],
      ['open', 'secret'],
      ['open'],
    ]);
    await server.toolActions.add({ more: scopedTool('more', ['admin']), other: scopedTool('other') });
    expect([await names('user'), await names('admin')]).toEqual([
      ['open', 'other'],
      ['open', 'secret', 'more', 'other'],
    ]);
    await server.toolActions.remove(['other']);
    expect(await names('user')).toEqual(['open']);
    expect(server.getToolListInfo().tools.map(({ name }) => name)).toEqual(['open', 'secret', 'more']);
  });
});

function fail(): never {
  throw new Error('no database');
}

const failing: [title: string, visible: () => unknown][] = [
  ['throws', fail],
  ['returns a promise', async () => true],
  ['rejects', async () => fail()],
  ['returns another value', () => 1],
];

describe('visible', () => {
  test('receives the item and the caller', async () => {
    const visible = vi.fn<NonNullable<MCPServerConfig['visible']>>(() => true);
    const server = createCatalogServer({ visible, tools: { open: scopedTool('open', ['user']) } });
    const url = await serve(server);
    await request(url, 'user', 'tools/list', {});
    const [item, caller] = visible.mock.lastCall ?? [];
    expect(item).toMatchObject({ type: 'tool', toolType: 'tool', name: 'open', mcp: { scopes: ['user'] } });
    expect(caller).toMatchObject({ scopes: ['user'], authInfo: { extra: { subject: 'user' } } });
    expect(caller?.principal).toContain('user');
    expect(caller?.requestContext.get('mcp.extra')).toMatchObject({ authInfo: { scopes: ['user'] } });
    await send(url, modern('tools/list'));
    // Scopes are required in addition.
    expect(visible.mock.calls.every(([, { scopes }]) => scopes.includes('user'))).toBe(true);
  });

  test.each(failing)('hides an item and logs the reason when the function %s', async (_title, visible) => {
    silent.error.mockClear();
    const url = await serve(createCatalogServer({ visible: visible as never }));
    const [legacy] = await request(url, 'admin', 'tools/list', {});
    expect(legacy?.json.result.tools).toEqual([]);
    expect(silent.error.mock.calls[0]?.[0]).toContain("The tool 'open' of MCPServer is hidden");
    const [call] = await request(url, 'admin', 'tools/call', { name: 'open' });
    expect(call?.json.error).toEqual({ code: -32602, message: 'Unknown tool: open' });
  });

  test('must be a function', () => {
    expect(() => createCatalogServer({ visible: true as never })).toThrow(errorOf('OPTIONS_INVALID'));
  });
});

test.each([
  ['input_schema', 'inputSchema'],
  ['requireapproval', 'requireApproval'],
])("a tool object with '%s' is not served, because it would run without it", (given, option) => {
  const silent = { debug() {}, info() {}, warn: vi.fn(), error() {} };
  const odd = { description: 'd', [given]: { type: 'object', required: ['n'] }, execute: async () => 'ran' };
  const server = new MCPServer({ name: 'S', version: '1.0.0', tools: { odd }, logger: silent });
  expect(Object.keys(server.tools())).toEqual([]);
  expect(silent.warn.mock.calls[0]?.[0]).toBe(
    `Tool 'odd' is not served: it has no option '${given}'. Did you mean '${option}'?`,
  );
});

test('a tool with scopes that are not a list is not served', () => {
  silent.warn.mockClear();
  const server = createCatalogServer({ tools: { odd: scopedTool('odd', 'admin' as never) } });
  expect(server.getToolListInfo().tools).toEqual([]);
  expect(silent.warn.mock.calls[0]?.[0]).toContain("Tool 'odd' is not served: mcp.scopes must be an array");
});

test('a resource with scopes that are not a list is hidden', async () => {
  const listResources = async () => [{ uri: 'note://odd', name: 'odd', mcp: { scopes: 'admin' as never } }];
  const url = await serve(createCatalogServer({ resources: { ...scopedItems.resources, listResources } }));
  const [legacy] = await request(url, 'admin', 'resources/list', {});
  expect(legacy?.json.result.resources).toEqual([]);
});

describe('notifications', () => {
  const messages = ({ events }: EventReader): string[] =>
    events
      .filter(({ data }) => data !== '')
      .map(({ data }) => {
        const { method, params } = JSON.parse(data) as { method: string; params?: { uri?: string } };
        return `${method.replace('notifications/', '')} ${params?.uri ?? ''}`.trim();
      })
      .filter((line) => !line.startsWith('subscriptions/'));

  /** Opens a stream per caller in each era. */
  async function listen(url: string, scopes: string, uri?: string): Promise<EventReader[]> {
    const session = { ...as(scopes), ...(await openSession(url, as(scopes))) };
    if (uri !== undefined) await send(url, { headers: session, body: rpc('resources/subscribe', { uri }) });
    const filter = { toolsListChanged: true, ...(uri !== undefined && { resourceSubscriptions: [uri] }) };
    const request = modern('subscriptions/listen', { notifications: filter }, 1, as(scopes));
    const readers = await Promise.all([
      readEvents(url, { headers: { ...session, accept: 'text/event-stream' } }),
      readEvents(url, { method: 'POST', ...request }),
    ]);
    for (const reader of readers) afterTest(() => reader.destroy());
    await eventually(() => expect(readers[1]?.events.length).toBeGreaterThan(0));
    return readers;
  }

  test('of changed tools reach only callers who can see one of them', async () => {
    const server = createCatalogServer({ tools: { open: scopedTool('open') } });
    const url = await serve(server);
    const [users, admins] = [await listen(url, 'user'), await listen(url, 'admin')];
    const heard = (): number[] => [...users, ...admins].map((reader) => messages(reader).length);
    await server.toolActions.add({ hidden: scopedTool('hidden', ['admin']) });
    await eventually(() => expect(heard()).toEqual([0, 0, 1, 1]));
    await server.toolActions.remove(['hidden']);
    await eventually(() => expect(heard()).toEqual([0, 0, 2, 2]));
    // A tool that leaves the sight of a caller changes its list.
    await server.toolActions.add({ open: scopedTool('open', ['admin']) });
    await eventually(() => expect(heard()).toEqual([1, 1, 3, 3]));
    await server.toolActions.notifyListChanged();
    await eventually(() => expect(heard()).toEqual([2, 2, 4, 4]));
  });

  test('of the update of a resource that was added to a list without scopes reach only callers who can read it', async () => {
    const uri = 'note://added';
    const resources: { uri: string; name: string; mcp?: { scopes: string[] } }[] = [];
    const { getResourceContent } = scopedItems.resources;
    const server = createCatalogServer({ resources: { listResources: async () => resources, getResourceContent } });
    const url = await serve(server);
    const [users, admins] = [await listen(url, 'user', uri), await listen(url, 'admin', uri)];
    resources.push({ uri, name: 'added', mcp: { scopes: ['admin'] } });
    await server.resources.notifyListChanged();
    await server.resources.notifyUpdated({ uri });
    const updates = (reader: EventReader): string[] => messages(reader).filter((line) => line.endsWith(uri));
    await eventually(() => {
      for (const reader of admins) expect(updates(reader)).toHaveLength(1);
    });
    await server.toolActions.notifyListChanged();
    await eventually(() => {
      for (const reader of users) expect(messages(reader)).toContain('tools/list_changed');
    });
    for (const reader of users) expect(updates(reader)).toEqual([]);
  });

  test.each(['note://secret', 'secret://1'])('of the update of %s reach only callers who can read it', async (uri) => {
    const server = createCatalogServer();
    const url = await serve(server);
    const [users, admins] = [await listen(url, 'user', uri), await listen(url, 'admin', uri)];
    await server.resources.notifyUpdated({ uri });
    await server.toolActions.notifyListChanged();
    await eventually(() => {
      for (const reader of users) expect(messages(reader)).toEqual(['tools/list_changed']);
      for (const reader of admins)
        expect(messages(reader).sort()).toEqual([`resources/updated ${uri}`, 'tools/list_changed']);
    });
  });
});

test('every page of a list, every completion and every call agree, for any set of visible names', async () => {
  const names = Array.from({ length: 20 }, (_, place) => `item-${place}`);
  let shown: ReadonlySet<string> = new Set();
  const server = createCatalogServer({
    pageSize: 3,
    visible: (item) => shown.has(item.name),
    tools: Object.fromEntries(names.map((name) => [name, scopedTool(name)])),
    resources: {
      ...scopedItems.resources,
      listResources: async () => names.map((name) => ({ uri: `note://${name}`, name })),
      resourceTemplates: async () => names.map((name) => ({ uriTemplate: `${name}://{id}`, name })),
    },
    prompts: { ...scopedItems.prompts, listPrompts: async () => names.map((name) => ({ name })) },
  });
  afterTest(() => server.close());
  const sessions = new Map<string, string>();
  let id = 0;
  const ask = async (era: string, method: string, params: Record<string, unknown>) => {
    id += 1;
    const headers = { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': sessions.get(era) };
    const request = era === 'modern' ? modern(method, params, id) : { headers, body: rpc(method, params, id) };
    const response = await server.fetch(toRequest(request));
    return JSON.parse(await response.text()) as { result: Record<string, never>; error?: { message: string } };
  };
  const opening = await server.fetch(toRequest({ body: rpc('initialize', initializeParams) }));
  sessions.set('legacy', opening.headers.get('mcp-session-id') ?? '');
  const readAll = async (era: string, method: string, member: string): Promise<string[]> => {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const { result } = await ask(era, method, cursor === undefined ? {} : { cursor });
      found.push(...(result[member] as unknown as { name: string }[]).map(({ name }) => name));
      cursor = result['nextCursor'];
    } while (cursor !== undefined);
    return found;
  };
  await fc.assert(
    fc.asyncProperty(
      fc.subarray(names),
      fc.constantFrom(...names),
      fc.constantFrom('legacy', 'modern'),
      async (subset, name, era) => {
        shown = new Set(subset);
        expect(await readAll(era, 'tools/list', 'tools')).toEqual(subset);
        expect(await readAll(era, 'resources/list', 'resources')).toEqual(subset);
        expect(await readAll(era, 'resources/templates/list', 'resourceTemplates')).toEqual(subset);
        expect(await readAll(era, 'prompts/list', 'prompts')).toEqual(subset);
        const argument = { name: 'a', value: '' };
        const answers = await Promise.all([
          ask(era, 'tools/call', { name }),
          ask(era, 'resources/read', { uri: `note://${name}` }),
          ask(era, 'resources/read', { uri: `${name}://1` }),
          ask(era, 'prompts/get', { name }),
          ask(era, 'completion/complete', { ref: { type: 'ref/prompt', name }, argument }),
          ask(era, 'completion/complete', { ref: { type: 'ref/resource', uri: `${name}://{id}` }, argument }),
        ]);
        expect(answers.map(({ error }) => error === undefined)).toEqual(answers.map(() => shown.has(name)));
      },
    ),
    { numRuns: 40 },
  );
});
