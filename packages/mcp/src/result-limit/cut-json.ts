import { isObject } from '../protocol/json-rpc.js';
import type { SizeLimit } from './size-limit.js';

/** JSON whose longest array was cut at a whole element. */
export interface CutJson {
  /** The value with `{ items, truncated: true, total, next }` in place of the array. */
  readonly marked: unknown;
  readonly total: number;
  readonly next: number;
}

/** Objects that are searched for arrays are not nested deeper. */
const maxDepth = 8;

/**
 * Cuts the array with the longest JSON text, at a whole element, so that the JSON text of the value is within a limit.
 *
 * @param value - plain JSON data
 * @returns `undefined` when this is not possible: the first element, or the value without the array, is too long
 */
export function cutLongestArray(value: unknown, limit: SizeLimit): CutJson | undefined {
  const path = findLongestArray(value);
  if (!path) return undefined;
  const all = path.reduce((node, key) => (node as Record<string, unknown>)[key], value) as unknown[];
  const elements = all.map((element) => JSON.stringify(element));
  const mark = (next: number): unknown => ({ items: all.slice(0, next), truncated: true, total: all.length, next });
  const head = JSON.stringify(replaceAt(value, path, { ...(mark(0) as object), next: all.length }));
  const next = countWithin(head, elements, limit);
  if (next === 0 || next === all.length) return undefined;
  return {
    marked: replaceAt(value, path, mark(next)),
    total: all.length,
    next,
  };
}

/** Returns how many JSON texts fit behind a text. */
function countWithin(head: string, elements: readonly string[], limit: SizeLimit): number {
  let length = limit.lengthWithin(head + elements.join(',')) - head.length;
  let count = 0;
  for (const element of elements) {
    length -= element.length + (count === 0 ? 0 : 1);
    if (length < 0) break;
    count += 1;
  }
  return count;
}

function findLongestArray(value: unknown): string[] | undefined {
  let longest: { path: string[]; length: number } | undefined;
  const visit = (node: unknown, path: string[]): void => {
    if (Array.isArray(node)) {
      const { length } = JSON.stringify(node);
      if (!longest || length > longest.length) longest = { path, length };
    } else if (isObject(node) && path.length < maxDepth)
      for (const [key, child] of Object.entries(node)) visit(child, [...path, key]);
  };
  visit(value, []);
  return longest?.path;
}

function replaceAt(value: unknown, [key, ...rest]: readonly string[], replacement: unknown): unknown {
  if (key === undefined) return replacement;
  const node = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(node).map(([name, child]) => [name, name === key ? replaceAt(child, rest, replacement) : child]),
  );
}
