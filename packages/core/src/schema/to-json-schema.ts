import type { StandardSchemaV1 } from '@standard-schema/spec';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { QuiverError, toErrorMessage } from '../errors.js';
import type { JsonSchema, Schema } from './schema.js';
import { describeSchema, isPromiseLike } from './validate.js';

/** `input` describes the accepted values; `output` the values after defaults and transforms. */
export type SchemaDirection = 'input' | 'output';

const converted: Record<SchemaDirection, WeakMap<object, JsonSchema>> = { input: new WeakMap(), output: new WeakMap() };

/**
 * Describes a schema as JSON Schema 2020-12.
 *
 * JSON Schema given as plain data (or through the AI SDK's `jsonSchema()`) is returned unchanged: the same object.
 * Other schemas are converted once per schema and direction. Dates become strings of format `date-time`; parts that JSON
 * Schema cannot express accept anything.
 *
 * @throws `SCHEMA_NOT_REPRESENTABLE` when the schema library cannot describe the schema
 * @throws `SCHEMA_NOT_RECOGNISED` when the value is not a schema
 * @example
 * toJsonSchema(z.object({ city: z.string() }), 'input').properties; // { city: { type: 'string' } }
 */
export function toJsonSchema(schema: Schema, direction: SchemaDirection): JsonSchema {
  const known = converted[direction].get(schema);
  if (known) return known;
  const result = convert(schema, direction);
  converted[direction].set(schema, result);
  return result;
}

/** The part of a Standard Schema that can describe itself: zod since 4.2, ArkType since 2.1.28, Valibot through its adapter. */
interface SelfDescribing {
  readonly jsonSchema: Record<SchemaDirection, (options: { target: string; libraryOptions?: unknown }) => JsonSchema>;
}

function convert(given: Schema, direction: SchemaDirection): JsonSchema {
  const { kind, schema } = describeSchema(given);
  if (kind === 'json-schema') return schema;
  try {
    if (kind === 'ai-sdk') return fromAiSdkSchema(schema.jsonSchema);
    const standard = schema['~standard'] as StandardSchemaV1.Props & Partial<SelfDescribing>;
    if (standard.jsonSchema) {
      const libraryOptions = standard.vendor === 'zod' ? zodOptions : undefined;
      return standard.jsonSchema[direction]({ target: 'draft-2020-12', ...(libraryOptions && { libraryOptions }) });
    }
    if (typeof (schema as { _def?: { typeName?: unknown } })._def?.typeName === 'string')
      return fromZod3(schema, direction);
    if ('_zod' in schema) return fromZodMini(schema, direction);
    throw new TypeError(`the schema library '${standard.vendor}' offers no conversion to JSON Schema`);
  } catch (error) {
    throw new QuiverError(
      'SCHEMA_NOT_REPRESENTABLE',
      `The schema cannot be described as JSON Schema: ${toErrorMessage(error)}. Use a schema library with JSON Schema support (zod 4.2, ArkType, Valibot through @valibot/to-json-schema) or pass JSON Schema.`,
      { cause: error },
    );
  }
}

function fromAiSdkSchema(jsonSchema: unknown): JsonSchema {
  if (typeof jsonSchema !== 'object' || jsonSchema === null || isPromiseLike(jsonSchema)) {
    throw new TypeError('the AI SDK schema does not carry its JSON Schema at once');
  }
  return jsonSchema as JsonSchema;
}

interface ZodNode {
  zodSchema: { _zod: { def: { type: string } } };
  jsonSchema: Record<string, unknown>;
}

/** Dates and bigints have no JSON Schema of their own. They travel in a form that the validation of an input accepts. */
const zodOptions = {
  unrepresentable: 'any',
  override: ({ zodSchema, jsonSchema }: ZodNode): void => {
    const { type } = zodSchema._zod.def;
    if (type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
    if (type === 'bigint') Object.assign(jsonSchema, { type: ['integer', 'string'], pattern: '^-?\\d+$' });
  },
};

/** Schemas of `zod/mini` do not describe themselves; zod does. Its copy is loaded, because this package does not depend on it. */
function fromZodMini(schema: StandardSchemaV1, direction: SchemaDirection): JsonSchema {
  // Not imported: platforms without Node load this module too.
  const { createRequire } = globalThis.process.getBuiltinModule('node:module');
  const zod = createRequire(import.meta.url)('zod/v4/core') as {
    toJSONSchema(schema: unknown, options: object): JsonSchema;
  };
  return zod.toJSONSchema(schema, { target: 'draft-2020-12', io: direction, ...zodOptions });
}

function fromZod3(schema: StandardSchemaV1, direction: SchemaDirection): JsonSchema {
  // The function is typed for one copy of zod 3 and reads only `_def`, which every copy has.
  return zodToJsonSchema(schema as never, {
    pipeStrategy: direction,
    effectStrategy: direction === 'input' ? 'input' : 'any',
    dateStrategy: 'format:date-time',
    $refStrategy: 'root',
    target: 'jsonSchema2019-09',
  }) as JsonSchema;
}
