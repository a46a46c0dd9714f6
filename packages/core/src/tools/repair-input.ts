import { validate, type Schema, type SchemaIssue, type ValidationResult } from '../schema/index.js';

/** Tries repairs of common model mistakes. Returns the first that the schema accepts, or the failure of the input itself. */
export async function repairInput(
  schema: Schema,
  input: unknown,
  failure: ValidationResult<unknown> & { ok: false },
): Promise<ValidationResult<unknown>> {
  for (const candidate of candidatesFor(input, failure.issues)) {
    const repaired = await validate(schema, candidate);
    if (repaired.ok) return repaired;
  }
  return failure;
}

/**
 * Returns candidates for an invalid input, in the order to try them. Models send JSON as text, `null` for omitted
 * properties, no input for tools without parameters, and other names for `prompt`. Dates and bigints arrive as text or numbers,
 * because JSON has no form for them. A candidate is used only if the schema accepts it.
 */
function* candidatesFor(input: unknown, issues: readonly SchemaIssue[]): Generator<unknown> {
  if (input === undefined || input === null) {
    yield {};
    yield [];
    return;
  }
  if (typeof input === 'string') {
    const parsed = parseContainer(input);
    if (parsed !== undefined) yield parsed;
    return;
  }
  if (typeof input !== 'object') return;

  const paths = issues.map((issue) => issue.path).filter((path) => path.length > 0);
  const parsed = replaceAt(input, paths, (value) => (typeof value === 'string' ? parseContainer(value) : undefined));
  if (parsed) yield parsed;
  const revived = replaceAt(parsed ?? input, paths, reviveFromJson);
  if (revived) yield revived;
  for (const candidate of revived ? [parsed ?? input, revived] : [parsed ?? input]) {
    const withoutNulls = replaceAt(candidate as object, paths, (value) => (value === null ? removed : undefined));
    if (withoutNulls) yield withoutNulls;
  }
  const prompted = promptFrom(input, issues);
  if (prompted) yield prompted;
}

/** Parses the JSON form of a date or a bigint. */
function reviveFromJson(value: unknown): unknown {
  if (typeof value === 'string' && dateTime.test(value)) {
    const date = new Date(value);
    return Number.isNaN(date.getTime()) ? undefined : date;
  }
  const isInteger = typeof value === 'number' ? Number.isSafeInteger(value) : /^-?\d{1,1000}$/.test(String(value));
  return (typeof value === 'number' || typeof value === 'string') && isInteger ? BigInt(value) : undefined;
}

/** @see [RFC 3339, section 5.6](https://www.rfc-editor.org/rfc/rfc3339.html#section-5.6) */
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** Models that delegate to an agent often rename its `prompt`. */
function promptFrom(input: object, issues: readonly SchemaIssue[]): object | undefined {
  if (!issues.some(({ path }) => path.length === 1 && path[0] === 'prompt') || 'prompt' in input) return undefined;
  const name = ['query', 'message', 'input'].find((key) => Object.hasOwn(input, key));
  if (name === undefined) return undefined;
  const { [name]: prompt, ...rest } = input as Record<string, unknown>;
  return { ...rest, prompt };
}

const removed = Symbol('removed');

type Container = Record<string | number, unknown>;

/**
 * Returns a copy with the values at the paths replaced, or `undefined` if no value was replaced. Copies each container on the paths
 * once; all other values are shared.
 */
function replaceAt(root: object, paths: readonly SchemaIssue['path'][], replace: (value: unknown) => unknown): unknown {
  const copies = new Set<unknown>();
  const copyOnce = (value: unknown): Container => {
    if (copies.has(value)) return value as Container;
    // The path exists, so its containers are objects or arrays.
    const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Container;
    copies.add(copy);
    return copy;
  };
  let result: Container | undefined;
  for (const path of paths) {
    const replacement = replace(valueAt(result ?? root, path));
    if (replacement === undefined) continue;
    let container = (result = copyOnce(result ?? root));
    for (const key of path.slice(0, -1)) container = container[key] = copyOnce(container[key]);
    const key = path.at(-1) as string | number;
    if (replacement !== removed) container[key] = replacement;
    else if (Array.isArray(container)) container[key as number] = undefined;
    else delete container[key];
  }
  return result;
}

function valueAt(root: unknown, path: SchemaIssue['path']): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Container)[key];
  }
  return value;
}

/** Parses text that contains a JSON object or array; otherwise returns `undefined`. */
export function parseContainer(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
