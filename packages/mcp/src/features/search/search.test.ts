import { observe } from '@quiver/core';
import { withToolSearch } from '@quiver/core/tool-search';
import { createTool, type Tool, type ToolMcpOptions } from '@quiver/core/tools';
import type { MastraMCPServerDefinition } from '@quiver/mcp/client';
import { MCPServer, rateLimit, type MCPServerConfig } from '@quiver/mcp/server';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { clientOf } from '../../../test/clients/client-of.ts';
import { errorOf } from '../../../test/error-of.ts';
import { Gate } from '../../../test/gate.ts';
import { postProtected } from '../../../test/oauth/protected-fetch.ts';
import { audit, type AuditEntry } from '../../../test/servers/audit.ts';
import { initializeParams, modern, rpc, toRequest } from '../../../test/clients/wire.ts';

const reads: ToolMcpOptions = { annotations: { readOnlyHint: true } };

const getForecast = createTool({
  id: 'get_forecast',
  description: 'Returns the weather forecast of a city',
  inputSchema: z.object({ city: z.string() }),
  outputSchema: z.object({ city: z.string(), degrees: z.number() }),
  title: 'Forecast',
  mcp: reads,
  execute: async ({ city }) => ({ city, degrees: 21 }),
});

const deleteFile = createTool({
  id: 'delete_file',
  description: 'Deletes a file after a question to the user',
  inputSchema: z.object({ path: z.string() }),
  execute: async ({ path }, { mcp }) => {
    await mcp?.progress({ progress: 1, message: 'asking' });
    const requestedSchema = { type: 'object', properties: { sure: { type: 'boolean' } } } as const;
    const answer = await mcp?.elicitation.sendRequest({ message: `Delete ${path}?`, requestedSchema });
    return `${path}: ${answer?.action}`;
  },
});

const help = createTool({ id: 'help', description: 'Explains the server', mcp: reads, execute: async () => 'Ask.' });
const secret = createTool({
  id: 'get_secret_forecast',
  description: 'Returns the secret weather forecast of a city',
  mcp: { ...reads, scopes: ['admin'] },
  execute: async () => 'sun',
});

const tools = { get_forecast: getForecast, delete_file: deleteFile, help, get_secret_forecast: secret };

function createServer(config: Partial<MCPServerConfig> = {}): MCPServer {
  return new MCPServer({ name: 'Many', version: '1.0.0', tools, search: { pinned: ['help'] }, ...config });
}

function connect(server: MCPServer, protocol: 'legacy' | 'modern', more: Partial<MastraMCPServerDefinition> = {}) {
  const client = clientOf({ many: { server, protocol, ...more } as MastraMCPServerDefinition });
  const call = (name: string, args: Record<string, unknown>, options: object = {}) =>
    client.callTool({ serverName: 'many', name, args, ...options });
  const search = async (query: string): Promise<{ name: string; call: string }[]> => {
    const { content } = await call('search_tools', { query });
    return (JSON.parse((content[0] as { text: string }).text) as { tools: { name: string; call: string }[] }).tools;
  };
  return { client, call, search };
}

const textOf = ({ content }: { content: unknown[] }): string => (content[0] as { text: string }).text;

describe.each(['legacy', 'modern'] as const)('the search of a server (%s)', (protocol) => {
  test('is listed with titles and annotations in place of the tools that are not pinned', async () => {
    const { client } = connect(createServer(), protocol);
    const { many = [] } = await client.listToolDefinitions();
    expect(many.map(({ name }) => name)).toEqual(['help', 'search_tools', 'call_read_tool', 'call_write_tool']);
    const hints = many.slice(1).map(({ title, annotations }) => [typeof title, annotations?.readOnlyHint]);
    expect(hints).toEqual([
      ['string', true],
      ['string', true],
      ['string', false],
    ]);
  });

  test('finds tools with their schemas and the tool that calls them', async () => {
    const { search } = connect(createServer(), protocol);
    const [best] = await search('what is the weather in Oslo');
    expect(best).toMatchObject({
      name: 'get_forecast',
      call: 'call_read_tool',
      inputSchema: { required: ['city'] },
    });
    expect(await search('erase a file')).toMatchObject([{ name: 'delete_file', call: 'call_write_tool' }]);
  });

  test('warns of pinned names without a tool, once per list of tools', async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) };
    const { search } = connect(createServer({ logger, search: { pinned: ['help', 'halp'] } }), protocol);
    await search('what is the weather in Oslo');
    await search('erase a file');
    expect(warnings.filter((warning) => warning.includes('search.pinned'))).toEqual([
      expect.stringContaining("'halp'"),
    ]);
  });

  test('returns the result of the tool that was found, with its structured content', async () => {
    const { call } = connect(createServer(), protocol);
    const direct = await call('get_forecast', { city: 'Oslo' });
    const found = await call('call_read_tool', { name: 'get_forecast', arguments: { city: 'Oslo' } });
    expect(found).toEqual(direct);
    expect(found.structuredContent).toEqual({ city: 'Oslo', degrees: 21 });
  });

  test.each([
    ['JSON text', '{"city":"Oslo"}', '"degrees":21'],
    ['null', null, 'city'],
    ['text that is not JSON', '{city}', 'arguments'],
  ])('reads arguments that are %s as the search of a client does', async (_, args, expected) => {
    const input = { name: 'get_forecast', arguments: args };
    const found = await connect(createServer(), protocol).call('call_read_tool', input);
    expect(JSON.stringify(found)).not.toContain('Cannot read the call');
    expect(JSON.stringify(found).replaceAll('\\', '')).toContain(expected);
    const { call_read_tool: read } = withToolSearch({ get_forecast: getForecast }) as Record<string, Tool>;
    const output = await read?.execute(input).catch((error: Error) => error.message);
    expect(JSON.stringify(output)).toContain(expected);
  });

  test('tells the model to use other words when a search finds no tool', async () => {
    const { call } = connect(createServer(), protocol);
    const found = await call('search_tools', { query: 'quantum entanglement' });
    const hint = expect.stringContaining('other words') as string;
    expect(JSON.parse(textOf(found))).toEqual({ tools: [], hint });
    const { search_tools } = withToolSearch(tools) as Record<string, Tool>;
    expect(await search_tools?.execute({ query: 'quantum entanglement' })).toEqual({ tools: [], hint });
  });

  test('refuses a call by the wrong tool, with the name of the right one', async () => {
    const { call } = connect(createServer(), protocol);
    const written = await call('call_read_tool', { name: 'delete_file', arguments: { path: 'a' } });
    expect(written.isError).toBe(true);
    expect(textOf(written)).toBe("Error: The tool 'delete_file' may change something: call it with call_write_tool.");
    const read = await call('call_write_tool', { name: 'get_forecast', arguments: { city: 'Oslo' } });
    expect(textOf(read)).toContain('call it with call_read_tool');
  });

  test.each([
    ['a name without a tool', { name: 'absent' }, "There is no tool 'absent'"],
    ['a tool of the search', { name: 'call_read_tool', arguments: { name: 'help' } }, 'There is no tool'],
    ['arguments in the wrong place', { name: 'get_forecast', city: 'Oslo' }, 'city'],
    ['no name', { arguments: {} }, 'name'],
    ['arguments of the wrong type', { name: 'get_forecast', arguments: 'Oslo' }, 'arguments'],
  ])('refuses %s', async (_, args, message) => {
    const result = await connect(createServer(), protocol).call('call_read_tool', args);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain(message);
  });

  test('passes progress and elicitation of the tool on', async () => {
    const { call } = connect(createServer(), protocol);
    const onProgress = vi.fn();
    const onElicitation = vi.fn(() => ({ action: 'accept' as const, content: { sure: true } }));
    const args = { name: 'delete_file', arguments: { path: 'a.txt' } };
    const result = await call('call_write_tool', args, { onProgress, onElicitation });
    expect(textOf(result)).toBe('a.txt: accept');
    expect(onElicitation).toHaveBeenCalledOnce();
    expect(onProgress).toHaveBeenCalledWith(expect.objectContaining({ message: 'asking' }));
  });

  test('shows the inner name to audit, rate limits and traces', async () => {
    const entries: AuditEntry[] = [];
    const server = createServer()
      .use(audit((entry) => void entries.push(entry)))
      .use(rateLimit({ capacity: 1, perMinute: 1, tools: ['get_forecast'] }));
    const { call } = connect(server, protocol);
    const names: unknown[] = [];
    const stop = observe((event, phase) => {
      if (phase === 'start' && event.type === 'mcp' && event.side === 'server') names.push(event.target?.name);
    });
    await call('call_read_tool', { name: 'get_forecast', arguments: { city: 'Oslo' } });
    await call('call_read_tool', { name: 'get_forecast', arguments: { city: 'Rome' } });
    stop();
    const calls = entries.filter(({ method }) => method === 'tools/call');
    expect(calls.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['get_forecast', 'complete'],
      ['get_forecast', 'error'],
    ]);
    expect(names).toContain('get_forecast');
    expect(names).not.toContain('call_read_tool');
  });

  test('limits results as the tool that was found does', async () => {
    const long = createTool({
      id: 'read_log',
      description: 'Reads the log',
      mcp: { ...reads, resultLimit: { characters: 100 } },
      execute: async () => 'line '.repeat(100),
    });
    const { call } = connect(createServer({ tools: { read_log: long } }), protocol);
    const found = await call('call_read_tool', { name: 'read_log' });
    expect(textOf(found).length).toBeLessThan(200);
    expect(found.content).toHaveLength((await call('read_log', {})).content.length);
  });

  test('finds tools that were added, and none that were removed', async () => {
    const server = createServer();
    const { search } = connect(server, protocol);
    expect(await search('translate a text')).toEqual([]);
    const translate = createTool({ id: 't', description: 'Translates a text', mcp: reads, execute: async () => 'x' });
    await server.toolActions.add({ translate });
    expect(await search('translate a text')).toMatchObject([{ name: 'translate' }]);
    await server.toolActions.remove(['translate']);
    expect(await search('translate a text')).toEqual([]);
  });
});

test('finds, counts and calls no tool that the caller cannot see', async () => {
  const server = createServer({ search: { maxResults: 1 } });
  const ask = async (scopes: string[], name: string, args: object): Promise<string> => {
    const request = toRequest(modern('tools/call', { name, arguments: args }));
    const response = await server.fetch(request, { authInfo: { scopes, extra: { subject: 'one' } } });
    return ((await response.json()) as { result: { content: { text: string }[] } }).result.content[0]?.text ?? '';
  };
  const query = { query: 'secret weather forecast' };
  expect(await ask(['admin'], 'search_tools', query)).toContain('get_secret_forecast');
  expect(await ask([], 'search_tools', query)).toContain('"name":"get_forecast"');
  expect(await ask([], 'search_tools', query)).not.toContain('secret');
  expect(await ask(['admin'], 'call_read_tool', { name: 'get_secret_forecast' })).toBe('sun');
  const hidden = await ask([], 'call_read_tool', { name: 'get_secret_forecast' });
  expect(hidden.replace('get_secret_forecast', 'absent')).toBe(await ask([], 'call_read_tool', { name: 'absent' }));
});

test('checks the scopes of the inner tool, in single calls and in batches', async () => {
  const post = postProtected(createServer(), { get_forecast: ['weather'] });
  const args = { name: 'call_read_tool', arguments: { name: 'get_forecast', arguments: { city: 'Oslo' } } };
  const { headers, body } = modern('tools/call', args);
  expect((await post('files', body, headers)).status).toBe(403);
  expect((await post('weather', body, headers)).status).toBe(200);
  const params = { ...initializeParams, protocolVersion: '2025-03-26' };
  const session = (await post('files', rpc('initialize', params))).headers.get('mcp-session-id') ?? '';
  const batch = [rpc('ping', {}, 2), rpc('tools/call', args, 3)];
  const of = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-03-26' };
  expect((await post('files', batch, of)).status).toBe(403);
});

test('runs the call of a found tool as a task', async () => {
  const gate = new Gate();
  const slow = createTool({
    id: 'slow',
    description: 'Takes long',
    mcp: { ...reads, task: 'required' },
    execute: async () => gate.passed.then(() => 'done'),
  });
  const { client, call } = connect(createServer({ tools: { slow } }), 'modern');
  const args = { name: 'slow' };
  const handle = await client.tasks.start({ serverName: 'many', name: 'call_read_tool', args });
  expect(handle).toHaveProperty('taskId');
  gate.open();
  expect(textOf(await client.tasks.result(handle))).toBe('done');
  expect(textOf(await call('call_read_tool', args))).toBe('done');
});

test('refuses a tool that has the name of one of the search', () => {
  expect(() => createServer({ tools: { search_tools: help } })).toThrow(errorOf('OPTIONS_INVALID'));
  expect(() => createServer({ search: { pin: [] } as never })).toThrow(errorOf('OPTIONS_INVALID'));
});
