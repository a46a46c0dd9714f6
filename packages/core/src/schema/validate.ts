import type { StandardSchemaV1 } from '@standard-schema/spec';
import { validateJsonSchema } from './json-schema-validator.js';
import { describeSchema, isPromiseLike } from './schema-kind.js';
import type { InferOutput, JsonSchema, Schema, SchemaIssue, ValidationResult } from './schema.js';

/**
 * Validates a value and returns it with defaults and transforms applied.
 *
 * Synchronous whenever the schema is; only schemas with asynchronous checks return a promise.
 *
 * @throws `SCHEMA_NOT_RECOGNISED` when `schema` is not a schema; never for a bad value
 */
export function validate<S extends Schema>(
  schema: S,
  value: unknown,
): ValidationResult<InferOutput<S>> | Promise<ValidationResult<InferOutput<S>>> {
  const described = describeSchema(schema);
  switch (described.kind) {
    case 'json-schema':
      return validateJsonSchema(described.schema, value) as ValidationResult<InferOutput<S>>;
    case 'ai-sdk':
      return validateAiSdkSchema(described.schema, value) as ValidationResult<InferOutput<S>>;
    default:
      return validateStandard(described.schema, value) as ValidationResult<InferOutput<S>>;
  }
}

type Outcome = ValidationResult<unknown> | Promise<ValidationResult<unknown>>;

function validateStandard(schema: StandardSchemaV1, value: unknown): Outcome {
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

/** Schemas of the AI SDK either have a `validate` function or only a JSON Schema. */
function validateAiSdkSchema(schema: { jsonSchema: unknown; validate?: unknown }, value: unknown): Outcome {
  if (typeof schema.validate !== 'function') {
    const { jsonSchema } = schema;
    if (!isPromiseLike(jsonSchema)) return validateJsonSchema(jsonSchema as JsonSchema, value);
    return Promise.resolve(jsonSchema).then((made) => validateJsonSchema(made as JsonSchema, value));
  }
  const result = schema.validate(value) as AiSdkResult | PromiseLike<AiSdkResult>;
  return 'then' in result ? Promise.resolve(result).then(fromAiSdk) : fromAiSdk(result);
}

type AiSdkResult = { success: true; value: unknown } | { success: false; error: Error };

function fromAiSdk(result: AiSdkResult): ValidationResult<unknown> {
  if (result.success) return { ok: true, value: result.value };
  // The AI SDK passes on the error of the schema library; those of zod and of Standard Schemas list their issues.
  const { issues } = result.error as { issues?: unknown };
  if (Array.isArray(issues) && issues.length > 0) return { ok: false, issues: issues.map(toIssue) };
  return { ok: false, issues: [{ path: [], message: result.error.message }] };
}
