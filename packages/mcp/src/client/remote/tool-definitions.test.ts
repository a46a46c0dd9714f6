import { expect, test } from 'vitest';
import { discovered, result, startScripted } from '../../../test/servers/scripted-server.ts';
import { clientOf } from '../../../test/clients/client-of.ts';
import { captureLog } from '../../../test/capture-log.ts';
import { parseToolDefinitions } from './tool-definitions.js';

const good = { name: 'good', inputSchema: { type: 'object' } };
const object = { type: 'object' };
const malformed: readonly (readonly [problem: string, definition: unknown])[] = [
  ['`name` is missing', { inputSchema: object }],
  ['`inputSchema` is missing', { name: 'bare' }],
  ['`inputSchema.type` is missing', { name: 'untyped', inputSchema: { properties: {} } }],
  ['`inputSchema.type` is missing', { name: 'union', inputSchema: { anyOf: [object, object] } }],
  ['`inputSchema.properties` is null', { name: 'nothing', inputSchema: { type: 'object', properties: null } }],
  ['`inputSchema.required` is an object', { name: 'required', inputSchema: { type: 'object', required: {} } }],
  ['`description` is null', { name: 'undescribed', description: null, inputSchema: object }],
  ['`outputSchema` is an array', { name: 'listing', inputSchema: object, outputSchema: [] }],
  [
    "`annotations.readOnlyHint` is 'yes'",
    { name: 'hinting', inputSchema: object, annotations: { readOnlyHint: 'yes' } },
  ],
  ['`_meta` is an array', { name: 'meta', inputSchema: object, _meta: [] }],
  ['the definition is null', null],
];
const definitions = malformed.map(([, definition]) => definition);
const eras = {
  legacy: { 'tools/list': result({ tools: [...definitions, good] }) },
  modern: {
    'server/discover': result(discovered),
    'tools/list': result({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      tools: [good, ...definitions],
    }),
  },
};

test.for(['legacy', 'modern'] as const)(
  'malformed definitions of a %s server are left out and reported in one line each',
  async (era) => {
    const { url } = await startScripted(eras[era]);
    const mcp = clientOf({ it: { url, protocol: era } });
    for (const _ of ['fetched', 'cached']) {
      const { tools, errors, errorDetails } = await mcp.listToolsWithErrors();
      expect(Object.keys(tools)).toEqual(['it_good']);
      const lines = errors['it']?.split('\n') ?? [];
      expect(lines).toEqual(malformed.map(([problem]) => expect.stringContaining(problem)));
      expect(lines[1]).toBe(
        "Left out tool 'bare' of MCP server 'it': `inputSchema` is missing, not a JSON Schema object.",
      );
      expect(errorDetails['it']).toMatchObject({ code: 'MCP_TOOL_DEFINITION_INVALID' });
    }
  },
);

test('a server with malformed definitions alone is logged line by line and does not fail listTools()', async () => {
  const { url } = await startScripted({ 'tools/list': result({ tools: [{ name: 'a\u202Eb' }, { name: 'c' }] }) });
  const lines = captureLog('error');
  const mcp = clientOf({ it: { url } });
  expect(await mcp.listTools()).toEqual({});
  expect(lines).toEqual([
    "Tools are missing. Left out tool 'a\\u202eb' of MCP server 'it': `inputSchema` is missing, not a JSON Schema object.",
    "Tools are missing. Left out tool 'c' of MCP server 'it': `inputSchema` is missing, not a JSON Schema object.",
  ]);
});

test('an output schema may describe any value in the modern era only', () => {
  const listing = { name: 'listing', inputSchema: object, outputSchema: { type: 'array' } };
  expect(parseToolDefinitions([listing], true)).toEqual({ tools: [listing], malformed: [] });
  expect(parseToolDefinitions([listing], false).malformed).toEqual([
    { tool: "tool 'listing'", problem: "`outputSchema.type` is 'array', not 'object'" },
  ]);
});
