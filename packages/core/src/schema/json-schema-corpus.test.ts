import { describe, expect, it } from 'vitest';
import { createTool } from '../tools/index.js';
import { toJsonSchema, validate, type JsonSchema } from './index.js';

interface Shape {
  name: string;
  schema: JsonSchema;
  good: unknown;
  bad?: unknown;
}

const object = (properties: JsonSchema, rest: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...rest });

/** Shapes that converters between JSON Schema and zod lose or refuse; remote servers send all of them. */
const shapes: Shape[] = [
  {
    name: 'nullable type array',
    schema: object({ a: { type: ['string', 'null'] } }),
    good: { a: null },
    bad: { a: 1 },
  },
  { name: 'open object', schema: object({ a: { type: 'string' } }), good: { a: 'x', other: [1] }, bad: { a: 1 } },
  {
    name: 'map',
    schema: { type: 'object', additionalProperties: { type: 'number' } },
    good: { x: 1, y: 2 },
    bad: { x: 'one' },
  },
  {
    name: 'recursive $defs',
    schema: object(
      { root: { $ref: '#/$defs/node' } },
      { $defs: { node: object({ children: { type: 'array', items: { $ref: '#/$defs/node' } } }) } },
    ),
    good: { root: { children: [{ children: [] }] } },
    bad: { root: { children: [{ children: 1 }] } },
  },
  {
    name: 'draft-07 definitions',
    schema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      ...object({ a: { $ref: '#/definitions/text' } }, { definitions: { text: { type: 'string' } } }),
    },
    good: { a: 'x' },
    bad: { a: 1 },
  },
  {
    name: 'discriminated oneOf',
    schema: {
      type: 'object',
      oneOf: [
        object({ kind: { const: 'a' }, n: { type: 'number' } }, { required: ['kind', 'n'] }),
        object({ kind: { const: 'b' }, s: { type: 'string' } }, { required: ['kind', 's'] }),
      ],
    },
    good: { kind: 'b', s: 'x' },
    bad: { kind: 'b', n: 1 },
  },
  {
    name: 'allOf',
    schema: { allOf: [object({ a: { type: 'string' } }, { required: ['a'] }), object({ b: { type: 'number' } })] },
    good: { a: 'x', b: 1 },
    bad: { b: 1 },
  },
  { name: 'default', schema: object({ a: { type: 'string', default: 'x' } }), good: {}, bad: { a: 1 } },
  { name: 'mixed enum', schema: object({ a: { enum: ['x', 1, null, true] } }), good: { a: null }, bad: { a: 'y' } },
  {
    name: 'prefixItems',
    schema: object({ t: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false } }),
    good: { t: ['x', 1] },
    bad: { t: ['x', 1, 2] },
  },
  {
    name: 'patternProperties',
    schema: { type: 'object', patternProperties: { '^x-': { type: 'string' } } },
    good: { 'x-a': 'v', b: 1 },
    bad: { 'x-a': 1 },
  },
  { name: 'not', schema: object({ a: { not: { const: 'no' } } }), good: { a: 'yes' }, bad: { a: 'no' } },
  {
    name: 'if/then',
    // As text: an object with the key `then` could be mistaken for a promise.
    schema: JSON.parse(
      `{"type":"object","if":{"properties":{"country":{"const":"DE"}},"required":["country"]},"then":{"required":["zip"]}}`,
    ) as JsonSchema,
    good: { country: 'FR' },
    bad: { country: 'DE' },
  },
  {
    name: 'title, examples, deprecated and x-* keywords',
    schema: object({ a: { type: 'string', title: 'A', examples: ['x'], deprecated: true, 'x-order': 1 } }),
    good: { a: 'x' },
    bad: { a: 1 },
  },
  {
    name: 'formats',
    schema: object({ a: { type: 'string', format: 'email' } }),
    good: { a: 'me@example.com' },
    bad: { a: 'nobody' },
  },
  { name: 'unknown format', schema: object({ a: { type: 'string', format: 'x-plate' } }), good: { a: 'HH AB 1' } },
  { name: 'root without type', schema: { properties: { a: { type: 'string' } } }, good: { a: 'x' }, bad: { a: 1 } },
  {
    name: 'root anyOf',
    schema: { anyOf: [object({ a: { type: 'string' } }, { required: ['a'] }), object({}, { required: ['b'] })] },
    good: { b: 1 },
    bad: { c: 1 },
  },
  { name: 'boolean property schema', schema: object({ a: true, b: false }), good: { a: 1 }, bad: { b: 1 } },
  { name: 'required without property', schema: { type: 'object', required: ['a'] }, good: { a: 1 }, bad: {} },
  { name: 'x-mcp-header', schema: object({ a: { type: 'string', 'x-mcp-header': 'A' } }), good: { a: 'x' } },
  {
    name: 'dependentRequired',
    schema: object({}, { dependentRequired: { card: ['address'] } }),
    good: { card: 1, address: 2 },
    bad: { card: 1 },
  },
  { name: 'type object alone', schema: { type: 'object' }, good: { anything: 1 }, bad: 'text' },
  { name: 'bare anyOf', schema: { anyOf: [{ type: 'string' }, { type: 'number' }] }, good: 1, bad: true },
  {
    name: 'nested arrays',
    schema: object({ m: { type: 'array', items: { type: 'array', items: { type: 'number' } } } }),
    good: { m: [[1], [2, 3]] },
    bad: { m: [[1], ['2']] },
  },
  {
    name: '$schema of 2019-09',
    schema: { $schema: 'https://json-schema.org/draft/2019-09/schema#', ...object({ a: { type: 'string' } }) },
    good: { a: 'x' },
    bad: { a: 1 },
  },
];

describe('JSON Schema as plain data', () => {
  it.each(shapes)('describes itself, byte for byte: $name', ({ schema }) => {
    const before = JSON.stringify(schema);
    expect(toJsonSchema(schema, 'input')).toBe(schema);
    expect(toJsonSchema(schema, 'output')).toBe(schema);
    expect(JSON.stringify(schema)).toBe(before);
  });

  it.each(shapes)('stays what it is inside a tool: $name', ({ schema }) => {
    const tool = createTool({ id: 'x', description: 'x', inputSchema: schema, execute: async () => 'x' });
    expect(toJsonSchema(tool.inputSchema, 'input')).toBe(schema);
  });

  it.each(shapes)('accepts a good value and passes it on untouched: $name', ({ schema, good }) => {
    const before = JSON.stringify(good);
    const result = validate(schema, good);
    expect(result).toEqual({ ok: true, value: good });
    expect((result as { value: unknown }).value).toBe(good);
    expect(JSON.stringify(good)).toBe(before);
  });

  it.each(shapes.filter((shape) => 'bad' in shape))('refuses a bad value: $name', ({ schema, bad }) => {
    expect(validate(schema, bad)).toMatchObject({ ok: false });
  });
});
