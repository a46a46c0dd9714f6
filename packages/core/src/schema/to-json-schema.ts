import type { StandardSchemaV1 } from '@standard-schema/spec';
import { ignoreOverride, zodToJsonSchema, type Options } from 'zod-to-json-schema';
import { QuiverError, toErrorMessage } from '../errors.js';
import { closeObjects } from './close-objects.js';
import type { AiSdkSchema, JsonSchema, Schema } from './schema.js';
import { describeSchema, isPromiseLike } from './validate.js';

/** `input` describes the accepted values; `output` the values after defaults and transforms. */
export type SchemaDirection = 'input' | 'output';

/** `model` describes the accepted values to a language model. */
type SchemaForm = SchemaDirection | 'model';

const converted: Record<SchemaForm, WeakMap<object, JsonSchema>> = {
  input: new WeakMap(),
  output: new WeakMap(),
  model: new WeakMap(),
};

/**
 * Describes a schema as JSON Schema 2020-12, without `$schema`: that version is the default of MCP.
 *
 * JSON Schema given as plain data (or through the AI SDK's `jsonSchema()`) is returned unchanged: the same object.
 * Other schemas are converted once per schema and direction. Objects stay open unless their library rejects further members. Dates
 * become strings of format `date-time`; parts that JSON Schema cannot express accept anything.
 *
 * @throws `SCHEMA_NOT_REPRESENTABLE` when the schema library cannot describe the schema
 * @throws `SCHEMA_NOT_RECOGNISED` when the value is not a schema
 * @example
 * toJsonSchema(z.object({ city: z.string() }), 'input').properties; // { city: { type: 'string' } }
 */
export function toJsonSchema(schema: Schema, direction: SchemaDirection): JsonSchema {
  return convertOnce(schema, direction);
}

/**
 * Describes the accepted values of a schema to a language model, as the AI SDK's `tool()` does: JSON Schema draft 7, which the model providers
 * of the AI SDK read, with closed objects, which OpenAI's strict mode requires. Without `$schema`, which Gemini refuses.
 *
 * Records and objects that accept further members (`looseObject`, `catchall`, `passthrough`) stay open. JSON Schema given as plain data
 * is returned unchanged.
 *
 * @throws `SCHEMA_NOT_REPRESENTABLE`, `SCHEMA_NOT_RECOGNISED`: see {@link toJsonSchema}
 * @example
 * toModelSchema(z.object({ city: z.string() })).additionalProperties; // false
 */
export function toModelSchema(schema: Schema): JsonSchema {
  return convertOnce(schema, 'model');
}

function convertOnce(schema: Schema, form: SchemaForm): JsonSchema {
  const known = converted[form].get(schema);
  if (known) return known;
  const result = convert(schema, form);
  converted[form].set(schema, result);
  return result;
}

/** The part of a Standard Schema that can describe itself: zod since 4.2, ArkType since 2.1.28, Valibot through its adapter. */
interface SelfDescribing {
  readonly jsonSchema: Record<SchemaDirection, (options: { target: string; libraryOptions?: unknown }) => JsonSchema>;
}

function convert(given: Schema, form: SchemaForm): JsonSchema {
  const { kind, schema } = describeSchema(given);
  if (kind === 'json-schema') return schema;
  try {
    if (kind === 'ai-sdk') return fromAiSdkSchema(schema, form);
    const { vendor } = schema['~standard'];
    const described = fromStandardSchema(schema, form);
    // The unchanged schema of a remote MCP tool.
    if (vendor === 'mcp') return described;
    const { $schema, ...rest } = described;
    if (form === 'model') return closeObjects(rest);
    // A library that writes another version than the requested one names it.
    return $schema === undefined || $schema === version2020 ? rest : described;
  } catch (error) {
    throw new QuiverError(
      'SCHEMA_NOT_REPRESENTABLE',
      `The schema cannot be described as JSON Schema: ${toErrorMessage(error)}. Use a schema library with JSON Schema support (zod 4.2, ArkType, Valibot through @valibot/to-json-schema) or pass JSON Schema.`,
      { cause: error },
    );
  }
}

const version2020 = 'https://json-schema.org/draft/2020-12/schema';

/** Names of the versions in the Standard Schema interface and in zod. */
const targets: Record<SchemaForm, string> = { input: 'draft-2020-12', output: 'draft-2020-12', model: 'draft-07' };

function fromStandardSchema(schema: StandardSchemaV1, form: SchemaForm): JsonSchema {
  const standard = schema['~standard'] as StandardSchemaV1.Props & Partial<SelfDescribing>;
  const direction = toDirection(form);
  if (standard.jsonSchema) {
    const libraryOptions = optionsByVendor.get(standard.vendor);
    return standard.jsonSchema[direction]({ target: targets[form], ...(libraryOptions && { libraryOptions }) });
  }
  if (typeof (schema as { _def?: { typeName?: unknown } })._def?.typeName === 'string') return fromZod3(schema, form);
  if ('_zod' in schema) return fromZodMini(schema, form);
  throw new TypeError(`the schema library '${standard.vendor}' offers no conversion to JSON Schema`);
}

function toDirection(form: SchemaForm): SchemaDirection {
  return form === 'output' ? 'output' : 'input';
}

function fromAiSdkSchema(schema: AiSdkSchema, form: SchemaForm): JsonSchema {
  // The schema of a tool of `createTool`, with a replacement for a source that has no description.
  const { '~source': source } = schema as { '~source'?: Schema };
  if (source) {
    try {
      return convertOnce(source, form);
    } catch {
      // The replacement, with a warning.
    }
  }
  const { jsonSchema } = schema;
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

/** Valibot describes `looseObject` like `object`. */
const valibotOptions = {
  overrideSchema: ({ valibotSchema, jsonSchema }: ValibotNode): object | undefined =>
    valibotSchema.type === 'loose_object' ? { ...jsonSchema, additionalProperties: {} } : undefined,
};

interface ValibotNode {
  valibotSchema: { type: string };
  jsonSchema: object;
}

const optionsByVendor: ReadonlyMap<string, object> = new Map<string, object>([
  ['zod', zodOptions],
  ['valibot', valibotOptions],
]);

/** Schemas of `zod/mini` do not describe themselves; zod does. Its copy is loaded, because this package does not depend on it. */
function fromZodMini(schema: StandardSchemaV1, form: SchemaForm): JsonSchema {
  // Not imported: platforms without Node load this module too.
  const { createRequire } = globalThis.process.getBuiltinModule('node:module');
  const zod = createRequire(import.meta.url)('zod/v4/core') as {
    toJSONSchema(schema: unknown, options: object): JsonSchema;
  };
  const target = form === 'model' ? 'draft-7' : 'draft-2020-12';
  return zod.toJSONSchema(schema, { target, io: toDirection(form), ...zodOptions });
}

/** A part of a zod 3 schema. */
interface Zod3Def {
  readonly typeName?: string;
  /** Treatment of members that an object does not define. */
  readonly unknownKeys?: 'passthrough' | 'strict' | 'strip';
}

function fromZod3(schema: StandardSchemaV1, form: SchemaForm): JsonSchema {
  const direction = toDirection(form);
  // The function is typed for one copy of zod 3 and reads only `_def`, which every copy has.
  const { $schema: _, ...described } = zodToJsonSchema(schema as never, {
    pipeStrategy: direction,
    effectStrategy: direction === 'input' ? 'input' : 'any',
    dateStrategy: 'format:date-time',
    $refStrategy: 'none',
    override: createReferences(form),
    ...(form !== 'model' && {
      postProcess: (described, def) => described && toVersion2020(described, def as Zod3Def, form),
    }),
    target: 'jsonSchema7',
  }) as JsonSchema;
  return described;
}

/** Number of parts of a zod 3 schema behind which a part that is used again becomes a reference. */
const MAX_REPEATED_PARTS = 5_000;

/**
 * Decides which parts of a zod 3 schema become references. A part that is used twice is described twice, because providers refuse references
 * into properties. Recursive parts are described once: types that contain each other would be repeated in every order.
 */
function createReferences(form: SchemaForm): NonNullable<Partial<Options>['override']> {
  const recursive = new Set<unknown>();
  let parts = 0;
  return (def, { currentPath }, seen) => {
    parts += 1;
    if (!seen || seen.path.join('/') === currentPath.join('/')) return ignoreOverride;
    if (isParent(seen.path, currentPath)) recursive.add(def);
    if (!recursive.has(def) && parts < MAX_REPEATED_PARTS) return ignoreOverride;
    return { $ref: toPointer(seen.path, form) };
  };
}

function isParent(path: readonly string[], ofPath: readonly string[]): boolean {
  return path.length < ofPath.length && path.every((segment, place) => segment === ofPath[place]);
}

/** @see [RFC 6901](https://www.rfc-editor.org/rfc/rfc6901.html) */
function toPointer(path: readonly string[], form: SchemaForm): string {
  const segments = form === 'model' ? path : path.map(renameSegment);
  return segments.map((segment) => segment.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
}

/** Renames the keywords of a tuple in a path. An index follows only the keyword, never a property. */
function renameSegment(segment: string, place: number, path: readonly string[]): string {
  if (segment === 'items' && /^\d+$/.test(path[place + 1] ?? '')) return 'prefixItems';
  return segment === 'additionalItems' && path[place - 1] !== 'properties' ? 'items' : segment;
}

/** Renames the keywords of a tuple, and removes `additionalProperties: false` from the input of objects that ignore further members. */
function toVersion2020<Described extends object>(described: Described, def: Zod3Def, form: SchemaForm): Described {
  const node = described as Record<string, unknown>;
  if (def.typeName === 'ZodTuple') {
    const { items: prefixItems, additionalItems: items, ...rest } = node;
    return { ...rest, prefixItems, ...(items !== undefined && { items }) } as unknown as Described;
  }
  if (form === 'input' && def.unknownKeys === 'strip' && node['additionalProperties'] === false)
    delete node['additionalProperties'];
  return described;
}
