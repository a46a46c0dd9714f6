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

/** A schema with the one thing that decides how it is converted and checked. */
export type SchemaKind =
  | { readonly kind: 'ai-sdk'; readonly schema: AiSdkSchema }
  | { readonly kind: 'self-describing'; readonly schema: SelfDescribingSchema }
  | { readonly kind: 'zod-3'; readonly schema: Zod3Schema }
  | { readonly kind: 'standard'; readonly schema: StandardSchemaV1 }
  | { readonly kind: 'json-schema'; readonly schema: JsonSchema };

const aiSdkBrand = Symbol.for('vercel.ai.schema');

/**
 * Recognises a schema by its marks (`~standard`, `_def`, the AI SDK's symbol), never by `instanceof`: two copies of a schema
 * library in one program are common.
 *
 * @throws `SCHEMA_NOT_RECOGNISED` for anything else, such as a function or a string
 */
export function describeSchema(schema: Schema): SchemaKind {
  if ((typeof schema !== 'object' || schema === null) && typeof schema !== 'function') throw notRecognised(schema);
  if (aiSdkBrand in schema) return { kind: 'ai-sdk', schema: schema as AiSdkSchema };
  if ('~standard' in schema) {
    const standard = schema as StandardSchemaV1;
    if ('jsonSchema' in standard['~standard'])
      return { kind: 'self-describing', schema: standard as SelfDescribingSchema };
    if (isZod3(standard)) return { kind: 'zod-3', schema: standard };
    return { kind: 'standard', schema: standard };
  }
  if (typeof schema === 'object' && !('_zod' in schema) && !('_def' in schema)) {
    return { kind: 'json-schema', schema: schema as JsonSchema };
  }
  throw notRecognised(schema);
}

function isZod3(schema: StandardSchemaV1): schema is Zod3Schema {
  return '_def' in schema && typeof (schema as Zod3Schema)._def?.typeName === 'string';
}

function notRecognised(schema: unknown): QuiverError {
  return new QuiverError(
    'SCHEMA_NOT_RECOGNISED',
    `Expected a schema (zod 3.24 or newer, zod 4.2 or newer, another Standard Schema, the AI SDK's jsonSchema(), or JSON Schema as a plain object) but got ${typeof schema}.`,
  );
}
