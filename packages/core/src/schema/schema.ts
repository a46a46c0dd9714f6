import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A JSON Schema as plain data (draft 2020-12 unless `$schema` names another one). It is passed on unchanged. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Result of the AI SDK's `jsonSchema()` and `zodSchema()`. */
export interface AiSdkSchema<Value = unknown> {
  readonly _type: Value;
  readonly jsonSchema: unknown;
  readonly validate?: unknown;
}

/**
 * Any schema: zod 4, zod 3, Valibot, ArkType and every other Standard Schema, the AI SDK's `jsonSchema()`,
 * or a JSON Schema as plain data.
 *
 * @see [Standard Schema](https://standardschema.dev)
 */
export type Schema = StandardSchemaV1 | AiSdkSchema | JsonSchema;

/** Plain JSON Schema has no type information, so its values are `any`. */
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any;

/** The type of the values a schema accepts, before defaults and transforms. */
export type InferInput<S> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<S>
  : S extends AiSdkSchema<infer Value>
    ? Value
    : Untyped;

/** The type of the values a schema yields, after defaults and transforms. */
export type InferOutput<S> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<S>
  : S extends AiSdkSchema<infer Value>
    ? Value
    : Untyped;

/** One reason why a value does not fit its schema. */
export interface SchemaIssue {
  /** Keys and indices from the root to the offending place; empty for the root. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Outcome of a validation: the value with defaults and transforms applied, or the issues. */
export type ValidationResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] };
