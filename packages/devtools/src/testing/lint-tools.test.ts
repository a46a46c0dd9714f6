import { createRequire } from 'node:module';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { readTestVariable } from '../../../../scripts/test-variable.ts';
import { readPublishedTools } from '../../test/published-tools.ts';
import type { ProtocolTool } from '@quiver/mcp/client';
import { lintProviders, lintRules, type LintRule } from './lint-rules.js';
import { createTestClient, lintTools, type ToolProblem } from './index.js';

const published = readTestVariable('QUIVER_TOOLS_CACHE');

/** A definition that all providers accept, with other members. */
function toolOf(members: object = {}): ProtocolTool {
  const properties = { city: { type: 'string', description: 'Name of the city' } };
  const inputSchema = { type: 'object', properties, required: ['city'], additionalProperties: false };
  const described = { name: 'forecast', description: 'Returns the weather of the next days', title: 'Forecast' };
  const outputSchema = { type: 'object', properties: { celsius: { type: 'number' } } };
  return { ...described, annotations: { readOnlyHint: true }, inputSchema, outputSchema, ...members } as ProtocolTool;
}

/** A definition whose parameter `it` has a schema. */
function withParameter(it: unknown, members: object = {}): ProtocolTool {
  const properties = { it };
  return toolOf({
    inputSchema: { type: 'object', properties, required: ['it'], additionalProperties: false, ...members },
  });
}

const show = ({ rule, path, providers, effect }: ToolProblem): string =>
  `${rule} ${path} ${providers.join()} ${effect}`;
const every = 'openai,openai-strict,anthropic,gemini,gemini-parameters';
const parameter = '/inputSchema/properties/it';

const cases: [title: string, tool: ProtocolTool, problems: string[]][] = [
  ['a long name', toolOf({ name: 'x'.repeat(65) }), [`name-length /name ${every} rejected`]],
  ['a dot', toolOf({ name: 'a.b' }), ['name-characters /name openai,openai-strict,anthropic rejected']],
  ['a digit first', toolOf({ name: '2d' }), ['name-characters /name gemini,gemini-parameters rejected']],
  ['a space', toolOf({ name: 'a b' }), [`name-characters /name ${every} rejected`]],
  ['no description', toolOf({ description: ' ' }), [`description-missing /description ${every} advice`]],
  ['a repeated name', toolOf({ description: 'Forecast.' }), [`description-copied /description ${every} advice`]],
  ['no annotations', toolOf({ annotations: undefined }), [`annotations-missing /annotations ${every} advice`]],
  ['no title', toolOf({ title: undefined }), [`annotations-missing /annotations ${every} advice`]],
  [
    'a tool that writes',
    toolOf({ annotations: { readOnlyHint: false } }),
    [`annotations-missing /annotations ${every} advice`],
  ],
  ['no output schema', toolOf({ outputSchema: undefined }), [`output-schema-missing /outputSchema ${every} advice`]],
  [
    'a union at the root',
    withParameter({ type: 'string' }, { anyOf: [{ type: 'object', properties: {}, additionalProperties: false }] }),
    [`root-union /inputSchema ${every} rejected`],
  ],
  [
    'an enum at the root',
    withParameter({ type: 'string' }, { not: { type: 'string' } }),
    ['root-union /inputSchema openai,openai-strict rejected', 'strict-keyword /inputSchema openai-strict rejected'],
  ],
  ['no type', withParameter({}), [`type-missing ${parameter} openai-strict,gemini-parameters rejected`]],
  ['a Boolean schema', withParameter(true), [`type-missing ${parameter} openai-strict,gemini-parameters rejected`]],
  ['an enum without type', withParameter({ enum: ['a'] }), [`type-missing ${parameter} gemini-parameters rejected`]],
  [
    'a list of types',
    withParameter({ type: ['string', 'null'] }),
    [`type-list ${parameter} gemini-parameters rejected`],
  ],
  [
    'numbers in an enum',
    withParameter({ type: 'number', enum: [1, 2] }),
    [`enum-not-text ${parameter} gemini-parameters rejected`],
  ],
  ['a constant', withParameter({ type: 'string', const: 'a' }), [`const ${parameter} gemini-parameters rejected`]],
  [
    'no items',
    withParameter({ type: 'array' }),
    [`items-missing ${parameter} openai,openai-strict,gemini-parameters rejected`],
  ],
  [
    'a union in items',
    withParameter({ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }),
    [`union-in-items ${parameter}/items gemini-parameters rejected`],
  ],
  [
    'a reference with siblings',
    withParameter({ $ref: '#/$defs/a', description: 'x' }, { $defs: { a: { type: 'string' } } }),
    [`reference ${parameter} gemini-parameters rejected`, `ref-siblings ${parameter} openai-strict rejected`],
  ],
  [
    'a reference with a type',
    withParameter({ $ref: '#/$defs/a~1b%20c', type: 'string' }, { $defs: { 'a/b c': { type: 'string' } } }),
    [
      `reference ${parameter} gemini-parameters rejected`,
      `ref-siblings ${parameter} openai-strict,gemini,gemini-parameters rejected`,
    ],
  ],
  [
    'a reference to nothing',
    withParameter({ $ref: '#/$defs/a' }),
    [`reference ${parameter} gemini-parameters rejected`, `ref-unresolved ${parameter} ${every} rejected`],
  ],
  [
    'a required property that is not described',
    withParameter({ type: 'string' }, { required: ['it', 'that'] }),
    ['required-unknown /inputSchema openai-strict,gemini-parameters rejected'],
  ],
  [
    'an optional property',
    withParameter({ type: 'string' }, { required: [] }),
    ['strict-required /inputSchema openai-strict rejected'],
  ],
  [
    'an open object',
    withParameter({ type: 'object', properties: {} }),
    [`strict-additional-properties ${parameter} openai-strict rejected`],
  ],
  [
    'a keyword of conditions',
    withParameter({ type: 'string', not: { type: 'null' } }),
    [`strict-keyword ${parameter} openai-strict rejected`],
  ],
  [
    'a tag in the name',
    toolOf({ name: 'pay\u{E0041}' }),
    [`invisible-characters /name ${every} advice`, `name-characters /name ${every} rejected`],
  ],
  ['a title in reverse', toolOf({ title: 'Fore\u202Ecast' }), [`invisible-characters /title ${every} advice`]],
  [
    'a hidden instruction',
    toolOf({ description: 'Weather\u200B of a city' }),
    [`invisible-characters /description ${every} advice`],
  ],
  [
    'a hidden instruction in a parameter',
    withParameter({ type: 'string', description: 'City\u{E0050}' }),
    [`invisible-characters ${parameter} ${every} advice`],
  ],
  ['no input schema', toolOf({ inputSchema: undefined }), [`definition-invalid  ${every} rejected`]],
];

describe('lintTools', () => {
  it('finds nothing in a definition that all providers accept', () => {
    expect(lintTools([toolOf()])).toEqual([]);
    expect(lintTools([])).toEqual([]);
  });

  it.each(cases)('finds %s', (_title, tool, problems) => {
    expect(lintTools([tool], { providers: lintProviders }).map(show).toSorted()).toEqual(problems.toSorted());
  });

  it('tests every rule', () => {
    const tested = new Set(cases.flatMap(([, , problems]) => problems.map((problem) => problem.split(' ', 1)[0])));
    expect([...tested].toSorted()).toEqual(Object.keys(lintRules).toSorted());
  });

  it('names the rule, its source, the remedy and the tokens', () => {
    const [problem] = lintTools([withParameter({ type: 'array' })]);
    expect(problem).toEqual({
      tool: 'forecast',
      rule: 'items-missing',
      path: parameter,
      providers: ['openai', 'gemini-parameters'],
      effect: 'rejected',
      message: 'The array has no `items`. Describe them.',
      source: 'https://github.com/digitalocean-labs/mcp-digitalocean/issues/265',
      tokens: expect.any(Number),
    });
    expect(problem?.tokens).toBeGreaterThan(20);
  });

  it('finds descriptions that several tools have', () => {
    const [problem, ...others] = lintTools([toolOf(), toolOf({ name: 'history' })]);
    expect(others).toEqual([]);
    expect(problem).toMatchObject({
      tool: 'history',
      rule: 'description-copied',
      message: "'forecast' has the same description. Say how they differ.",
    });
  });

  it('accepts what the AI SDK sends to Gemini as JSON Schema, and does not expect strict mode', () => {
    const parameters = [
      { type: ['string', 'null'] },
      { const: 'a' },
      { type: 'integer', enum: [1, 7] },
      { $ref: '#/$defs/a' },
    ];
    const tools = parameters.map((schema) => withParameter(schema, { required: [], $defs: { a: { type: 'string' } } }));
    expect(lintTools(tools, { providers: ['gemini'] })).toEqual([]);
    expect(lintTools(tools).every(({ providers }) => providers.join() === 'gemini-parameters')).toBe(true);
  });

  it('accepts the flag of Scotland, and marks that Arabic needs', () => {
    const description = 'Weather of \u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}, \u200Fطقس';
    expect(lintTools([toolOf({ description })])).toEqual([]);
  });

  it('limits itself to providers, and leaves rules out', () => {
    const tools = [
      withParameter({ type: 'array' }),
      toolOf({ name: 'bare', description: 'Has no hints', annotations: undefined }),
    ];
    expect(lintTools(tools, { providers: ['anthropic'], ignore: ['annotations-missing'] })).toEqual([]);
    expect(lintTools(tools, { providers: ['gemini-parameters'] }).map(({ providers }) => providers)).toEqual([
      ['gemini-parameters'],
      ['gemini-parameters'],
    ]);
  });

  it('rejects something else than definitions in one line', () => {
    expect(() => lintTools({} as never)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    expect(() => lintTools([], { ignore: ['nothing' as LintRule] })).toThrow(/ignore/);
    expect(lintTools([null as never, 'x' as never]).map(({ tool, rule }) => [tool, rule])).toEqual([
      ['tool 1 of the list', 'definition-invalid'],
      ['tool 2 of the list', 'definition-invalid'],
    ]);
  });

  it('ends for schemas that contain themselves, and for large ones', () => {
    const cyclic: Record<string, unknown> = { type: 'array' };
    cyclic['items'] = cyclic;
    const large = { type: 'object', properties: Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [n, {}])) };
    expect(lintTools([withParameter(cyclic)]).map(({ rule }) => rule)).toEqual(['definition-invalid']);
    expect(lintTools([withParameter(large)]).length).toBeGreaterThan(5000);
  });

  it('checks the definitions of a running server', async () => {
    const program = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/dist/index.js');
    await using client = await createTestClient({ command: process.execPath, args: [program] });
    const problems = lintTools(await client.tools(), { providers: ['openai', 'anthropic'] });
    expect(problems.filter(({ effect }) => effect === 'rejected')).toEqual([]);
  });

  it.skipIf(!published)('finds in published servers what their users reported', () => {
    const tools = readPublishedTools(published ?? '');
    const all = Object.entries(tools).flatMap(([server, definitions]) =>
      lintTools(definitions, { providers: lintProviders }).map((problem) => ({ server, ...problem })),
    );
    expect(Object.keys(tools).length).toBeGreaterThanOrEqual(20);
    const serversOf = (rule: LintRule): string[] => [
      ...new Set(all.flatMap((problem) => (problem.rule === rule ? [problem.server] : []))),
    ];
    expect(serversOf('items-missing')).toEqual(['@hubspot+mcp-server@0.4.0']);
    expect(serversOf('reference')).toContain('@notionhq+notion-mcp-server@2.5.2');
    expect(serversOf('type-list')).toContain('@zereight+mcp-gitlab@2.1.64');
    expect(serversOf('strict-required').length).toBeGreaterThanOrEqual(20);
    expect(serversOf('definition-invalid')).toEqual([]);
    expect(serversOf('ref-unresolved')).toEqual([]);
    // Anthropic accepts all of them, and OpenAI all but one.
    const rejected = all.filter(({ effect }) => effect === 'rejected');
    expect(rejected.filter(({ providers }) => providers.includes('anthropic'))).toEqual([]);
    expect(rejected.filter(({ providers }) => providers.includes('openai')).map(({ tool }) => tool)).toEqual([
      'hubspot-search-objects',
    ]);
  });
});
