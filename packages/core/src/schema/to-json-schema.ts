import type { StandardSchemaV1 } from '@standard-schema/spec';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { QuiverError, toErrorMessage } from '../errors.js';
import {
  describeSchema,
  isPromiseLike,
  type SchemaKind,
  type SelfDescribingSchema,
  type Zod3Schema,
} from './schema-kind.js';
import type { JsonSchema, Schema } from './schema.js';

/** `input` describes what is accepted; `output` what is left after defaults and transforms. */
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
 */
export function toJsonSchema(schema: Schema, direction: SchemaDirection): JsonSchema {
  const known = converted[direction].get(schema);
  if (known) return known;
  const described = describeSchema(schema);
  const result = convert(described, direction);
  converted[direction].set(schema, result);
  return result;
}

function convert(described: SchemaKind, direction: SchemaDirection): JsonSchema {
  try {
    switch (described.kind) {
      case 'json-schema':
        return described.schema;
      case 'ai-sdk':
        return fromAiSdkSchema(described.schema.jsonSchema);
      case 'self-describing':
        return fromSelfDescribing(described.schema, direction);
      case 'zod-mini':
        return fromZodMini(described.schema, direction);
      case 'zod-3':
        return fromZod3(described.schema, direction);
      case 'standard':
        throw new TypeError(
          `the schema library '${described.schema['~standard'].vendor}' offers no conversion to JSON Schema`,
        );
    }
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

function fromSelfDescribing(schema: SelfDescribingSchema, direction: SchemaDirection): JsonSchema {
  const { vendor, jsonSchema } = schema['~standard'];
  const libraryOptions = vendor === 'zod' ? zodOptions : undefined;
  return jsonSchema[direction]({ target: 'draft-2020-12', ...(libraryOptions && { libraryOptions }) });
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

function fromZod3(schema: Zod3Schema, direction: SchemaDirection): JsonSchema {
  // The function is typed for one copy of zod 3 and reads only `_def`, which every copy has.
  return zodToJsonSchema(schema as never, {
    pipeStrategy: direction,
    effectStrategy: direction === 'input' ? 'input' : 'any',
    dateStrategy: 'format:date-time',
    $refStrategy: 'root',
    target: 'jsonSchema2019-09',
  }) as JsonSchema;
}
