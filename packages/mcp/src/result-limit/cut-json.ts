import { isObject } from '../protocol/json-rpc.js';
import type { SizeLimit } from './size-limit.js';

/** JSON whose longest array was cut at a whole element. */
export interface CutJson {
  /** The value with `{ items, truncated: true, total, next }` in place of the array. */
  readonly marked: unknown;
  /** The whole array. */
  readonly all: readonly unknown[];
  /** Number of elements that are left. */
  readonly next: number;
}

/** Objects that are searched for arrays are not nested deeper. */
const maxDepth = 8;

/**
 * Cuts the array with the longest JSON text, at a whole element, so that the JSON text of the value is within a limit.
 *
 * @param value - plain JSON data
 * @returns `undefined` when this is not possible: an element is too long, or the value without the array is
 */
export function cutLongestArray(value: unknown, limit: SizeLimit): CutJson | undefined {
  const path = findLongestArray(value);
  if (!path) return undefined;
  const all = path.reduce((node, key) => (node as Record<string, unknown>)[key], value) as unknown[];
  const elements = all.map((element) => JSON.stringify(element));
  const mark = (next: number): unknown => ({ items: all.slice(0, next), truncated: true, total: all.length, next });
  const head = JSON.stringify(replaceAt(value, path, { ...(mark(0) as object), next: all.length }));
  if (!areShort(elements, limit)) return undefined;
  const next = countWithin(head, elements, limit);
  if (next === 0 || next === all.length) return undefined;
  return {
    marked: replaceAt(value, path, mark(next)),
    all,
    next,
  };
}

/**
 * Returns how many JSON texts fit behind a text. One that fits alone always fits.
 *
 * @param head - text that is present anyway
 */
export function countWithin(head: string, elements: readonly string[], limit: SizeLimit): number {
  let length = limit.lengthWithin(head + elements.join(',')) - head.length;
  let count = 0;
  for (const element of elements) {
    length -= element.length + (count === 0 ? 0 : 1);
    if (length < 0) break;
    count += 1;
  }
  return count;
}

/**
 * Returns whether each JSON text alone is within a limit. Texts that are within it together need no check of their own, because a custom
 * counter of tokens is slow: the number of checks depends on the length of all texts, not on their number.
 */
function areShort(elements: readonly string[], limit: SizeLimit): boolean {
  /** Characters of a group of several texts. Grows until a group is too long, because to find how much of it fits takes many checks. */
  let room = 1;
  let isGrowing = true;
  for (let start = 0; start < elements.length;) {
    let end = start;
    let length = 0;
    do length += (elements[end++] as string).length + 1;
    while (end < elements.length && length + (elements[end] as string).length <= room);
    const group = elements.slice(start, end);
    const count = countWithin('', group, limit);
    if (count === 0) return false;
    start += count;
    isGrowing &&= count === group.length;
    if (isGrowing) room *= 2;
    else if (count < group.length) room = Math.max(1, room >> 1);
  }
  return true;
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
