import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-v3';
import { toJsonSchema, validate, type Schema, type ValidationResult } from '../schema/index.js';
import { createTool } from './create-tool.js';
import { executeTool } from './execute-tool.js';
import { repairInput } from './repair-input.js';
import { isToolFailure } from './tool-failure.js';

const validateInput = async (schema: Schema, input: unknown): Promise<ValidationResult<unknown>> => {
  const result = await validate(schema, input);
  return result.ok ? result : repairInput(schema, input, result);
};

const accepted = async (schema: Schema, input: unknown): Promise<unknown> => {
  const result = await validateInput(schema, input);
  return result.ok ? result.value : 'refused';
};

const fields = z.object({
  tags: z.array(z.string()),
  note: z.string().optional(),
  options: z.object({ n: z.number() }).optional(),
});

describe('repair of input', () => {
  it('creates dates and bigints from their JSON form', async () => {
    const tool = createTool({
      id: 'book',
      description: 'Books',
      inputSchema: z.object({ at: z.date(), seats: z.array(z.bigint()), note: z.string().optional(), id: z.string() }),
      execute: async (input) => input,
    });
    const { properties } = toJsonSchema(tool.inputSchema, 'input') as { properties: object };
    expect(properties).toMatchObject({ at: { type: 'string', format: 'date-time' } });
    const at = '2026-11-22T03:39:57.000Z';
    const input = { at, seats: [1, '12345678901234567890'], id: at };
    const expected = { at: new Date(at), seats: [1n, 12_345_678_901_234_567_890n], id: at };
    expect(await executeTool(tool, input)).toEqual(expected);
    expect(await executeTool(tool, { ...input, note: null })).toEqual(expected);
    for (const bad of ['2026-11-22', '2026-13-22T03:39:57Z', 1])
      expect(isToolFailure(await executeTool(tool, { ...input, at: bad }))).toBe(true);
    for (const bad of [1.5, 'one', 2 ** 60]) {
      expect(isToolFailure(await executeTool(tool, { ...input, seats: [bad] }))).toBe(true);
    }
  });

  it('parses arrays and objects that were sent as text', async () => {
    expect(await accepted(fields, { tags: '["a","b"]' })).toEqual({ tags: ['a', 'b'] });
    expect(await accepted(fields, { tags: ['a'], options: '{"n":1}' })).toEqual({ tags: ['a'], options: { n: 1 } });
    expect(await accepted(fields, '{"tags":["a"]}')).toEqual({ tags: ['a'] });
  });

  it('takes a list with a hundred thousand mistakes in its stride, and names the first hundred', async () => {
    const list = createTool({
      id: 'list',
      description: 'd',
      inputSchema: z.object({ list: z.array(z.string()), rest: z.record(z.string(), z.string()) }),
      execute: async () => 'ran',
    });
    const nothing = Array.from({ length: 100_000 }, () => null);
    const result: unknown = await list.execute({ list: nothing, rest: { ...nothing } } as never);
    if (!isToolFailure(result)) throw new Error('The input was accepted.');
    expect(Object.keys(result.validationErrors.fields['list']?.fields ?? {})).toHaveLength(100);
    expect(result.message).toContain('- and 199900 more');
    expect(result.message.length).toBeLessThan(20_000);
  });

  it('drops null where the schema knows no null', async () => {
    expect(await accepted(fields, { tags: ['a'], note: null, options: null })).toEqual({ tags: ['a'] });
    const nested = z.object({ inner: z.object({ a: z.string().optional(), b: z.string().nullable() }) });
    expect(await accepted(nested, { inner: { a: null, b: null } })).toEqual({ inner: { b: null } });
  });

  it('does both at once, also with zod 3 and JSON Schema', async () => {
    expect(await accepted(fields, { tags: '["a"]', note: null })).toEqual({ tags: ['a'] });
    const older = z3.object({ tags: z3.array(z3.string()), note: z3.string().optional() });
    expect(await accepted(older, { tags: '["a"]', note: null })).toEqual({ tags: ['a'] });
    const json = {
      type: 'object',
      properties: { tags: { type: 'array' }, note: { type: 'string' } },
      required: ['tags'],
    };
    expect(await accepted(json, { tags: '["a"]', note: null })).toEqual({ tags: ['a'] });
  });

  it('reads nothing at all as an empty object or array', async () => {
    expect(await accepted(z.object({ a: z.string().default('x') }), undefined)).toEqual({ a: 'x' });
    expect(await accepted(z.object({}), null)).toEqual({});
    expect(await accepted(z.array(z.string()), null)).toEqual([]);
  });

  it('knows the other names of a prompt', async () => {
    const schema = z.object({ prompt: z.string(), limit: z.number().optional() });
    for (const name of ['query', 'message', 'input'])
      expect(await accepted(schema, { [name]: 'hi', limit: 1 })).toEqual({ prompt: 'hi', limit: 1 });
    expect(await accepted(schema, { query: 5 })).toBe('refused');
  });

  it('leaves a valid input alone: text that looks like JSON, null, and undefined', async () => {
    const schema = z.object({ text: z.string(), nothing: z.null(), optional: z.string().optional() });
    const input = { text: '["a"]', nothing: null, optional: undefined };
    expect(await accepted(schema, input)).toEqual(input);
  });

  it('does not change the input it was given', async () => {
    const input = { tags: '["a"]', note: null, options: { n: null } };
    const before = structuredClone(input);
    await validateInput(fields, input);
    expect(input).toEqual(before);
  });

  it('reports the issues of the original input when no repair helps', async () => {
    const result = await validateInput(fields, { tags: '[1]', note: null });
    expect(result).toMatchObject({ ok: false, issues: [{ path: ['tags'] }, { path: ['note'] }] });
  });

  it('never throws and never accepts what the schema refuses', async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything(), async (input) => {
        const value = await accepted(fields, input);
        expect(value === 'refused' || fields.safeParse(value).success).toBe(true);
      }),
    );
  });
});
