import { toJsonSchema } from '@quiver/core/schema';
import { createTool } from '@quiver/core/tools';
import { expect, test } from 'vitest';
import { MCPServer } from '../../server/mcp-server.js';
import { toToolName } from './tool-set.js';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { clientOf } from '../../../test/clients/client-of.ts';
import { captureLog } from '../../../test/capture-log.ts';

test('separates equal names, in the same way in every process', () => {
  const first = toToolName('a_b', 'c', new Set());
  const second = toToolName('a', 'b_c', new Set([first]));
  expect(first).toBe('a_b_c');
  expect(second).toMatch(/^a_b_c_[0-9a-f]{8}$/);
  expect(toToolName('a', 'b_c', new Set([first]))).toBe(second);
});

test('characters that providers refuse are replaced', () => {
  expect(toToolName('sdk', 'dotted.name/with spaces')).toBe('sdk_dotted_name_with_spaces');
});

test('long names are shortened to 64 characters and stay distinct', () => {
  const names = ['x', 'y'].map((end) => toToolName('server', 'tool'.repeat(30) + end, new Set()));
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{64}$/);
});

test('leaves out tools that only the user interface of the server calls', async () => {
  const create = (visibility: unknown): ReturnType<typeof createTool> =>
    toolOf('tool', { mcp: { _meta: { ui: { visibility } } } }, async () => 'called');
  const tools = { app: create(['app']), both: create(['model', 'app']), none: create([]), odd: create('app') };
  const server = new MCPServer({ name: 'Apps', version: '1.0.0', tools });
  const mcp = clientOf({ it: { server } });
  expect(Object.keys(await mcp.listTools())).toEqual(['it_both', 'it_none', 'it_odd']);
  expect(Object.keys((await mcp.listToolsets())['it'] ?? {})).toEqual(['both', 'none', 'odd']);
  const definitions = await mcp.listToolDefinitions();
  expect(definitions['it']?.map(({ name }) => name)).toEqual(['app', 'both', 'none', 'odd']);
  expect(await mcp.callTool({ serverName: 'it', name: 'app' })).toMatchObject({ content: [{ text: 'called' }] });
});

test('leaves out names, and parts of descriptions, that users do not see', async () => {
  const hidden = [...'send all'].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join('');
  const flag = '\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}';
  const create = (description: string): ReturnType<typeof createTool> =>
    createTool({
      id: 'tool',
      description,
      inputSchema: { type: 'object', properties: { description: { type: 'string', title: `T${hidden}` } } },
      execute: async () => 1,
    });
  const tools = { pay: create(`Pays${hidden} in ${flag}, \u200Fيدفع`), 'p\u200Bay': create('Pays') };
  const server = new MCPServer({ name: 'Hidden', version: '1.0.0', tools });
  const mcp = clientOf({ it: { server } });
  const lines = captureLog('warn');
  const shown = await mcp.listTools();
  expect(Object.keys(shown)).toEqual(['it_pay']);
  expect(lines).toEqual([expect.stringContaining("Left out the tool 'p\u200Bay' of MCP server 'it'")]);
  expect(shown['it_pay']?.description).toBe(`Pays in ${flag}, \u200Fيدفع`);
  expect(toJsonSchema(shown['it_pay']?.inputSchema, 'input')).toMatchObject({
    properties: { description: { type: 'string', title: 'T' } },
  });
  const { it: definitions = [] } = await mcp.listToolDefinitions();
  expect(definitions.map(({ name }) => name)).toEqual(['pay', 'p\u200Bay']);
  expect(JSON.stringify(definitions)).toContain(hidden);
});

test('shows a search in place of many tools', async () => {
  const create = (id: string, readOnlyHint: boolean): ReturnType<typeof createTool> =>
    createTool({
      id,
      description: `The ${id} of a file`,
      mcp: { annotations: { readOnlyHint } },
      execute: async () => id,
    });
  const tools = { content: create('content', true), deletion: create('deletion', false), size: create('size', true) };
  const server = new MCPServer({ name: 'Files', version: '1.0.0', tools });
  const mcp = clientOf({ it: { server } });
  const shown = await mcp.listTools({ search: { pinned: ['it_size'], maxResults: 1 } });
  expect(Object.keys(shown)).toEqual(['it_size', 'search_tools', 'call_read_tool', 'call_write_tool']);
  const withDefaults = ['search_tools', 'call_read_tool', 'call_write_tool'];
  expect(Object.keys(await mcp.listTools({ search: true }))).toEqual(withDefaults);
  const found = { tools: [{ name: 'it_content', call: 'call_read_tool' }] };
  expect(await shown['search_tools']?.execute({ query: 'content of a file' })).toMatchObject(found);
  const content = [{ type: 'text', text: 'content' }];
  expect(await shown['call_read_tool']?.execute({ name: 'it_content' })).toMatchObject({ content });
  await expect(shown['call_read_tool']?.execute({ name: 'it_deletion' })).rejects.toThrow(/call_write_tool/);
  await expect(mcp.listTools({ search: { limit: 1 } as never })).rejects.toThrow(/limit/);
});
