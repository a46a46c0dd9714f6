import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { jsonSchema as jsonSchema5, zodSchema as zodSchema5 } from 'ai-v5';
import { jsonSchema as jsonSchema6 } from 'ai-v6';
import { jsonSchema as jsonSchema7 } from 'ai-v7';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-v3';
import * as mini from 'zod/mini';
import { z as z3InV4 } from 'zod/v3';
import { createTool } from '../tools/index.js';
import { toJsonSchema, toModelSchema, validate, type Schema } from './index.js';

const expected = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'number' } },
  required: ['city'],
};

const libraries: Record<string, Schema> = {
  'zod 4': z.object({ city: z.string(), days: z.number().optional() }),
  'zod/mini': mini.object({ city: mini.string(), days: mini.optional(mini.number()) }),
  'zod 3': z3.object({ city: z3.string(), days: z3.number().optional() }),
  'zod 3 inside zod 4': z3InV4.object({ city: z3InV4.string(), days: z3InV4.number().optional() }),
  ArkType: type({ city: 'string', 'days?': 'number' }),
  'Valibot with its adapter': toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number()) })),
  'AI SDK 5 jsonSchema()': jsonSchema5(expected as never) as Schema,
  'AI SDK 5 zodSchema()': zodSchema5(z.object({ city: z.string(), days: z.number().optional() })) as Schema,
  'AI SDK 6 jsonSchema()': jsonSchema6(expected as never) as Schema,
  'AI SDK 7 jsonSchema()': jsonSchema7(expected as never) as Schema,
  'a lazy schema of the AI SDK': (() => jsonSchema6(expected as never)) as unknown as Schema,
  'JSON Schema': expected,
};

/** Libraries whose schemas are converted. Schemas of the AI SDK carry their JSON Schema. */
const converted = Object.fromEntries(Object.entries(libraries).filter(([name]) => !name.includes('AI SDK')));

const draft7 = 'http://json-schema.org/draft-07/schema#';

describe('toJsonSchema', () => {
  it.each(Object.entries(libraries))('describes the input of %s', (_name, schema) => {
    expect(toJsonSchema(schema, 'input')).toMatchObject(expected);
  });

  it.each(Object.entries(libraries))('converts %s once', (_name, schema) => {
    expect(toJsonSchema(schema, 'input')).toBe(toJsonSchema(schema, 'input'));
  });

  it.each([
    ['zod 4', z.object({ a: z.string().default('x') })],
    ['zod 3', z3.object({ a: z3.string().default('x') })],
  ])('does not require a defaulted key of the input: %s', (_name, schema) => {
    expect(toJsonSchema(schema, 'input')['required']).toBeUndefined();
  });

  it.each([
    ['zod 4', z.object({ a: z.string().transform(Number) })],
    ['zod 3', z3.object({ a: z3.string().transform(Number) })],
  ])('describes what goes into a transform, and anything as what comes out: %s', (_name, schema) => {
    expect(toJsonSchema(schema, 'input')).toMatchObject({ properties: { a: { type: 'string' } } });
    expect(toJsonSchema(schema, 'output')).toMatchObject({ properties: { a: {} } });
    expect((toJsonSchema(schema, 'output')['properties'] as { a: { type?: string } }).a.type).not.toBe('string');
  });

  it.each([
    ['zod 4', z.object({ at: z.date() })],
    ['zod 3', z3.object({ at: z3.date() })],
  ])('describes a date as the text it travels as: %s', (_name, schema) => {
    expect(toJsonSchema(schema, 'output')).toMatchObject({
      properties: { at: { type: 'string', format: 'date-time' } },
    });
  });

  it('accepts anything where zod 4 has no JSON Schema', () => {
    const schema = z.object({ map: z.map(z.string(), z.number()), big: z.bigint(), ok: z.boolean() });
    expect(toJsonSchema(schema, 'input')).toMatchObject({ properties: { map: {}, big: {}, ok: { type: 'boolean' } } });
  });

  it.each([
    ['zod 4', z.object({ a: z.string() })],
    ['zod/mini', mini.object({ a: mini.string() })],
    ['zod 3', z3.object({ a: z3.string() })],
    ['ArkType', type({ a: 'string' })],
    ['Valibot', toStandardJsonSchema(v.object({ a: v.string() }))],
  ])('does not close the input of an object that ignores further members: %s', (_name, schema) => {
    expect(toJsonSchema(schema, 'input')).toEqual({
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
    });
  });

  it.each<[string, Schema, unknown]>([
    ['zod 4, loose', z.looseObject({ a: z.string() }), {}],
    ['zod 4, strict', z.strictObject({ a: z.string() }), false],
    ['zod 3, passthrough', z3.object({ a: z3.string() }).passthrough(), true],
    ['zod 3, strict', z3.object({ a: z3.string() }).strict(), false],
    ['zod 3, catchall', z3.object({ a: z3.string() }).catchall(z3.number()), { type: 'number' }],
    ['Valibot, loose', toStandardJsonSchema(v.looseObject({ a: v.string() })), {}],
    ['Valibot, strict', toStandardJsonSchema(v.strictObject({ a: v.string() })), false],
    ['ArkType, reject', type({ '+': 'reject', a: 'string' }), false],
  ])('describes further members that the schema defines: %s', (_name, schema, expected) => {
    expect(toJsonSchema(schema, 'input')['additionalProperties']).toEqual(expected);
  });

  it.each(Object.entries(converted))('names no version for %s', (_name, schema) => {
    for (const described of [toJsonSchema(schema, 'input'), toJsonSchema(schema, 'output'), toModelSchema(schema)])
      expect(described).not.toHaveProperty('$schema');
  });

  it('keeps the version that a library writes instead of the requested one', () => {
    const described = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: {} };
    const validateAny = (value: unknown) => ({ value });
    const standard = (vendor: string) => ({
      '~standard': {
        version: 1 as const,
        vendor,
        validate: validateAny,
        jsonSchema: { input: () => described, output: () => described },
      },
    });
    expect(toJsonSchema(standard('older'), 'input')).toBe(described);
    expect(toModelSchema(standard('older'))).toEqual({ type: 'object', properties: {}, additionalProperties: false });
    // The schema of a remote tool is the server's own.
    expect(toModelSchema(standard('mcp'))).toBe(described);
  });

  it('describes zod 3 in the words of 2020-12', () => {
    const schema = z3.object({
      above: z3.number().positive().lt(9),
      pair: z3.tuple([z3.string(), z3.number()]),
      list: z3.tuple([z3.string()]).rest(z3.boolean()),
    });
    expect(toJsonSchema(schema, 'input')['properties']).toEqual({
      above: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 9 },
      pair: { type: 'array', minItems: 2, maxItems: 2, prefixItems: [{ type: 'string' }, { type: 'number' }] },
      list: { type: 'array', minItems: 1, prefixItems: [{ type: 'string' }], items: { type: 'boolean' } },
    });
  });

  it('describes recursive schemas of zod 3 with references that lead to them', () => {
    const tree: z3.ZodType = z3.object({
      'a/b~': z3.lazy(() => tree.optional()),
      items: z3.array(z3.lazy(() => tree)),
    });
    const schema = z3.object({ items: z3.tuple([tree]).rest(tree), properties: z3.object({ x: tree, y: tree }) });
    const value = { 'a/b~': { items: [] }, items: [{ items: [] }] };
    const good = { items: [value, value], properties: { x: value, y: value } };
    const wrong = { items: [{ items: 1 }] };
    const bad = [
      { ...good, items: [wrong] },
      { ...good, items: [value, wrong] },
      { ...good, properties: { x: value, y: wrong } },
      { ...good, properties: { x: { ...value, 'a/b~': wrong }, y: value } },
    ];
    for (const described of [toJsonSchema(schema, 'input'), { ...toModelSchema(schema), $schema: draft7 }]) {
      expect(validate(described, good)).toMatchObject({ ok: true });
      for (const value of bad) expect(validate(described, value)).toMatchObject({ ok: false });
    }
  });

  it('describes types of zod 3 that contain each other once, and repeats at most thousands of parts', () => {
    const types = Array.from({ length: 12 }, (_, own) => z3.lazy((): z3.ZodType => objects[own] as z3.ZodType));
    const members = Object.fromEntries(types.map((each, index) => [`t${index}`, each.optional()]));
    const objects = types.map((_, own) => z3.object({ ...members, kind: z3.literal(own) }));
    const nested = (kind: number): object => ({ t0: { kind: 0, t3: { kind: 3, t5: { kind: 5, t1: { kind } } } } });
    const mutual = z3.object({ t0: types[0] as z3.ZodType });
    const described = toJsonSchema(mutual, 'input');
    expect(validate(described, nested(1))).toMatchObject({ ok: true });
    expect(validate(described, nested(2))).toMatchObject({ ok: false });
    let doubled: z3.ZodType = z3.object({ leaf: z3.string() });
    for (let depth = 0; depth < 40; depth += 1) doubled = z3.object({ left: doubled, right: doubled });
    for (const each of [described, toModelSchema(mutual), toJsonSchema(doubled, 'input'), toModelSchema(doubled)])
      expect(JSON.stringify(each).length).toBeLessThan(1_000_000);
  });

  it('describes the schema of a tool in both directions', () => {
    const { inputSchema } = createTool({
      id: 't',
      description: 'x',
      inputSchema: z.object({ a: z.string().default('x') }),
    });
    expect(toJsonSchema(inputSchema, 'input')).toEqual({
      type: 'object',
      properties: { a: { type: 'string', default: 'x' } },
    });
    expect(toJsonSchema(inputSchema, 'output')).toMatchObject({ required: ['a'], additionalProperties: false });
    expect(toModelSchema(inputSchema)).toMatchObject({ additionalProperties: false });
  });

  it('closes objects with a member named __proto__', () => {
    const shape = Object.fromEntries([['__proto__', z.object({ a: z.string() })]]);
    const text = JSON.stringify(toModelSchema(z.object({ inner: z.object(shape) })));
    expect(text).toContain('"__proto__":{"type":"object","properties":{"a":{"type":"string"}}');
  });

  it('keeps references of a recursive schema', () => {
    const node = z.object({
      name: z.string(),
      get children() {
        return z.array(node);
      },
    });
    const text = JSON.stringify(toJsonSchema(node, 'input'));
    expect(text).toContain('$ref');
    expect(text.length).toBeLessThan(2000);
  });

  it('survives a schema that is 200 levels deep', () => {
    let schema: z.ZodType = z.string();
    for (let depth = 0; depth < 200; depth += 1) schema = z.object({ next: schema });
    expect(JSON.stringify(toJsonSchema(schema, 'input'))).toContain('next');
  });

  it('says what to do when the library cannot describe its schemas', () => {
    const describeIt = () => toJsonSchema(v.object({ a: v.string() }), 'input');
    expect(describeIt).toThrow(expect.objectContaining({ code: 'SCHEMA_NOT_REPRESENTABLE' }));
    expect(describeIt).toThrow("'valibot'");
    expect(describeIt).toThrow('@valibot/to-json-schema');
  });

  it.each([
    ['a string', 'x'],
    ['a number', 42],
    ['null', null],
    ['undefined', undefined],
    ['a copy of zod 4 through JSON', JSON.parse(JSON.stringify(z.object({ a: z.string() })))],
    ['a copy of zod 3 through JSON', JSON.parse(JSON.stringify(z3.object({ a: z3.string() })))],
    ['a class', Map],
    ['a function that makes no schema', () => 'x'],
  ])('refuses %s', (_name, value) => {
    expect(() => toJsonSchema(value as never, 'input')).toThrow(
      expect.objectContaining({ code: 'SCHEMA_NOT_RECOGNISED' }),
    );
  });
});
