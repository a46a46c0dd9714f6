import type { SizeLimit } from './size-limit.js';
import { isObject } from '../protocol/json-rpc.js';

export interface Extent {
  readonly unit: 'elements' | 'characters';
  /** Number of elements or characters before the cut. */
  readonly total: number;
  /** Number of the first one that is left out. */
  readonly next: number;
}

export interface CutTexts extends Extent {
  /** The texts by their position; `undefined` for those that are left out. */
  readonly texts: readonly (string | undefined)[];
}

/**
 * Cuts the texts of a result so that together they are within a limit: one JSON text at a whole element of its longest array, other texts
 * between two characters.
 *
 * @returns `undefined` when the texts are within the limit
 */
export function cutTexts(texts: readonly string[], limit: SizeLimit): CutTexts | undefined {
  const whole = texts.join('\n');
  const within = limit.lengthWithin(whole);
  if (within === whole.length) return undefined;
  const cut = texts.length === 1 ? cutJsonText(whole, limit) : undefined;
  if (cut)
    return {
      texts: [JSON.stringify(cut.marked)],
      unit: 'elements',
      total: cut.total,
      next: cut.next,
    };
  const next = findCut(whole, within);
  let start = 0;
  const shown = texts.map((text) => {
    const begin = start;
    start += text.length + 1;
    return begin < next ? text.slice(0, next - begin) : undefined;
  });
  return { texts: shown, unit: 'characters', total: whole.length, next };
}

const advice = 'Call the tool with arguments that return less.';

/** Long numbers would be rounded. */
const longNumber = /[[:,\s]-?\d{16}/;

/** @returns `undefined` for a text that is not JSON, or is nested too deep to be written as JSON again */
function cutJsonText(text: string, limit: SizeLimit): CutJson | undefined {
  if (!/^\s*[[{]/.test(text) || longNumber.test(text)) return undefined;
  try {
    return cutLongestArray(JSON.parse(text), limit);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns the sentences that say what is missing, and what to do. */
export function describeCut({ unit, total, next }: Extent): string {
  return `The result was cut because it is too long: the first ${next} of ${total} ${unit} are shown. ${advice}`;
}

/** UTF-16 code units of the longest character that stays whole. */
const MAX_CHARACTER = 256;

let segmenter: Intl.Segmenter | undefined;

/**
 * Returns the last place up to `end` at which a text can be cut: not inside a code point, and not inside a grapheme cluster (combining marks, joined
 * emoji) unless the cluster is longer than 256 UTF-16 code units.
 *
 * @see [Unicode Standard Annex 29, grapheme cluster boundaries](https://unicode.org/reports/tr29/)
 */
export function findCut(text: string, end: number): number {
  if (end >= text.length) return text.length;
  segmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  const cut = segmenter.segment(text).containing(end)?.index ?? 0;
  if (end - cut <= MAX_CHARACTER) return cut;
  return /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end;
}

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

/** A block of a result that is not text: an image, audio or another file. */
export interface FileBlock {
  /** Data in base64. */
  readonly data: string;
  readonly mimeType: string;
}

/**
 * Returns which of the files of a result stay within its limit, in their order, and the limit that is left for its texts.
 *
 * @param blocks - `undefined` for a block that is not a file
 */
export function fitFiles(
  blocks: readonly (FileBlock | undefined)[],
  limit: SizeLimit,
): { readonly isLeftOut: readonly boolean[]; readonly textLimit: SizeLimit } {
  let size = 0;
  const isLeftOut = blocks.map((file) => {
    if (!file || size + file.data.length > limit.fileCharacters) return file !== undefined;
    size += file.data.length;
    return false;
  });
  return { isLeftOut, textLimit: limit.without(size) };
}

/** Returns the sentences in place of a file. */
export function describeFile({ data, mimeType }: FileBlock): string {
  return `A file of type ${mimeType} with ${data.length} base64 characters was left out because the result is too long. ${advice}`;
}
