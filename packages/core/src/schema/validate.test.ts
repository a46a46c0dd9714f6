import { spawnSync } from 'node:child_process';
import { jsonSchema, zodSchema } from 'ai-v6';
import { type } from 'arktype';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-v3';
import { cpuTimeRatio, expectLinearTime } from '../../../../scripts/test-cpu-time.ts';
import { validate, validateJsonSchema, type JsonSchema, type Schema } from './index.js';

const libraries: Record<string, Schema> = {
  'zod 4': z.object({ user: z.object({ ages: z.array(z.number()) }) }),
  'zod 3': z3.object({ user: z3.object({ ages: z3.array(z3.number()) }) }),
  Valibot: v.object({ user: v.object({ ages: v.array(v.number()) }) }),
  ArkType: type({ user: { ages: 'number[]' } }),
  'AI SDK zodSchema()': zodSchema(z.object({ user: z.object({ ages: z.array(z.number()) }) })) as Schema,
  'JSON Schema': {
    type: 'object',
    properties: {
      user: { type: 'object', properties: { ages: { type: 'array', items: { type: 'number' } } }, required: ['ages'] },
    },
    required: ['user'],
  },
};

describe('validate', () => {
  it.each(Object.entries(libraries))('accepts a good value of %s', async (_name, schema) => {
    expect(await validate(schema, { user: { ages: [1, 2] } })).toEqual({ ok: true, value: { user: { ages: [1, 2] } } });
  });

  it.each(Object.entries(libraries))('names the place that is wrong in %s', async (_name, schema) => {
    const result = await validate(schema, { user: { ages: [1, 'two'] } });
    expect(result).toMatchObject({ ok: false, issues: [{ path: ['user', 'ages', 1] }] });
  });

  it('is synchronous when the schema is', () => {
    const { 'AI SDK zodSchema()': _asynchronous, ...synchronous } = libraries;
    for (const schema of Object.values(synchronous)) expect(validate(schema, {})).not.toBeInstanceOf(Promise);
  });

  it('waits for asynchronous checks', async () => {
    const schema = z.object({ name: z.string().refine(async (name) => name !== 'taken', 'is taken') });
    expect(await validate(schema, { name: 'free' })).toEqual({ ok: true, value: { name: 'free' } });
    expect(await validate(schema, { name: 'taken' })).toEqual({
      ok: false,
      issues: [{ path: ['name'], message: 'is taken' }],
    });
  });

  it('fills in defaults and applies transforms', () => {
    const schema = z.object({ a: z.string().default('x'), n: z.string().transform(Number) });
    expect(validate(schema, { n: '5' })).toEqual({ ok: true, value: { a: 'x', n: 5 } });
  });

  it('uses the check that an AI SDK schema brings along', async () => {
    const schema = jsonSchema<number>(
      { type: 'number' },
      {
        validate: (value) =>
          value === 1 ? { success: true, value: 1 } : { success: false, error: new Error('only one is allowed') },
      },
    );
    expect(await validate(schema as Schema, 1)).toEqual({ ok: true, value: 1 });
    expect(await validate(schema as Schema, 2)).toEqual({
      ok: false,
      issues: [{ path: [], message: 'only one is allowed' }],
    });
  });

  it('validates an AI SDK schema without `validate` by its JSON Schema', async () => {
    const schema = jsonSchema({ type: 'object', properties: { a: { type: 'string' } } }) as Schema;
    expect(await validate(schema, { a: 1 })).toMatchObject({ ok: false, issues: [{ path: ['a'] }] });
  });

  it('waits for the JSON Schema of an AI SDK schema that is made asynchronously', async () => {
    const schema = jsonSchema(async () => ({ type: 'object', required: ['a'] })) as Schema;
    expect(await validate(schema, {})).toMatchObject({ ok: false });
    expect(await validate(schema, { a: 1 })).toEqual({ ok: true, value: { a: 1 } });
  });
});

describe('validate with JSON Schema', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };

  it('treats undefined properties as absent and dates as their text', () => {
    const dated = {
      type: 'object',
      properties: { at: { type: 'string', format: 'date-time' }, note: { type: 'string' } },
    };
    expect(validate(dated, { at: new Date(0), note: undefined })).toMatchObject({ ok: true });
  });

  it('refuses a value that JSON cannot carry instead of crashing', () => {
    const circular: Record<string, unknown> = { a: 'x' };
    circular['self'] = circular;
    const nested = { type: 'object', properties: { self: schema, n: { type: 'number' } } };
    expect(validate({ ...nested, additionalProperties: { type: 'string' } }, { n: 1n })).toMatchObject({ ok: false });
    expect(() => validate(nested, circular)).not.toThrow();
  });

  it('accepts a key that is not well-formed Unicode', () => {
    expect(validate({ type: 'object', additionalProperties: { type: 'number' } }, { '\ud800': 1 })).toMatchObject({
      ok: true,
    });
  });

  it('names every key in the path of an issue, the empty one too', () => {
    const numbers = { type: 'object', additionalProperties: { type: 'number' } };
    for (const key of ['', 'a/b~c', '100%', '~1'])
      expect(validate(numbers, { [key]: 'x' })).toMatchObject({ ok: false, issues: [{ path: [key] }] });
  });

  it('names the key that is missing or unknown', () => {
    const closed = { type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: false };
    expect(validate(closed, { b: 1 })).toEqual({
      ok: false,
      issues: [
        { path: ['a'], message: 'Required property is missing.' },
        { path: ['b'], message: 'Unknown property.' },
      ],
    });
  });

  it('explains why no branch of a small union matches', () => {
    const union = { anyOf: [{ type: 'string' }, { type: 'object', required: ['kind'] }] };
    expect(validate(union, {})).toMatchObject({
      ok: false,
      issues: [{ path: [] }, { path: [], message: 'Expected string, received object.' }, { path: ['kind'] }],
    });
  });

  it('refuses every value that lacks a required key, and never throws', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const result = validate(schema, value) as { ok: boolean };
        expect(result.ok).toBe(typeof value['a'] === 'string' && Object.hasOwn(value, 'a'));
      }),
    );
  });

  it('reads hostile keys as ordinary keys', () => {
    const value = JSON.parse('{"a":"x","__proto__":{"polluted":true},"constructor":1}') as unknown;
    expect(validate(schema, value)).toMatchObject({ ok: true });
    const result = validate({ type: 'object', additionalProperties: { type: 'string' } }, value);
    expect(result).toMatchObject({
      ok: false,
      issues: expect.arrayContaining([{ path: ['constructor'], message: expect.any(String) as string }]) as unknown,
    });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('says which schema is broken when a reference leads nowhere', () => {
    const broken = { type: 'object', properties: { a: { $ref: '#/$defs/missing' } } };
    expect(() => validate(broken, { a: 1 })).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
  });

  const $defs: Record<string, object> = { d0: { type: 'number' } };
  for (let level = 1; level <= 40; level += 1) {
    const below = { $ref: `#/$defs/d${level - 1}` };
    $defs[`d${level}`] = { anyOf: [below, below] };
  }
  const rows = (length: number, row: (index: number) => unknown): unknown[] => Array.from({ length }, (_, n) => row(n));
  const limited: [string, JsonSchema, unknown][] = [
    ['references that double at each level', { $ref: '#/$defs/d40', $defs }, 'x'],
    [
      'a large anyOf for each item',
      { items: { anyOf: rows(5000, (n) => ({ enum: [{ n }] })) } },
      rows(20_000, (n) => ({ n: -n })),
    ],
    [
      'many schemas for one large object',
      { allOf: rows(5000, () => ({ minProperties: 1 })) },
      Object.fromEntries(rows(20_000, (n) => [`a${String(n)}`, n]) as [string, number][]),
    ],
    ['many comparisons of all items', { allOf: rows(5000, () => ({ uniqueItems: true })) }, rows(5000, (n) => n)],
    [
      'many lists of dependencies',
      { allOf: rows(1000, () => ({ dependentRequired: { a: rows(1000, () => 'a') } })) },
      { a: 1 },
    ],
    [
      'many patterns for no property',
      {
        allOf: rows(100, () => ({
          patternProperties: Object.fromEntries(rows(1000, (n) => [`k${String(n)}`, true]) as [string, boolean][]),
        })),
      },
      {},
    ],
    ['many comparisons of a long key', { allOf: rows(1000, () => ({ not: { const: 1 } })) }, { ['x'.repeat(1e5)]: 1 }],
    ['many lengths of a long text', { allOf: rows(10_000, () => ({ minLength: 1e6 })) }, 'é'.repeat(1e6)],
  ];

  it.each(limited)('refuses to check %s', (_name, schema, value) => {
    expect(() => validate(schema, value)).toThrow(expect.objectContaining({ code: 'SCHEMA_TOO_COMPLEX' }));
  });

  it.each<[string, JsonSchema, (length: number) => unknown]>([
    ['uniqueItems', { uniqueItems: true }, (length) => rows(length, (n) => ({ a: n, b: [n] }))],
    ['enum', { items: { enum: rows(5000, (a) => ({ a })) } }, (length) => rows(length, (a) => ({ a: a % 5000 }))],
    ['const', { items: { not: { const: rows(500, (a) => ({ a })) } } }, (length) => rows(length, (a) => ({ a }))],
  ])('compares values with %s in linear time', (_name, schema, make) =>
    expectLinearTime((length) => expect(validate(schema, make(length))).toMatchObject({ ok: true }), 5000),
  );

  it.each<[string, object, (length: number) => [JsonSchema, unknown]]>([
    ['items that are refused', { items: false }, (length) => [{}, rows(length, () => 0)]],
    ['tuples that are refused', { prefixItems: [false] }, (length) => [{}, rows(length, () => 0)]],
    ['unevaluated items that are refused', { unevaluatedItems: false }, (length) => [{}, rows(length, () => 0)]],
    ['values outside of an enum', { $ref: '#/$defs/known' }, (length) => [{ enum: rows(length, (n) => n) }, 'x']],
  ])('refuses %s in a time that does not depend on their number', async (_name, branch, make) => {
    const checkOf = ([known, value]: [JsonSchema, unknown]) => {
      const schema = { anyOf: rows(2000, () => branch), $defs: { known } } as JsonSchema;
      return () => expect(validate(schema, value)).toMatchObject({ ok: false });
    };
    const large = checkOf(make(40_000));
    // Prepares the schema.
    large();
    // Copies of all parts would take a hundred times as long.
    expect(await cpuTimeRatio(large, checkOf(make(100)))).toBeLessThan(10);
  });

  it('resolves nested identifiers without visiting a schema twice', () => {
    let nested: object = { type: 'object' };
    for (let level = 0; level < 60; level += 1) nested = { $id: `https://x/${level}`, properties: { a: nested } };
    expect(validate(nested as JsonSchema, { a: { a: 1 } })).toMatchObject({ ok: true });
  });

  it('leaves patterns out on request, with what they may allow', () => {
    const hostile = {
      properties: { text: { type: 'string', pattern: '^(a+)+$' } },
      patternProperties: { '^x-': { type: 'string' } },
      additionalProperties: false,
    };
    const check = (value: unknown) => validateJsonSchema(hostile, value, { checkPatterns: false }).ok;
    expect(check({ text: `${'a'.repeat(50)}!`, 'x-a': 1 })).toBe(true);
    expect(check({ text: 1 })).toBe(false);
    expect(validateJsonSchema(hostile, { 'x-a': 1 }).ok).toBe(false);
  });

  it.each([
    ['date-time', '2026-11-22T03:39:57.5+01:00', '2026-02-30T03:39:57Z'],
    ['duration', 'P1Y2M3DT4H5M6S', 'P'],
    ['email', '"a b"@example.com', 'a..b@example.com'],
    ['hostname', 'a-b.example', '-a.example'],
    ['ipv4', '127.0.0.1', '127.0.0.256'],
    ['ipv6', '::ffff:127.0.0.1', '1:2:3'],
    ['uri', 'urn:isbn:0451450523', '//example.com/a'],
    ['uri-reference', '../a?b#c', 'a b'],
    ['uri-template', '/users{/id}{?q*}', '/users{'],
    ['uuid', '851638b1-a2af-4b7e-82b5-0b0b88555afe', '851638b1a2af4b7e82b50b0b88555afe'],
    ['json-pointer', '/a~1b/0', 'a'],
    ['unknown-format', 'anything', undefined],
  ])('checks the format %s', (format, good, bad) => {
    expect(validate({ format }, good)).toMatchObject({ ok: true });
    if (bad !== undefined) expect(validate({ format }, bad)).toMatchObject({ ok: false });
  });

  it('resolves dynamic references through the schemas that lead to them', () => {
    const tree = {
      $id: 'https://example.com/tree',
      $dynamicAnchor: 'node',
      type: 'object',
      properties: { data: true, children: { type: 'array', items: { $dynamicRef: '#node' } } },
    };
    const strict = {
      $id: 'https://example.com/strict-tree',
      $dynamicAnchor: 'node',
      $ref: 'tree',
      unevaluatedProperties: false,
      $defs: { tree },
    };
    expect(validate(strict, { children: [{ data: 1 }] })).toMatchObject({ ok: true });
    expect(validate(strict, { children: [{ daat: 1 }] })).toMatchObject({ ok: false });
  });

  it('follows as many references as a large value needs', () => {
    const list = { type: 'array', items: { $ref: '#/$defs/row' }, $defs: { row: { type: 'object' } } };
    expect(
      validate(
        list,
        Array.from({ length: 50_000 }, () => ({})),
      ),
    ).toMatchObject({ ok: true });
  });

  it('refuses what is nested too deeply, and a schema that is nothing but itself', () => {
    const tree = { type: 'array', items: { $ref: '#' } };
    for (const depth of [3_000, 100_000]) {
      let value: unknown[] = [];
      for (let level = 0; level < depth; level += 1) value = [value];
      expect(() => validate(tree, value)).not.toThrow();
    }
    expect(validate({ $ref: '#' }, {})).toMatchObject({ ok: false });
  });

  it('says that a schema which contains itself as an object is broken', () => {
    const cyclic: Record<string, unknown> = { type: 'object' };
    cyclic['properties'] = { self: cyclic };
    expect(() => validate(cyclic, {})).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
  });

  it('takes a frozen schema, and leaves no trace in any', () => {
    const frozen = Object.freeze({ $ref: '#/$defs/a', $defs: Object.freeze({ a: Object.freeze({ type: 'string' }) }) });
    expect(validate(frozen, 'x')).toEqual({ ok: true, value: 'x' });
    expect(validate(frozen, 1)).toMatchObject({ ok: false });
    const part = { type: 'string' };
    validate({ properties: { part } }, { part: 'x' });
    expect(Reflect.ownKeys(part)).toEqual(['type']);
  });

  it('resolves the references of a part that two schemas share in each of them', () => {
    const properties = { a: { $ref: '#/$defs/a' } };
    const one = { $id: 'https://example.com/one', properties, $defs: { a: { type: 'string' } } };
    const two = { $id: 'https://example.com/two', properties, $defs: { a: { type: 'number' } } };
    expect(validate(one, { a: 'x' })).toMatchObject({ ok: true });
    expect(validate(two, { a: 1 })).toMatchObject({ ok: true });
    expect(validate(two, { a: 'x' })).toMatchObject({ ok: false });
  });

  it('does not take what every object inherits for a property', () => {
    const inherited = { type: 'object', properties: { toString: { type: 'string' }, constructor: { type: 'number' } } };
    expect(validate(inherited, {})).toEqual({ ok: true, value: {} });
    expect(validate({ ...inherited, required: ['toString'] }, {})).toMatchObject({ ok: false });
    expect(validate(inherited, { toString: 1 })).toMatchObject({ ok: false, issues: [{ path: ['toString'] }] });
  });

  it('ignores keywords of the wrong type', () => {
    const wrong = { properties: null, required: true, enum: 'a', pattern: 5, minimum: '1', items: [], allOf: {} };
    const schema: JsonSchema = { ...wrong, patternProperties: null, additionalProperties: { type: 'number' } };
    expect(validate(schema, { a: 1 })).toMatchObject({ ok: true });
    expect(validate(schema, { a: 'x' })).toMatchObject({ ok: false, issues: [{ path: ['a'] }] });
  });

  it('does not fetch a reference to another document', () => {
    expect(() => validate({ $ref: 'https://example.com/schema.json' }, {})).toThrow('cannot be used for validation');
  });
});

describe('validation without code generation', () => {
  it('works with every library', () => {
    const script = `
      import { validate, toJsonSchema } from '@quiver/core/schema';
      import { z } from 'zod';
      const json = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
      const results = await Promise.all([json, z.object({ a: z.string() })].flatMap((schema) => [validate(schema, { a: 'x' }), validate(schema, {})]));
      toJsonSchema(z.object({ a: z.string() }), 'input');
      try { new Function('return 1'); process.exit(3); } catch {}
      process.stdout.write(JSON.stringify(results.map((result) => result.ok)));
    `;
    const sourceHooks = new URL('../../../../scripts/source-hooks.mjs', import.meta.url);
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [
        '--disallow-code-generation-from-strings',
        '--conditions=@quiver/source',
        '--import',
        sourceHooks.href,
        '--input-type=module',
        '--eval',
        script,
      ],
      { encoding: 'utf8', cwd: new URL('../..', import.meta.url) },
    );
    expect(stderr).toBe('');
    expect(stdout).toBe('[true,false,true,false]');
  });
});
