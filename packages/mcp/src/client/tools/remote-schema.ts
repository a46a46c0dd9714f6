import { validate, type JsonSchema, type Schema } from '@quiver/core/schema';
import { isObject } from '../../protocol/json-rpc.js';

/** The schema of a remote tool: any JSON object, described by the server. */
export interface RemoteSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'mcp';
    readonly validate: (value: unknown) => RemoteValidation | Promise<RemoteValidation>;
    readonly types?: { readonly input: Record<string, unknown>; readonly output: Record<string, unknown> } | undefined;
    readonly jsonSchema: Record<'input' | 'output', () => JsonSchema>;
  };
}

type RemoteValidation =
  | { readonly value: Record<string, unknown>; readonly issues?: undefined }
  | { readonly issues: readonly { readonly path: readonly (string | number)[]; readonly message: string }[] };

/** What a server may make this side check at most. */
const maxSteps = 10_000;
const maxDepth = 128;

/**
 * The server's JSON Schema, untouched, in the form that all tools take.
 *
 * Values are checked against a copy without regular expressions, since a hostile one can take for ever. A schema that is too
 * big, too deep or multiplies itself through references, or that cannot be used at all, checks nothing: the server looks at its
 * arguments itself.
 *
 * @param isExempt - values that are passed whatever the schema says
 */
export function toRemoteSchema(source: object, isExempt?: (value: unknown) => boolean): RemoteSchema {
  return { '~standard': new RemoteStandard(source, isExempt) };
}

/** The methods are shared: there is a schema for each of many tools, of which few are called. */
class RemoteStandard {
  private readonly source: object;
  private readonly isExempt: ((value: unknown) => boolean) | undefined;
  /** Made by the first check. */
  private checked: Schema | false | undefined;

  constructor(source: object, isExempt: ((value: unknown) => boolean) | undefined) {
    this.source = source;
    this.isExempt = isExempt;
  }

  get version(): 1 {
    return 1;
  }

  get vendor(): 'mcp' {
    return 'mcp';
  }

  get jsonSchema(): Record<'input' | 'output', () => JsonSchema> {
    const described = (): JsonSchema => this.source as JsonSchema;
    return { input: described, output: described };
  }

  async validate(value: unknown): Promise<RemoteValidation> {
    // Checked as JSON Schema; passed on as it was given, whatever it is.
    const given = { value: value as Record<string, unknown> };
    this.checked ??= toCheckableSchema(this.source);
    if (this.checked === false || this.isExempt?.(value)) return given;
    try {
      const result = await validate(this.checked, value);
      return result.ok ? given : { issues: result.issues };
    } catch {
      return given;
    }
  }
}

/** What is safe to check values against, or `false`. A copy only where there is something to leave out. */
function toCheckableSchema(schema: object): Schema | false {
  try {
    if (countSteps(schema) > maxSteps) return false;
    return (/"pattern(?:Properties)?":/.test(JSON.stringify(schema)) ? withoutPatterns(schema) : schema) as Schema;
  } catch {
    return false;
  }
}

/** Keywords whose values are data, not schemas. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose values are schemas by name. */
const mapKeywords: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (!isObject(schema)) return schema;
  // What the patterns of names allow is unknown without them, so everything is.
  const isOpen = 'patternProperties' in schema;
  const entries = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (keyword === 'pattern' || keyword === 'patternProperties') return [];
    if (isOpen && (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties')) return [];
    if (dataKeywords.has(keyword)) return [[keyword, value]];
    if (mapKeywords.has(keyword) && isObject(value)) {
      return [
        [keyword, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withoutPatterns(part)]))],
      ];
    }
    return [[keyword, withoutPatterns(value)]];
  });
  return Object.fromEntries(entries);
}

/** How many subschemas are looked at when every reference is followed; a reference back to itself counts once. */
function countSteps(root: object): number {
  const known = new Map<object, number>();
  const count = (node: unknown, depth: number): number => {
    if (typeof node !== 'object' || node === null) return 0;
    if (depth > maxDepth) throw new RangeError('the schema is too deep');
    const cached = known.get(node);
    if (cached !== undefined) return cached;
    known.set(node, 0);
    let steps = 1;
    for (const [keyword, value] of Object.entries(node)) {
      if (dataKeywords.has(keyword)) continue;
      steps += count(value, depth + 1);
      if ((keyword === '$ref' || keyword === '$dynamicRef') && typeof value === 'string')
        steps += count(resolvePointer(root, value), depth + 1);
    }
    known.set(node, steps);
    return steps;
  };
  return count(root, 0);
}

/** `#/$defs/a` → the object there. @see [RFC 6901](https://www.rfc-editor.org/rfc/rfc6901.html) */
function resolvePointer(root: object, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  let at: unknown = root;
  for (const segment of reference.slice(1).split('/').filter(Boolean)) {
    const key = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
