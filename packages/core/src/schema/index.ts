export { validateJsonSchema, type JsonSchemaOptions } from './json-schema-validator.js';
export type {
  AiSdkSchema,
  InferInput,
  InferOutput,
  JsonSchema,
  Schema,
  SchemaIssue,
  ValidationResult,
} from './schema.js';
export { toJsonSchema, toModelSchema, type SchemaDirection } from './to-json-schema.js';
export { validate } from './validate.js';
