import type { StandardSchemaV1 } from '@standard-schema/spec';
import { QuiverError } from '../errors.js';
import { validateJsonSchema } from './json-schema-validator.js';
import type { AiSdkSchema, InferOutput, JsonSchema, Schema, SchemaIssue, ValidationResult } from './schema.js';

type Outcome = ValidationResult<unknown> | Promise<ValidationResult<unknown>>;

/**
 * Validates a value and returns it with defaults and transforms applied.
 *
 * Synchronous whenever the schema is; only schemas with asynchronous checks return a promise.
 *
 * @throws `SCHEMA_NOT_RECOGNISED` when `schema` is not a schema; never for a bad value
 * @example
 * const result = await validate(z.object({ page: z.number().default(1) }), {});
 * if (result.ok) console.log(result.value.page);
 */
export function validate<S extends Schema>(
  schema: S,
  value: unknown,
): ValidationResult<InferOutput<S>> | Promise<ValidationResult<InferOutput<S>>>;
export function validate(given: Schema, value: unknown): Outcome {
  const { kind, schema } = describeSchema(given);
  if (kind === 'json-schema') return validateJsonSchema(schema, value);
  if (kind === 'ai-sdk') return validateAiSdkSchema(schema, value);
  const result = schema['~standard'].validate(value);
  return result instanceof Promise ? result.then(fromStandard) : fromStandard(result);
}

function fromStandard(result: StandardSchemaV1.Result<unknown>): ValidationResult<unknown> {
  if (!result.issues) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.map(toIssue) };
}

function toIssue({ path = [], message }: StandardSchemaV1.Issue): SchemaIssue {
  // ArkType's path is an array of a separate class, which `map` would keep.
  return { message, path: Array.from(path, (segment) => toKey(typeof segment === 'object' ? segment.key : segment)) };
}

function toKey(key: PropertyKey): string | number {
  return typeof key === 'symbol' ? key.toString() : key;
}

type AiSdkResult = { success: true; value: unknown } | { success: false; error: Error };

/** Schemas of the AI SDK either have a `validate` function or only a JSON Schema. */
function validateAiSdkSchema(schema: AiSdkSchema, value: unknown): Outcome {
  if (typeof schema.validate !== 'function') {
    const { jsonSchema } = schema;
    if (!isPromiseLike(jsonSchema)) return validateJsonSchema(jsonSchema as JsonSchema, value);
    return Promise.resolve(jsonSchema).then((made) => validateJsonSchema(made as JsonSchema, value));
  }
  const result = schema.validate(value) as AiSdkResult | PromiseLike<AiSdkResult>;
  return 'then' in result ? Promise.resolve(result).then(fromAiSdk) : fromAiSdk(result);
}

function fromAiSdk(result: AiSdkResult): ValidationResult<unknown> {
  if (result.success) return { ok: true, value: result.value };
  // The AI SDK passes the error of the schema library on. Errors of zod and of Standard Schemas list their issues.
  const { issues } = result.error as { issues?: unknown };
  if (Array.isArray(issues) && issues.length > 0) return { ok: false, issues: issues.map(toIssue) };
  return { ok: false, issues: [{ path: [], message: result.error.message }] };
}

/** A schema with its kind, which decides how it is converted and validated. */
export type SchemaKind =
  | { readonly kind: 'ai-sdk'; readonly schema: AiSdkSchema }
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
    return { kind: 'standard', schema: standard };
  }
  if (typeof schema === 'function') return describeLazySchema(schema as () => unknown);
  if ('_zod' in schema || '_def' in schema || isCopyOfZod4(schema)) throw notRecognized(schema);
  if (containsSchema(schema) || containsSchema((schema as { properties?: unknown }).properties))
    throw new QuiverError(
      'SCHEMA_NOT_RECOGNISED',
      'Expected a schema but got an object whose members are schemas. Wrap it, for example z.object({ city: z.string() }).',
    );
  return { kind: 'json-schema', schema: schema as JsonSchema };
}

/** Whether an AI SDK schema still makes its JSON Schema: a promise, not the keyword `then`, which follows `if`. */
export function isPromiseLike(jsonSchema: unknown): jsonSchema is PromiseLike<unknown> {
  return typeof (jsonSchema as { then?: unknown } | null | undefined)?.then === 'function';
}

/** The AI SDK also takes a function that returns the schema; its `lazySchema` creates the schema once. */
function describeLazySchema(create: () => unknown): SchemaKind {
  let schema: unknown;
  try {
    schema = create();
  } catch (error) {
    throw notRecognized(create, error);
  }
  if (typeof schema !== 'object' || schema === null || !(aiSdkBrand in schema)) throw notRecognized(create);
  return { kind: 'ai-sdk', schema: schema as object as AiSdkSchema };
}

/** A zod 4 schema that was copied through JSON. As JSON Schema it would accept every object. */
function isCopyOfZod4(schema: object): boolean {
  const { def, type } = schema as { def?: { type?: unknown } | null; type?: unknown };
  return typeof def === 'object' && def?.type !== undefined && def.type === type;
}

/** Whether a member is a schema of a library: as JSON Schema, such an object would accept everything. */
function containsSchema(members: unknown): boolean {
  if (typeof members !== 'object' || members === null) return false;
  return Object.values(members).some(
    (member) => typeof member === 'object' && member !== null && ('~standard' in member || '_def' in member),
  );
}

function notRecognized(schema: unknown, cause?: unknown): QuiverError {
  const kind = schema === null ? 'null' : typeof schema;
  return new QuiverError(
    'SCHEMA_NOT_RECOGNISED',
    `Expected a schema (zod 3.24 or newer, zod 4.2 or newer, another Standard Schema, the AI SDK's jsonSchema(), or JSON Schema as a plain object) but got ${kind === 'object' ? 'an object that looks like a damaged copy of a schema' : kind}.`,
    { cause },
  );
}
