import type { SchemaIssue } from '../schema/index.js';

/**
 * Candidates for an input that failed validation, in the order they should be tried: models send JSON as text, `null` for
 * what they leave out, nothing at all for tools without parameters, and other names for `prompt`. A candidate is used only if
 * the schema accepts it.
 */
export function* repairInput(input: unknown, issues: readonly SchemaIssue[]): Generator<unknown> {
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
  const withoutNulls = replaceAt(parsed ?? input, paths, (value) => (value === null ? removed : undefined));
  if (withoutNulls) yield withoutNulls;
  const prompted = promptFrom(input, issues);
  if (prompted) yield prompted;
}

/** Models that delegate to an agent often rename its `prompt`. */
function promptFrom(input: object, issues: readonly SchemaIssue[]): object | undefined {
  if (!issues.some(({ path }) => path.length === 1 && path[0] === 'prompt') || 'prompt' in input) return undefined;
  const name = ['query', 'message', 'input'].find((key) => Object.hasOwn(input, key));
  if (name === undefined) return undefined;
  const { [name]: prompt, ...rest } = input as Record<string, unknown>;
  return { ...rest, prompt };
}

const removed = Symbol('removed');

/** Copies what lies on the paths and nothing else; `undefined` when there was nothing to replace. */
function replaceAt(root: object, paths: readonly SchemaIssue['path'][], replace: (value: unknown) => unknown): unknown {
  let result: unknown;
  for (const path of paths) {
    const current = valueAt(result ?? root, path);
    const replacement = current.found ? replace(current.value) : undefined;
    if (replacement !== undefined) result = copyWith(result ?? root, path, replacement);
  }
  return result;
}

function valueAt(root: unknown, path: SchemaIssue['path']): { found: boolean; value?: unknown } {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return { found: false };
    value = (value as Record<string | number, unknown>)[key];
  }
  return { found: true, value };
}

/** The path exists: {@link valueAt} has walked it. */
function copyWith(container: unknown, path: SchemaIssue['path'], replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  if (Array.isArray(container)) {
    const copy: unknown[] = [...container];
    copy[key as number] =
      replacement === removed && rest.length === 0 ? undefined : copyWith(copy[key as number], rest, replacement);
    return copy;
  }
  const entries = Object.entries(container as object);
  return Object.fromEntries(
    entries.flatMap(([name, value]) => {
      if (name !== String(key)) return [[name, value]];
      return replacement === removed && rest.length === 0 ? [] : [[name, copyWith(value, rest, replacement)]];
    }),
  );
}

/** Text that holds a JSON object or array. */
export function parseContainer(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
