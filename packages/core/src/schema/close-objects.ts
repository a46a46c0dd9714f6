import { isSchemaNode, type SchemaNode } from './json-schema-index.js';
import type { JsonSchema } from './schema.js';

/** Keywords whose value is a schema or a list of schemas that describe a part of the value, or one of its alternatives. */
const schemaKeywords: ReadonlySet<string> = new Set(
  'items additionalItems prefixItems contains additionalProperties anyOf oneOf then else'.split(' '),
);

/** Keywords whose value is a map of schemas. */
const schemaMaps: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'definitions', '$defs']);

/**
 * Returns a copy of a schema whose objects accept no further members.
 *
 * Stay open: objects that say which further members they accept, objects without `properties`, and the members of an intersection, because
 * each of them would reject the properties of the others.
 */
export function closeObjects(schema: JsonSchema): JsonSchema {
  const intersected = new Set<unknown>();
  collectIntersected(schema, intersected);
  return close(schema, '#', intersected) as JsonSchema;
}

/** Collects the references to schemas that are members of an intersection. */
function collectIntersected(part: unknown, references: Set<unknown>): void {
  if (typeof part !== 'object' || part === null) return;
  const { allOf } = part as SchemaNode;
  if (isIntersection(allOf)) for (const member of allOf) references.add((member as SchemaNode | null)?.['$ref']);
  for (const inner of Object.values(part)) collectIntersected(inner, references);
}

/** One schema in `allOf` is a reference with annotations. */
function isIntersection(allOf: unknown): allOf is readonly unknown[] {
  return Array.isArray(allOf) && allOf.length > 1;
}

/**
 * @param pointer - place of a schema that references can lead to
 * @param intersected - references whose schemas stay open
 */
function close(part: unknown, pointer: string | undefined, intersected: ReadonlySet<unknown>): unknown {
  if (Array.isArray(part)) return part.map((member) => close(member, undefined, intersected));
  if (!isSchemaNode(part)) return part;
  const closed = mapValues(part, (value, keyword) => {
    if (schemaKeywords.has(keyword)) return close(value, undefined, intersected);
    if (keyword === 'allOf') return isIntersection(value) ? value : close(value, undefined, intersected);
    if (!schemaMaps.has(keyword) || !isSchemaNode(value)) return value;
    return mapValues(value, (inner, name) => close(inner, pointer && `${pointer}/${keyword}/${name}`, intersected));
  });
  return isOpenObject(part) && !intersected.has(pointer) ? { ...closed, additionalProperties: false } : closed;
}

function isOpenObject({ type, properties, patternProperties, additionalProperties, allOf }: SchemaNode): boolean {
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
  if (!isObject || properties === undefined) return false;
  return patternProperties === undefined && additionalProperties === undefined && allOf === undefined;
}

/** Defines the members, because assigning a property named `__proto__` would replace the prototype. */
function mapValues(node: SchemaNode, map: (value: unknown, key: string) => unknown): SchemaNode {
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, map(value, key)]));
}
