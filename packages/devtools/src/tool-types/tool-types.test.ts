import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { isLongRun, readTestVariable } from '../../../../scripts/test-variable.ts';
import { compile, compilers } from '../../test/compile-types.ts';
import { readPublishedTools } from '../../test/published-tools.ts';
import { scratchFolder } from '../../../mcp/test/scratch-folder.ts';
import { fingerprintTool } from '../../../mcp/src/client/remote/tool-definitions.ts';
import { MCPClient, type ProtocolTool } from '@quiver/mcp/client';
import { compareToolTypes, toolTypes } from './index.js';

const require = createRequire(import.meta.url);
const recorded = readTestVariable('QUIVER_TOOLS_CACHE');
/** TypeScript 7 takes a second, 5.4 and 5.9 several. */
const usedCompilers = (Object.keys(compilers) as (keyof typeof compilers)[]).filter(
  (name) => isLongRun || name === 'TypeScript 7',
);

/** Tool of a schema, for its input and its output. */
function toolOf(schema: object, name = 'tool'): ProtocolTool {
  return { name, inputSchema: { type: 'object', properties: { it: schema } }, outputSchema: schema } as ProtocolTool;
}

/** Returns the type of a property with this schema, and the declarations that it needs. */
function typeOf(schema: unknown): string {
  const inputSchema = { type: 'object', properties: { it: schema }, required: ['it'] };
  const text = toolTypes([{ name: 'tool', inputSchema } as unknown as ProtocolTool], { name: 'Type' });
  return text
    .slice(text.indexOf('input: {') + 9, -1)
    .replace(/\n {4}\};\n {4}output: unknown;\n {2}\};\n\}/, '')
    .replaceAll('\n      ', '\n')
    .trim();
}

function published(name: string, ...args: string[]): { command: string; args: string[] } {
  const manifest = require.resolve(`${name}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
  const [file = ''] = Object.values(bin);
  return { command: process.execPath, args: [join(dirname(manifest), file), ...args] };
}

describe('types of schemas', () => {
  test.for<[schema: unknown, type: string]>([
    [true, 'it: unknown;'],
    [false, 'it: never;'],
    [{}, 'it: unknown;'],
    ['no schema', 'it: unknown;'],
    [{ type: 'vector' }, 'it: unknown;'],
    [{ type: ['string', 'null'] }, 'it: string | null;'],
    [{ type: 'string', nullable: true }, 'it: string | null;'],
    [
      { enum: ['a', 1, -0.5, true, null, ['x'], { 'k-y': 1 }] },
      `it: "a" | 1 | -0.5 | true | null | ["x"] | { "k-y": 1 };`,
    ],
    [{ const: 'he said "no"\u2028' }, String.raw`it: "he said \"no\"\u2028";`],
    [{ const: null }, 'it: null;'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'string' }] }, 'it: string | number;'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, 'it: ("a" | "b")[];'],
    [{ type: 'array' }, 'it: unknown[];'],
    [{ type: 'number', maximum: { toString: 1 }, default: { valueOf: null } }, 'it: number;'],
    [
      { prefixItems: [{ type: 'string' }, { type: 'number' }], items: { type: 'null' } },
      'it: [string, number, ...null[]];',
    ],
    [
      { type: 'array', items: [{ type: 'string' }, { enum: [1, 2] }], minItems: 1 },
      '/** Minimum of items: 1. */\nit: [string, (1 | 2)?];',
    ],
    [{ type: 'object' }, 'it: { [key: string]: unknown };'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'it: { [key: string]: number };'],
    [
      { type: 'object', patternProperties: { '^x': { type: 'string' } }, additionalProperties: false },
      'it: { [key: string]: string };',
    ],
    [{ type: 'object', additionalProperties: false }, 'it: { [key: string]: never };'],
    [{ required: ['a'] }, 'it: {\n  a: unknown;\n};'],
    [
      {
        type: 'object',
        properties: { 'x-y': { type: 'string' }, new: {} },
        required: ['new'],
        additionalProperties: {},
      },
      'it: {\n  "x-y"?: string;\n  new: unknown;\n  [key: string]: unknown;\n};',
    ],
    [
      { type: 'object', properties: { a: { type: 'string' } }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      'it: {\n  a?: string;\n} & ({\n  a: unknown;\n} | {\n  b: unknown;\n});',
    ],
    [{ type: 'object', allOf: [{ properties: { a: { const: 1 } } }] }, 'it: {\n  a?: 1;\n};'],
    [{ type: 'string', format: 'date', maxLength: 10 }, '/** Format: `date`. Maximum length: 10. */\nit: string;'],
    [
      { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], deprecated: true },
      '/**\n * Integer. Minimum: 1.\n * @deprecated\n */\nit: number | null;',
    ],
    [{ $ref: 'https://other.example/schema' }, 'it: unknown;'],
    [{ $ref: '#/$defs/constructor' }, 'it: unknown;'],
  ])('%j', ([schema, type]) => {
    expect(typeOf(schema)).toBe(type);
  });

  test('references become named types, also those that contain themselves', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node~1a' }, all: { $ref: '#' } } };
    const tool = { name: 'a-b', inputSchema: { type: 'object', $ref: '#/$defs/node~1a', $defs: { 'node/a': node } } };
    const text = toolTypes([tool as ProtocolTool], { name: 'Trees' });
    expect(text.slice(text.indexOf('    input'))).toBe(`    input: TreesABInputNode1a;
    output: unknown;
  };
}

export type TreesABInputNode1a = {
  next?: TreesABInputNode1a;
  all?: TreesABInputRoot;
};

export type TreesABInputRoot = TreesABInputNode1a;
`);
  });
});

/** Schemas that are correct and hard to express. */
const hard: Record<string, object> = {
  ownCycle: { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } },
  cycleOfAlternatives: {
    $ref: '#/$defs/a',
    $defs: {
      a: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/b' }] },
      b: { allOf: [{ properties: { x: { $ref: '#/$defs/a' } } }, { $ref: '#/$defs/c' }] },
      c: { oneOf: [{ type: 'null' }, { $ref: '#/$defs/a' }] },
    },
  },
  cycleOfRecords: {
    $ref: '#/$defs/json',
    $defs: {
      json: {
        anyOf: [
          { type: ['string', 'null'] },
          { type: 'array', items: { $ref: '#/$defs/json' } },
          { type: 'object', additionalProperties: { $ref: '#/$defs/json' } },
          { prefixItems: [{ $ref: '#/$defs/json' }], items: { $ref: '#/$defs/json' } },
        ],
      },
    },
  },
  multiplied: {
    allOf: Array.from({ length: 8 }, (_, n) => ({
      oneOf: Array.from({ length: 12 }, (_, m) => ({ properties: { [`p${n}`]: { const: m } } })),
    })),
  },
  deep: Array.from({ length: 60 }).reduce<object>((inner) => ({ type: 'array', items: inner }), {}),
  long: { enum: Array.from({ length: 8000 }, (_, n) => `value ${n}`) },
  manyDefinitions: {
    anyOf: Array.from({ length: 400 }, (_, n) => ({ $ref: `#/$defs/d${n}` })),
    $defs: Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [`d${n}`, { properties: { next: { $ref: `#/$defs/d${n + 1}` } } }]),
    ),
  },
  clashingNames: {
    anyOf: [{ $ref: '#/$defs/a-b' }, { $ref: '#/$defs/a_b' }, { $ref: '#/$defs/ä' }],
    $defs: { 'a-b': { type: 'string' }, a_b: { type: 'number' }, ä: { type: 'null' } },
  },
};

const hostileTexts = [
  '*/ process.exit() /*',
  '@ts-expect-error',
  'x\n@ts-ignore\r@ts-nocheck\u2028*/ let x = 1;',
  '`${process.exit()}`',
  '\u202E"\u0000\uD800',
  '\\',
  '*',
  '/',
  'x'.repeat(100_000),
  '\n'.repeat(10_000),
];

/** Each text as a name, a description, a limit and a value. */
const hostile = hostileTexts.map((text, n) => {
  const properties = { [text]: { description: text, title: text, format: text, enum: [text], default: text } };
  const schema = { type: 'object', description: text, properties, required: [text], $defs: { [text]: {} } };
  const name = n % 2 === 0 ? text : `${text}${n}`;
  return { name, title: text, description: text, inputSchema: schema, outputSchema: schema } as unknown as ProtocolTool;
});

const prototypeNames = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'class', 'new', 'in', '1', ''];
const inherited = JSON.parse(
  `{"type":"object","properties":{${prototypeNames.map((name) => `${JSON.stringify(name)}:{"type":"string"}`).join()}}}`,
) as object;

async function definitionsOfPublishedServers(): Promise<Record<string, ProtocolTool[]>> {
  const mcp = new MCPClient({
    id: 'published servers',
    servers: {
      everything: published('@modelcontextprotocol/server-everything', 'stdio'),
      filesystem: published('@modelcontextprotocol/server-filesystem', scratchFolder()),
      memory: published('@modelcontextprotocol/server-memory'),
      sequential: published('@modelcontextprotocol/server-sequential-thinking'),
      playwright: published('@playwright/mcp'),
    },
  });
  onTestFinished(() => mcp.disconnect());
  return mcp.listToolDefinitions();
}

/** Schemas with references, cycles, wrong types of keywords, and names that are not identifiers. */
const anySchema = fc.letrec<{ schema: object; name: string }>((tie) => ({
  name: fc.oneof(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', 'new', '*/', '@ts-ignore'), fc.string()),
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<object>({}, { type: 'string' }, { $ref: '#' }, { $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }),
    fc.record(
      {
        type: fc.oneof(
          fc.constantFrom('object', 'array', 'string', 'null', 'integer', 'x'),
          fc.constant(['array', 'null']),
        ),
        $ref: fc.constantFrom('#', '#/$defs/a', '#/$defs/b', '#/properties/a', '#/anyOf/0', '#/none', '#/%'),
        description: fc.string(),
        enum: fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 3 }),
        const: fc.jsonValue({ maxDepth: 1 }),
        properties: fc.dictionary(tie('name'), tie('schema'), { maxKeys: 3 }),
        required: fc.array(tie('name'), { maxLength: 2 }),
        additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
        patternProperties: fc.dictionary(tie('name'), tie('schema'), { maxKeys: 1 }),
        items: fc.oneof(tie('schema'), fc.array(tie('schema'), { maxLength: 2 })),
        prefixItems: fc.array(tie('schema'), { maxLength: 2 }),
        minItems: fc.nat(2),
        anyOf: fc.array(tie('schema'), { maxLength: 3 }),
        oneOf: fc.array(tie('schema'), { maxLength: 3 }),
        allOf: fc.array(tie('schema'), { maxLength: 3 }),
        $defs: fc.record({ a: tie('schema'), b: tie('schema') }),
        nullable: fc.boolean(),
        maximum: fc.oneof(fc.double(), fc.anything() as fc.Arbitrary<never>),
      },
      { requiredKeys: [] },
    ),
  ),
})).schema;

const usage = `
import type { Weather } from './weather.js';
type Input = Weather['forecast']['input'];
const node: Input = { city: 'Oslo', mode: 'day', route: ['a', 1], tags: { x: 1 }, tree: { children: [{ children: [] }] } };
export const celsius: number = (null! as Weather['forecast']['output']).celsius;
export const inputs: Input[] = [
  node,
  // @ts-expect-error \`city\` is required
  { mode: 'day' },
  // @ts-expect-error not a value of the enum
  { city: 'Oslo', mode: 'year' },
  // @ts-expect-error a wrong element of the tuple
  { city: 'Oslo', route: ['a', 'b'] },
  // @ts-expect-error a wrong value of the record
  { city: 'Oslo', tags: { x: 'y' } },
  // @ts-expect-error a wrong value in the recursion
  { city: 'Oslo', tree: { children: [{ children: [1] }] } },
  // @ts-expect-error not a property
  { city: 'Oslo', town: 'Oslo' },
];
`;
const tree = z.object({ get children() { return z.array(tree); } }); // oxfmt-ignore
const forecast = {
  name: 'forecast',
  inputSchema: z.toJSONSchema(
    z.object({
      city: z.string(),
      mode: z.enum(['day', 'week']).optional(),
      route: z.tuple([z.string(), z.number()]).optional(),
      tags: z.record(z.string(), z.number()).optional(),
      tree: tree.optional(),
    }),
  ),
  outputSchema: z.toJSONSchema(z.object({ celsius: z.number() })),
} as ProtocolTool;

describe.each(usedCompilers)('%s accepts', (compiler) => {
  test('the types of published servers', async () => {
    const definitions = await definitionsOfPublishedServers();
    expect(Object.values(definitions).map((tools) => tools.length > 0)).toEqual([true, true, true, true, true]);
    expect(compile(compiler, { 'published.ts': toolTypes(definitions) })).toBe('');
  });

  test.skipIf(!recorded)('the types of all servers of the benchmark of the tool search', () => {
    const servers = readPublishedTools(recorded ?? '');
    expect(Object.keys(servers).length).toBeGreaterThanOrEqual(20);
    expect(compile(compiler, { 'recorded.ts': toolTypes(servers) })).toBe('');
  });

  test('the types of hard, hostile and random schemas', { timeout: 240_000 }, () => {
    const hardTools = Object.entries(hard).map(([name, schema]) => toolOf(schema, name));
    // References start at the root, which is the schema itself in the output.
    const inputs = Object.entries(hard).map(([name, schema]) => ({ name, inputSchema: { ...schema, type: 'object' } }));
    const files: Record<string, string> = {
      'hard.ts': toolTypes({ one: hardTools, two: inputs as ProtocolTool[] }),
      'hostile.ts': toolTypes([...hostile, toolOf(inherited, '__proto__'), toolOf(inherited, 'constructor')], {
        name: 'H',
      }),
      'weather.ts': toolTypes([forecast], { name: 'Weather' }),
      'usage.ts': usage,
    };
    const random = fc.sample(anySchema, { numRuns: isLongRun ? 2000 : 300, seed: fc.readConfigureGlobal().seed ?? 1 });
    for (const [n, schema] of random.entries()) {
      const json = JSON.parse(JSON.stringify(schema)) as object;
      files[`random-${n}.ts`] = toolTypes([toolOf(json)], { name: 'Random' });
    }
    expect(compile(compiler, files)).toBe('');
  });
});

describe('toolTypes()', () => {
  test('writes equal text for tools in any order, without a time', () => {
    const tools = [toolOf({ type: 'string' }, 'b'), toolOf({ type: 'string' }, 'a'), toolOf({}, 'B')];
    expect(toolTypes(tools, { name: 'It' })).toBe(toolTypes(tools.toReversed(), { name: 'It' }));
    expect(toolTypes(tools, { name: 'It' }).match(/"\w"$/gm)).toEqual(['"B"', '"a"', '"b"']);
  });

  test('writes an interface per server of a catalog', () => {
    const tools = [toolOf({})];
    const text = toolTypes({ 'my-weather': tools, my_weather: tools, '1': tools, Server1: tools });
    expect(text.match(/(?<=interface )\S+/g)).toEqual(['Server1', 'MyWeather', 'MyWeather_2', 'Server1_2']);
    expect(toolTypes({ weather: tools }, { name: 'Other' })).toContain('interface Other {');
  });

  test('names the problem of definitions and names that it cannot use', () => {
    const deep = JSON.parse(`${'{"type":"object","items":'.repeat(20_000)}{}${'}'.repeat(20_000)}`) as object;
    const cases: [definitions: unknown, name: string | undefined, message: string][] = [
      [[{ name: 'bare' }], 'It', "The definition of tool 'bare' is invalid: `inputSchema` is missing"],
      [[null], 'It', 'tool 1 of the list is invalid: the definition is null'],
      [[{ ...toolOf({}, 'deep'), outputSchema: deep }], 'It', 'The definition of tool "deep" is nested too deeply'],
      [[], undefined, 'A list of tools needs the name'],
      [[], 'weather', 'The interface name "weather" is not a letter from A to Z'],
      ['text', 'It', 'neither a list of tools nor an object'],
      [{ a: 1 }, undefined, 'The definitions of the server "a" are not a list'],
      [{ a: [], b: [] }, 'It', '`name` names the interface of one server, but there are 2'],
    ];
    for (const [definitions, name, message] of cases) {
      const options = name === undefined ? {} : { name };
      const expected = expect.objectContaining({
        code: 'TOOL_TYPES_INVALID',
        message: expect.stringContaining(message),
      });
      expect(() => toolTypes(definitions as ProtocolTool[], options)).toThrow(expected);
    }
  });
});

describe('compareToolTypes()', () => {
  const before = [toolOf({ type: 'string' }, 'same'), toolOf({}, 'gone'), toolOf({}, 'new "name"\n')];
  const name = 'It';

  test('returns nothing for the definitions of the text, also after formatting', () => {
    const text = toolTypes([...before, ...hostile], { name });
    expect(compareToolTypes(text, [...before, ...hostile].toReversed(), { name })).toBeUndefined();
    expect(
      compareToolTypes(text.replaceAll('\n', '\r\n').replaceAll('  ', '\t'), [...before, ...hostile], { name }),
    ).toBeUndefined();
  });

  test('returns the tools that were added, removed and changed', () => {
    const text = toolTypes(before, { name });
    const after = [toolOf({ type: 'number' }, 'same'), toolOf({}, 'added'), toolOf({}, 'new "name"\n')];
    const changes = { added: ['It.added'], removed: ['It.gone'], changed: ['It.same'] };
    expect(compareToolTypes(text, after, { name })).toEqual(changes);
    expect(compareToolTypes('', after, { name })?.added).toHaveLength(3);
  });

  test('compares the fingerprints that fingerprintTool() returns', () => {
    for (const tool of before) expect(toolTypes(before, { name })).toContain(fingerprintTool(tool));
  });

  test('does not read hashes from descriptions', () => {
    const description = `\n// sha256 ${'0'.repeat(64)} "forged"\nexport interface Forged {`;
    const tools = [{ ...toolOf({ description }), description }];
    expect(compareToolTypes(toolTypes(tools, { name }), tools, { name })).toBeUndefined();
  });
});
