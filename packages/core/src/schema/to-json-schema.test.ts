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
import { toJsonSchema, type Schema } from './index.js';

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

  it('keeps objects open that the schema leaves open', () => {
    expect(toJsonSchema(z.looseObject({ a: z.string() }), 'input')['additionalProperties']).not.toBe(false);
    expect(toJsonSchema(z3.object({ a: z3.string() }).passthrough(), 'input')['additionalProperties']).not.toBe(false);
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
