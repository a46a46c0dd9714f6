import { QuiverError, toErrorMessage } from '../errors.js';
import type { JsonSchema } from './schema.js';

/** A schema object; its keywords are read as data of unknown shape. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** Base URI of schemas without `$id`. */
const defaultBase = 'quiver://schema/';

/** Keywords whose values are data, not schemas. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** A JSON Schema with its references resolved on demand. The schema itself is not changed. */
export class SchemaIndex {
  /** Whether keywords next to `$ref` are ignored, as in drafts up to 7. */
  readonly isRefExclusive: boolean;
  /** Whether a keyword needs to know which properties and items others have evaluated. */
  hasUnevaluated = false;
  /** Whether references depend on the schemas through which they were reached. */
  hasDynamicReferences = false;
  readonly #resources = new Map<string, unknown>();
  readonly #bases = new Map<object, string>();
  readonly #targets = new Map<SchemaNode, unknown>();
  readonly #ancestors = new Set<object>();

  /** @throws `SCHEMA_INVALID` for a schema that contains itself as an object, or is nested too deeply */
  constructor(root: JsonSchema) {
    this.isRefExclusive = /draft-0[3-7]/.test(String(root['$schema']));
    this.#resources.set(defaultBase, root);
    try {
      this.#visit(root, defaultBase);
    } catch (error) {
      throw invalidSchema(error);
    }
  }

  #visit(value: unknown, base: string): void {
    if (typeof value !== 'object' || value === null) return;
    if (this.#ancestors.has(value)) throw new TypeError('it contains itself; use $ref instead');
    this.#ancestors.add(value);
    if (isSchemaNode(value)) this.#visitNode(value, base);
    else for (const item of value as unknown[]) this.#visit(item, base);
    this.#ancestors.delete(value);
  }

  #visitNode(node: SchemaNode, base: string): void {
    const { $id = node['id'], $anchor, $dynamicAnchor } = node;
    let own = base;
    if (typeof $id === 'string') {
      const uri = toUri($id, base);
      // In drafts up to 7 an `$id` that is only a fragment is an anchor.
      if (!$id.startsWith('#')) own = uri.replace(/#$/, '');
      this.#resources.set($id.startsWith('#') ? uri : own, node);
    }
    for (const anchor of [$anchor, $dynamicAnchor])
      if (typeof anchor === 'string') this.#resources.set(`${own}#${anchor}`, node);
    this.#bases.set(node, own);
    for (const [keyword, part] of Object.entries(node)) {
      this.hasDynamicReferences ||= keyword === '$dynamicRef' || keyword === '$recursiveRef';
      this.hasUnevaluated ||= keyword === 'unevaluatedProperties' || keyword === 'unevaluatedItems';
      if (!dataKeywords.has(keyword) || isSchemaNode(part)) this.#visit(part, own);
    }
  }

  /** Returns the base URI of a schema object: that of the closest `$id`. */
  baseOf(node: SchemaNode): string {
    return this.#bases.get(node) ?? defaultBase;
  }

  /** @throws `SCHEMA_INVALID` when the reference cannot be resolved */
  resolve(node: SchemaNode, reference: string): unknown {
    if (!this.#targets.has(node)) this.#targets.set(node, this.#lookUp(node, reference));
    return this.#targets.get(node);
  }

  /**
   * Resolves `$dynamicRef` or `$recursiveRef`: to the outermost schema in the scope that has the same dynamic anchor.
   *
   * @param scope - base URIs of the schemas that are being checked, outermost first
   * @see [JSON Schema, dynamic references](https://json-schema.org/draft/2020-12/json-schema-core#section-8.2.3.2)
   */
  resolveDynamic(node: SchemaNode, reference: string, scope: readonly string[]): unknown {
    const target = this.#lookUp(node, reference);
    const [, anchor = ''] = reference.split('#');
    const isDynamic = (candidate: unknown): boolean =>
      isSchemaNode(candidate) &&
      (anchor === '' ? candidate['$recursiveAnchor'] === true : candidate['$dynamicAnchor'] === anchor);
    if (!isDynamic(target)) return target;
    const candidates = scope.map((base) => this.#resources.get(anchor === '' ? base : `${base}#${anchor}`));
    return candidates.find(isDynamic) ?? target;
  }

  #lookUp(node: SchemaNode, reference: string): unknown {
    const uri = toUri(reference, this.baseOf(node));
    const [resource = '', fragment = ''] = uri.split('#');
    let target = this.#resources.get(fragment === '' || fragment.startsWith('/') ? resource : uri);
    if (fragment.startsWith('/')) target = resolvePointer(target, `#${fragment}`);
    if (target !== undefined) return target;
    throw invalidSchema(new TypeError(`the reference '${reference}' leads nowhere; other documents are not fetched`));
  }
}

export function invalidSchema(cause: unknown): QuiverError {
  return new QuiverError('SCHEMA_INVALID', `The JSON Schema cannot be used for validation: ${toErrorMessage(cause)}`, {
    cause,
  });
}

export function isSchemaNode(value: unknown): value is SchemaNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toUri(reference: string, base: string): string {
  try {
    return new URL(reference, base).href;
  } catch {
    throw invalidSchema(new TypeError(`'${reference}' is not a URI reference`));
  }
}

/**
 * Returns the part of a document that a reference such as `#/$defs/City` names, `undefined` for none and for other documents.
 *
 * @see [RFC 6901](https://www.rfc-editor.org/rfc/rfc6901.html)
 */
export function resolvePointer(root: unknown, reference: string): unknown {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  let at = root;
  for (const segment of reference.split('/').slice(1)) {
    const key = decode(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
