import { QuiverError } from '@quiver/core';
import { isObject } from '../../protocol/json-rpc.js';

const fieldTypes: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean']);

/**
 * Refuses a requested schema that is not a form: an object of strings, numbers, integers, Booleans, and choices of one or several
 * strings. Clients reject other schemas, each with its own error.
 *
 * @throws `ELICITATION_SCHEMA_INVALID` with the path of the property
 * @see [MCP 2025-11-25, requested schema](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema)
 */
export function requireFormSchema(schema: unknown): void {
  if (!isObject(schema) || schema['type'] !== 'object') throw invalid('requestedSchema', schema, "type 'object'");
  const { properties } = schema;
  if (!isObject(properties)) throw invalid('requestedSchema.properties', properties, 'a schema per field');
  for (const [name, field] of Object.entries(properties)) requireField(`requestedSchema.properties.${name}`, field);
}

function requireField(path: string, field: unknown): void {
  const { type, items } = isObject(field) ? field : {};
  if (fieldTypes.has(type)) return;
  const expected = "type 'string', 'number', 'integer' or 'boolean', or 'array' with a choice of strings as items";
  if (type !== 'array') throw invalid(path, field, expected);
  const { type: itemType, enum: values, anyOf } = isObject(items) ? items : {};
  const isChoice = itemType === 'string' && Array.isArray(values);
  const isTitledChoice = Array.isArray(anyOf) && anyOf.every((option) => typeof option?.const === 'string');
  if (!isChoice && !isTitledChoice)
    throw invalid(`${path}.items`, items, "type 'string' with `enum`, or `anyOf` with a `const` and `title` each");
}

function invalid(path: string, given: unknown, expected: string): QuiverError {
  const type = isObject(given) ? given['type'] : undefined;
  const found =
    type === undefined ? (JSON.stringify(given) ?? 'missing').slice(0, 100) : `of type ${JSON.stringify(type)}`;
  return new QuiverError(
    'ELICITATION_SCHEMA_INVALID',
    `Cannot send the elicitation request: ${path} is ${found}; it needs ${expected}. A form has no nested values: make each one a separate field.`,
    { details: { path } },
  );
}
