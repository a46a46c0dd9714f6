import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { expect, it, describe } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-v3';
import * as mini from 'zod/mini';
import { majors, type Major } from '../../test/ai-sdk-majors.js';
import type { Schema } from '../schema/index.js';
import { createTool } from './index.js';

const person = z.object({ name: z.string(), email: z.email().optional() });
const person3 = z3.object({ name: z3.string(), email: z3.string().email().optional() });
const node = z.object({
  name: z.string(),
  get children() {
    return z.array(node);
  },
});
const node3: z3.ZodType = z3.object({ name: z3.string(), children: z3.lazy(() => z3.array(node3)) });
const nodeOfValibot: v.GenericSchema = v.object({ name: v.string(), children: v.array(v.lazy(() => nodeOfValibot)) });
const named = z.object({ a: z.string() }).meta({ id: 'Named' });
const valibot = (schema: Parameters<typeof toStandardJsonSchema>[0]): Schema => toStandardJsonSchema(schema);

/** Schemas that reach the model as those of the AI SDK's `tool()` do. */
const same: Record<string, Schema> = {
  'zod: no members': z.object({}),
  'zod: texts and numbers': z.object({ a: z.string().min(1).max(9), n: z.number().int().positive() }),
  'zod: optional and nullable members': z.object({ a: z.string().optional(), b: z.string().nullable() }),
  'zod: defaults': z.object({ page: z.number().default(1), tags: z.array(z.string()).default([]) }),
  'zod: descriptions': z.object({ city: z.string().describe('Name of the city') }).describe('Place'),
  'zod: enumeration and literal': z.object({ unit: z.enum(['c', 'f']), kind: z.literal('weather') }),
  'zod: objects in objects': z.object({ a: z.object({ b: z.object({ c: z.boolean() }) }) }),
  'zod: objects in arrays': z.object({ list: z.array(z.object({ id: z.string() })) }),
  'zod: an object used twice': z.object({ from: person, to: person }),
  'zod: optional object': z.object({ a: z.object({ b: z.string() }).optional() }),
  'zod: nullable object': z.object({ a: z.object({ b: z.string() }).nullable() }),
  'zod: strict object': z.strictObject({ a: z.string() }),
  'zod: loose object': z.looseObject({ a: z.string() }),
  'zod: passthrough': z.object({ inner: z.object({ a: z.string() }).loose() }),
  'zod: catchall': z.object({ a: z.string() }).catchall(z.object({ b: z.number() })),
  'zod: record': z.object({ counts: z.record(z.string(), z.number()) }),
  'zod: record of objects': z.object({ people: z.record(z.string(), person) }),
  'zod: record with known keys': z.object({ r: z.record(z.enum(['a', 'b']), z.object({ n: z.number() })) }),
  'zod: union of objects': z.object({ u: z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]) }),
  'zod: discriminated union at the root': z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a'), n: z.number() }),
    z.object({ kind: z.literal('b'), s: z.string() }),
  ]),
  'zod: intersection': z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
  'zod: recursion': node,
  'zod: named schema': z.object({ a: named, b: named.describe('the other') }),
  'zod: tuple': z.object({ t: z.tuple([z.string(), z.object({ n: z.number() })]) }),
  'zod: tuple with a rest': z.object({ t: z.tuple([z.string()], z.number()) }),
  'zod: transform and pipe': z.object({ n: z.string().transform(Number).pipe(z.number()) }),
  'zod: formats': z.object({ id: z.uuid(), at: z.iso.datetime(), url: z.url() }),
  'zod: anything': z.object({ any: z.any(), unknown: z.unknown(), json: z.json() }),
  'zod: keys of any kind': z.object({ 'a/b': z.object({ '~x': z.string() }), $ref: z.object({ y: z.string() }) }),
  'zod/mini: objects': mini.object({ a: mini.object({ b: mini.optional(mini.string()) }) }),
  'zod/mini: loose object': mini.looseObject({ a: mini.string() }),
  'zod 3: objects in objects': z3.object({ a: z3.object({ b: z3.string().optional() }) }),
  'zod 3: an object used twice': z3.object({ from: person3, to: person3 }),
  'zod 3: bounds': z3.object({ n: z3.number().positive().max(10), m: z3.number().int().lt(5) }),
  'zod 3: passthrough': z3.object({ a: z3.object({ b: z3.string() }).passthrough() }),
  'zod 3: catchall': z3.object({ a: z3.string() }).catchall(z3.number()),
  'zod 3: strict object': z3.object({ a: z3.string() }).strict(),
  'zod 3: record': z3.object({ counts: z3.record(z3.number()) }),
  'zod 3: union': z3.object({ u: z3.union([z3.object({ a: z3.string() }), z3.object({ b: z3.number() })]) }),
  'zod 3: tuple with a rest': z3.object({ t: z3.tuple([z3.string()]).rest(z3.number()) }),
  'zod 3: intersection': z3.object({ a: z3.string() }).and(z3.object({ b: z3.string() })),
  'zod 3: date and default': z3.object({ at: z3.date(), n: z3.number().default(1) }),
  'Valibot: objects': valibot(v.object({ a: v.object({ b: v.optional(v.string()) }), list: v.array(v.object({})) })),
  'Valibot: strict object': valibot(v.strictObject({ a: v.string() })),
  'Valibot: further members': valibot(v.objectWithRest({ a: v.string() }, v.number())),
  'Valibot: record': valibot(v.object({ r: v.record(v.string(), v.object({ a: v.string() })) })),
  'Valibot: variant': valibot(v.variant('k', [v.object({ k: v.literal('a') }), v.object({ k: v.literal('b') })])),
  'ArkType: objects': type({ a: { 'b?': 'string' }, list: type({ id: 'string' }).array() }),
  'ArkType: rejects further members': type({ '+': 'reject', a: 'string' }),
  'ArkType: record': type({ counts: { '[string]': 'number' } }),
  'ArkType: union': type({ kind: '"a"', x: 'string' }).or({ kind: '"b"', y: 'number' }),
};

const object = (properties: object, rest: object = { additionalProperties: false }): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...rest,
});
const text = { type: 'string' };

/** Schemas that `tool()` refuses, or describes as rejecting values that they accept. */
const different: Record<string, { schema: Schema; expected: object }> = {
  'zod: a date, which tool() refuses': {
    schema: z.object({ at: z.date() }),
    expected: object({ at: { type: 'string', format: 'date-time' } }),
  },
  'zod: a record with a pattern stays open': {
    schema: z.object({ r: z.looseRecord(z.string().regex(/^x-/), z.string()) }),
    expected: object({ r: { type: 'object', patternProperties: { '^x-': text } } }),
  },
  'zod: members of an intersection stay open': {
    schema: z.object({ both: named.and(z.object({ b: z.object({ c: z.string() }) })) }),
    expected: object(
      { both: { allOf: [{ $ref: '#/definitions/Named' }, object({ b: object({ c: text }, {}) }, {})] } },
      { additionalProperties: false, definitions: { Named: object({ a: text }, {}) } },
    ),
  },
  'zod 3: recursion, which tool() leaves out': {
    schema: z3.object({ root: node3 }),
    expected: object({
      root: object({ name: text, children: { type: 'array', items: { $ref: '#/properties/root' } } }),
    }),
  },
  'Valibot: a loose object stays open': {
    schema: valibot(v.object({ a: v.looseObject({ b: v.string() }) })),
    expected: object({ a: object({ b: text }, { additionalProperties: {} }) }),
  },
  'Valibot: members of an intersection stay open': {
    schema: valibot(v.object({ a: v.intersect([v.object({ b: v.string() }), v.object({ c: v.string() })]) })),
    expected: object({ a: { allOf: [object({ b: text }, {}), object({ c: text }, {})] } }),
  },
  'Valibot: recursive objects are closed': {
    schema: valibot(nodeOfValibot),
    expected: object(
      { name: text, children: { type: 'array', items: { $ref: '#/$defs/0' } } },
      {
        additionalProperties: false,
        $defs: { 0: object({ name: text, children: { type: 'array', items: { $ref: '#/$defs/0' } } }) },
      },
    ),
  },
  'ArkType: any object stays open': {
    schema: type({ o: 'object' }),
    expected: object({ o: { type: 'object' } }),
  },
};

interface OfferedTool {
  name: string;
  inputSchema: Record<string, unknown>;
  strict?: boolean;
}

/** Returns the tools that the model receives, by name. */
async function offer(major: Major, tools: Record<string, unknown>): Promise<Map<string, OfferedTool>> {
  const { model, calls } = major.createModel([{ say: 'done' }]);
  await major.generate({ model, tools, prompt: 'go' });
  return new Map(((calls()[0]?.tools ?? []) as OfferedTool[]).map((tool) => [tool.name, tool]));
}

const create = (inputSchema: Schema, strict = false): object =>
  createTool({ id: 't', description: 'x', inputSchema, ...(strict && { strict }) });

const mapSchemas = (
  schemas: readonly (readonly [string, Schema])[],
  toTool: (schema: Schema) => object,
): Record<string, object> => Object.fromEntries(schemas.map(([name, schema]) => [name, toTool(schema)]));

/** AI SDK 5 left objects inside of unions and definitions open. */
const openInSdk5: ReadonlySet<string> = new Set([
  'zod: nullable object',
  'zod: union of objects',
  'zod: discriminated union at the root',
  'zod: named schema',
]);

describe.each(majors)('the schema that a model of AI SDK $version receives', (major) => {
  const { tool } = major.sdk as { tool: (options: object) => object };
  const isSdk5 = major.version === 5;
  // AI SDK 5 takes no other Standard Schemas than zod's.
  const isComparable = (name: string): boolean => !isSdk5 || (name.startsWith('zod') && !openInSdk5.has(name));

  it('is that of tool(), without $schema', async () => {
    const compared = Object.entries(same).filter(([name]) => isComparable(name));
    expect(compared.length).toBeGreaterThanOrEqual(isSdk5 ? 38 : 50);
    const mine = await offer(
      major,
      mapSchemas(compared, (schema) => create(schema)),
    );
    const theirs = await offer(
      major,
      mapSchemas(compared, (inputSchema) => tool({ inputSchema, description: 'x' })),
    );
    for (const [name] of compared) {
      const { $schema, ...rest } = theirs.get(name)?.inputSchema ?? {};
      expect($schema, name).toBe('http://json-schema.org/draft-07/schema#');
      expect.soft(mine.get(name)?.inputSchema, name).toEqual(rest);
    }
  });

  it('is the same for strict tools, and in all majors', async () => {
    const all = [
      ...Object.entries(same),
      ...Object.entries(different).map(([name, { schema }]) => [name, schema] as const),
    ];
    const strict = await offer(
      major,
      mapSchemas(all, (schema) => create(schema, true)),
    );
    const latest = await offer(
      majors.at(-1) as Major,
      mapSchemas(all, (schema) => create(schema)),
    );
    for (const [name] of all) {
      expect.soft(strict.get(name)?.inputSchema, name).toEqual(latest.get(name)?.inputSchema);
      // AI SDK 5 has no strict tools.
      expect(strict.get(name)?.strict, name).toBe(isSdk5 ? undefined : true);
    }
  });

  it.each(Object.entries(different))('describes more than that of tool() (%s)', async (_name, { schema, expected }) => {
    const offered = await offer(major, { t: create(schema) });
    expect(offered.get('t')?.inputSchema).toEqual(expected);
  });

  it('is unchanged if it was given as JSON Schema', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2019-09/schema#',
      type: 'object',
      properties: { a: { type: 'object', properties: {} } },
    };
    const offered = await offer(major, { t: create(schema, true) });
    expect(offered.get('t')?.inputSchema).toEqual(schema);
  });

  it('does not reject further members in a call, because the tool validates with its own schema', async () => {
    const received: unknown[] = [];
    const strip = createTool({
      id: 't',
      description: 'x',
      inputSchema: z.object({ a: z.string() }),
      execute: async (input) => received.push(input),
    });
    const { model } = major.createModel([{ call: 'strip', input: { a: 'x', b: 1 } }, { say: 'done' }]);
    await major.generate({ model, tools: { strip }, prompt: 'go' });
    expect(received).toEqual([{ a: 'x' }]);
  });
});
