import { QuiverError, toErrorMessage } from '../errors.js';
import type { JsonSchema } from './schema.js';

/** A schema object; its keywords are read as data of unknown shape. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** A JSON Schema with its references resolved on demand. The schema itself is not changed. */
export interface SchemaIndex {
  /** Whether keywords next to `$ref` are ignored, as in drafts up to 7. */
  readonly isRefExclusive: boolean;
  /** Whether a keyword needs to know which properties and items others have evaluated. */
  readonly hasUnevaluated: boolean;
  /** Whether references depend on the schemas through which they were reached. */
  readonly hasDynamicReferences: boolean;
  /** The groups of keywords that a schema object has, as bits of {@link keywordGroups}. */
  groupsOf(node: SchemaNode): number;
  /** Base URI of a schema object: that of the closest `$id`. */
  baseOf(node: SchemaNode): string;
  /** @throws `SCHEMA_INVALID` when the reference cannot be resolved */
  resolve(node: SchemaNode, reference: string): unknown;
  /**
   * Resolves `$dynamicRef` or `$recursiveRef`: to the outermost schema in the scope that has the same dynamic anchor.
   *
   * @param scope - base URIs of the schemas that are being checked, outermost first
   * @see [JSON Schema, dynamic references](https://json-schema.org/draft/2020-12/json-schema-core#section-8.2.3.2)
   */
  resolveDynamic(node: SchemaNode, reference: string, scope: readonly string[]): unknown;
}

/** Base URI of schemas without `$id`. */
const defaultBase = 'quiver://schema/';

/** Most schemas use a few keywords, and each lookup of an absent one costs as much as a check. */
export const keywordGroups = {
  value: 1,
  string: 2,
  number: 4,
  array: 8,
  object: 16,
  inPlace: 32,
  unevaluated: 64,
} as const;

const keywordsOfGroups: Readonly<Record<keyof typeof keywordGroups, string>> = {
  value: 'type enum const',
  string: 'minLength maxLength pattern format',
  number: 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
  array: 'minItems maxItems uniqueItems contains items prefixItems additionalItems',
  object:
    'required minProperties maxProperties propertyNames properties patternProperties additionalProperties dependentRequired dependentSchemas dependencies',
  inPlace: 'allOf anyOf oneOf not if $dynamicRef $recursiveRef',
  unevaluated: 'unevaluatedProperties unevaluatedItems',
};

const groupOfKeyword: ReadonlyMap<string, number> = new Map(
  Object.entries(keywordsOfGroups).flatMap(([group, keywords]) =>
    keywords.split(' ').map((keyword) => [keyword, keywordGroups[group as keyof typeof keywordGroups]] as const),
  ),
);

/** Keywords whose values are data, not schemas. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** Bounded by the lifetime of the schemas: one entry per schema object. */
const indexes = new WeakMap<JsonSchema, SchemaIndex>();

/** @throws `SCHEMA_INVALID` for a schema that contains itself as an object, or is nested too deeply */
export function indexSchema(schema: JsonSchema): SchemaIndex {
  const known = indexes.get(schema);
  if (known) return known;
  const index = createIndex(schema);
  indexes.set(schema, index);
  return index;
}

export function invalidSchema(cause: unknown): QuiverError {
  return new QuiverError('SCHEMA_INVALID', `The JSON Schema cannot be used for validation: ${toErrorMessage(cause)}`, {
    cause,
  });
}

export function isSchemaNode(value: unknown): value is SchemaNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function createIndex(root: JsonSchema): SchemaIndex {
  const resources = new Map<string, unknown>([[defaultBase, root]]);
  const bases = new Map<object, string>();
  const targets = new Map<SchemaNode, unknown>();
  const ancestors = new Set<object>();
  let hasUnevaluated = false;
  let hasDynamicReferences = false;

  const register = (node: SchemaNode, base: string): string => {
    const { $id = node['id'], $anchor, $dynamicAnchor } = node;
    let own = base;
    if (typeof $id === 'string') {
      // In drafts up to 7 an `$id` that is only a fragment is an anchor.
      if ($id.startsWith('#')) resources.set(toUri($id, base), node);
      else resources.set((own = toUri($id, base).replace(/#$/, '')), node);
    }
    for (const anchor of [$anchor, $dynamicAnchor]) {
      if (typeof anchor === 'string') resources.set(`${own}#${anchor}`, node);
    }
    return own;
  };
  const visit = (value: unknown, base: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if (ancestors.has(value)) throw new TypeError('it contains itself; use $ref instead');
    ancestors.add(value);
    if (Array.isArray(value)) for (const item of value as unknown[]) visit(item, base);
    else {
      const node = value as SchemaNode;
      const own = register(node, base);
      bases.set(node, own);
      for (const [keyword, part] of Object.entries(node)) {
        hasDynamicReferences ||= keyword === '$dynamicRef' || keyword === '$recursiveRef';
        hasUnevaluated ||= keyword === 'unevaluatedProperties' || keyword === 'unevaluatedItems';
        if (!dataKeywords.has(keyword) || isSchemaNode(part)) visit(part, own);
      }
    }
    ancestors.delete(value);
  };
  try {
    visit(root, defaultBase);
  } catch (error) {
    throw invalidSchema(error);
  }

  const groups = new Map<SchemaNode, number>();
  const groupsOf = (node: SchemaNode): number => {
    let found = groups.get(node);
    if (found === undefined) {
      found = 0;
      for (const keyword in node) found |= groupOfKeyword.get(keyword) ?? 0;
      groups.set(node, found);
    }
    return found;
  };
  const baseOf = (node: SchemaNode): string => bases.get(node) ?? defaultBase;
  const lookUp = (node: SchemaNode, reference: string): unknown => {
    const uri = toUri(reference, baseOf(node));
    const [resource = '', fragment = ''] = uri.split('#');
    let target = fragment === '' || fragment.startsWith('/') ? resources.get(resource) : resources.get(uri);
    if (fragment.startsWith('/')) target = resolvePointer(target, fragment);
    if (target !== undefined) return target;
    throw invalidSchema(new TypeError(`the reference '${reference}' leads nowhere; other documents are not fetched`));
  };
  const resolve = (node: SchemaNode, reference: string): unknown => {
    if (!targets.has(node)) targets.set(node, lookUp(node, reference));
    return targets.get(node);
  };
  const resolveDynamic = (node: SchemaNode, reference: string, scope: readonly string[]): unknown => {
    const target = lookUp(node, reference);
    const [, anchor = ''] = reference.split('#');
    const isDynamic = (candidate: unknown): boolean =>
      isSchemaNode(candidate) &&
      (anchor === '' ? candidate['$recursiveAnchor'] === true : candidate['$dynamicAnchor'] === anchor);
    if (!isDynamic(target)) return target;
    const candidates = scope.map((base) => resources.get(anchor === '' ? base : `${base}#${anchor}`));
    return candidates.find(isDynamic) ?? target;
  };
  const dialect = typeof root['$schema'] === 'string' ? root['$schema'] : '';
  const isRefExclusive = /draft-0[3-7]/.test(dialect);
  return { isRefExclusive, hasUnevaluated, hasDynamicReferences, groupsOf, baseOf, resolve, resolveDynamic };
}

function toUri(reference: string, base: string): string {
  try {
    return new URL(reference, base).href;
  } catch {
    throw invalidSchema(new TypeError(`'${reference}' is not a URI reference`));
  }
}

/** @see [RFC 6901](https://www.rfc-editor.org/rfc/rfc6901.html) */
function resolvePointer(root: unknown, pointer: string): unknown {
  let at = root;
  for (const segment of pointer.split('/').slice(1)) {
    const key = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
