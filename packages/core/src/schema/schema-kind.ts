import type { StandardSchemaV1 } from '@standard-schema/spec';
import { QuiverError } from '../errors.js';
import type { AiSdkSchema, JsonSchema, Schema } from './schema.js';

/** The part of a Standard Schema that can describe itself: zod since 4.2, ArkType since 2.1.28, Valibot through its adapter. */
export interface SelfDescribingSchema {
  readonly '~standard': StandardSchemaV1.Props & {
    readonly jsonSchema: Record<
      'input' | 'output',
      (options: { target: string; libraryOptions?: unknown }) => JsonSchema
    >;
  };
}

export interface Zod3Schema extends StandardSchemaV1 {
  readonly _def: { readonly typeName: string };
}

/** A schema with its kind, which decides how it is converted and validated. */
export type SchemaKind =
  | { readonly kind: 'ai-sdk'; readonly schema: AiSdkSchema }
  | { readonly kind: 'self-describing'; readonly schema: SelfDescribingSchema }
  | { readonly kind: 'zod-3'; readonly schema: Zod3Schema }
  | { readonly kind: 'zod-mini'; readonly schema: StandardSchemaV1 }
  | { readonly kind: 'standard'; readonly schema: StandardSchemaV1 }
  | { readonly kind: 'json-schema'; readonly schema: JsonSchema };

const aiSdkBrand = Symbol.for('vercel.ai.schema');

/**
 * Recognizes a schema by its marks (`~standard`, `_def`, the AI SDK's symbol), never by `instanceof`: two copies of a schema
 * library in one program are common.
 *
 * @throws `SCHEMA_NOT_RECOGNISED` for anything else, such as a function or a string
 */
export function describeSchema(schema: Schema): SchemaKind {
  if ((typeof schema !== 'object' || schema === null) && typeof schema !== 'function') throw notRecognized(schema);
  if (aiSdkBrand in schema) return { kind: 'ai-sdk', schema: schema as AiSdkSchema };
  if ('~standard' in schema) {
    const standard = schema as StandardSchemaV1;
    // A copy through JSON or a deep clone has lost its functions.
    if (typeof standard['~standard']?.validate !== 'function') throw notRecognized(schema);
    if ('jsonSchema' in standard['~standard'])
      return { kind: 'self-describing', schema: standard as SelfDescribingSchema };
    if (isZod3(standard)) return { kind: 'zod-3', schema: standard };
    if ('_zod' in schema) return { kind: 'zod-mini', schema: standard };
    return { kind: 'standard', schema: standard };
  }
  // The AI SDK also takes a function that makes the schema when it is first needed.
  if (typeof schema === 'function') return describeLazySchema(schema as () => unknown);
  if (!('_zod' in schema) && !('_def' in schema) && !isCopyOfZod4(schema)) {
    return { kind: 'json-schema', schema: schema as JsonSchema };
  }
  throw notRecognized(schema);
}

/** Whether an AI SDK schema still makes its JSON Schema: a promise, not the keyword `then`, which follows `if`. */
export function isPromiseLike(jsonSchema: unknown): jsonSchema is PromiseLike<unknown> {
  return (
    typeof jsonSchema === 'object' &&
    jsonSchema !== null &&
    'then' in jsonSchema &&
    typeof jsonSchema.then === 'function'
  );
}

const lazySchemas = new WeakMap<() => unknown, SchemaKind>();

function describeLazySchema(make: () => unknown): SchemaKind {
  const known = lazySchemas.get(make);
  if (known) return known;
  let made: unknown;
  try {
    made = make();
  } catch (error) {
    throw notRecognized(make, error);
  }
  if (typeof made !== 'object' || made === null || !(aiSdkBrand in made)) throw notRecognized(make);
  const described = describeSchema(made as Schema);
  lazySchemas.set(make, described);
  return described;
}

function isZod3(schema: StandardSchemaV1): schema is Zod3Schema {
  return '_def' in schema && typeof (schema as Zod3Schema)._def?.typeName === 'string';
}

/** A zod 4 schema that was copied through JSON. As JSON Schema it would accept every object. */
function isCopyOfZod4(schema: object): boolean {
  const { def, type } = schema as { def?: { type?: unknown }; type?: unknown };
  return typeof def === 'object' && def !== null && def.type !== undefined && def.type === type;
}

function notRecognized(schema: unknown, cause?: unknown): QuiverError {
  return new QuiverError(
    'SCHEMA_NOT_RECOGNISED',
    `Expected a schema (zod 3.24 or newer, zod 4.2 or newer, another Standard Schema, the AI SDK's jsonSchema(), or JSON Schema as a plain object) but got ${describeValue(schema)}.`,
    { cause },
  );
}

function describeValue(schema: unknown): string {
  if (schema === null) return 'null';
  if (typeof schema !== 'object') return typeof schema;
  return 'an object that looks like a damaged copy of a schema';
}
