import { QuiverError } from '@quiver/core';
import { toPackOptions, type CommonChunkOptions, type MeasureOptions } from './chunk-options.js';
import { DecodedText } from './decoded-text.js';
import { readJson, type JsonText } from './json-reader.js';
import { packSpans, type Chunker, type PackOptions, type Span } from './pack-spans.js';
import { findSeparatorCut } from './separator-cut.js';

/** Options of the strategy `json`. */
export interface JsonChunkOptions extends CommonChunkOptions, MeasureOptions {
  strategy?: 'json';
  /** Accepted for compatibility: smaller chunks are joined with their neighbors if both fit, as all chunks are. At most `maxSize`. */
  minSize?: number;
  /** Whether characters beyond ASCII are written as escapes, such as `\u00e9`. Default `false`. */
  ensureAscii?: boolean;
  /** Whether several elements of a list are written as `{"3": …, "4": …}`, with their positions in the list. Default `false`. */
  convertLists?: boolean;
}

/**
 * The `json` strategy: a chunk is a value that fits, or as many neighboring members of a larger value as fit. The text of a chunk is
 * valid JSON without white space; a string that alone is too long is split like prose, without quotation marks. Every value is in
 * exactly one chunk, with all its digits. JSON Lines are a list of their values.
 *
 * `pointer` is the JSON Pointer of the value; of several, the pointer of the first, with `lastPointer` for the last. The keys above
 * the value are in the pointer, not in the text.
 *
 * @throws (from the chunker) `JSON_INVALID`; `JSON_TOO_DEEP` when a value must be split that is nested more than 10,000 deep
 * @see [RFC 6901, JavaScript Object Notation (JSON) Pointer](https://www.rfc-editor.org/rfc/rfc6901.html)
 */
export function json({ ensureAscii = false, convertLists = false, ...given }: JsonChunkOptions): Chunker {
  const options = { ...toPackOptions({ ...given, minSize: 0 }, { overlap: 0 }), convertLists };
  return (source) => {
    const json = readJson(source, ensureAscii);
    return json.starts.length > 0 ? splitValues(source, json, options) : [];
  };
}

interface JsonOptions extends PackOptions {
  readonly convertLists: boolean;
}

/** Each chunk names all keys above it: without an end, a small text could make pointers that fill the memory. */
const maxDepth = 10_000;

interface OpenContainer {
  readonly pointer: string;
  readonly isArray: boolean;
  readonly members: readonly number[];
  next: number;
}

function splitValues(source: string, json: JsonText, options: JsonOptions): Span[] {
  const { compact, starts, valueStarts, ends, nexts } = json;
  const { maxSize, measure = (text: string): number => text.length } = options;
  const text = compact.toString();
  const spans: Span[] = [];
  /** From the outermost to the innermost. */
  const open: OpenContainer[] = [];

  function add(from: number, to: number, content: string, metadata: Record<string, string>): void {
    const { start, end } = compact.toSource(from, to);
    spans.push({ start, end, text: content, metadata });
  }

  function split(value: number, pointer: string): void {
    const start = valueStarts[value]!;
    const end = ends[value]!;
    const content = text.slice(start, end);
    const next = nexts[value]!;
    if (measure(content) <= maxSize) add(start, end, content, { pointer });
    else if (next > value + 1) {
      if (open.length === maxDepth)
        throw new QuiverError(
          'JSON_TOO_DEEP',
          `The JSON has values nested more than ${maxDepth} deep that do not fit into a chunk. Make it flatter, or raise maxSize.`,
        );
      const members: number[] = [];
      for (let member = value + 1; member < next; member = nexts[member]!) members.push(member);
      open.push({ pointer, isArray: text[start] === '[', members, next: 0 });
    } else
      for (const span of splitScalar(source, compact.toSource(start, end), options))
        spans.push({ ...span, metadata: { pointer } });
  }

  function pointerTo({ pointer, isArray, members }: OpenContainer, place: number): string {
    if (isArray) return `${pointer}/${place}`;
    const member = members[place]!;
    const quoted = text.slice(starts[member], valueStarts[member]! - 1);
    const name = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
    const escaped = /[~/]/.test(name) ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name;
    return `${pointer}/${escaped}`;
  }

  split(0, '');
  for (let container = open.at(-1); container; container = open.at(-1)) {
    const { members, next } = container;
    if (next === members.length) {
      open.pop();
      continue;
    }
    const first = members[next]!;
    const pointer = pointerTo(container, next);
    const group = longestGroup(text, json, container, options);
    container.next = group?.end ?? next + 1;
    if (!group) {
      split(first, pointer);
      continue;
    }
    const last = group.end - 1;
    const metadata = last === next ? { pointer } : { pointer, lastPointer: pointerTo(container, last) };
    add(starts[first]!, ends[members[last]!]!, group.text, metadata);
  }
  return spans;
}

/** As many members as fit together, from the next one on; none if not even one does. */
function longestGroup(
  text: string,
  { starts, valueStarts, ends }: JsonText,
  { isArray, members, next: from }: OpenContainer,
  { maxSize, measure, convertLists }: JsonOptions,
): { text: string; end: number } | undefined {
  const isKeyed = isArray && convertLists;
  const start = starts[members[from]!]!;
  const endOf = (end: number): number => ends[members[end - 1]!]!;
  const render = (end: number): string => {
    const inner = isKeyed
      ? members
          .slice(from, end)
          .map((value, index) => `"${from + index}":${text.slice(valueStarts[value], ends[value])}`)
          .join(',')
      : text.slice(start, endOf(end));
    if (!isArray || isKeyed) return `{${inner}}`;
    return end - from === 1 ? inner : `[${inner}]`;
  };
  const fits = (end: number): boolean => {
    if (measure) return measure(render(end)) <= maxSize;
    // A text is not shorter than its values, so most of those that do not fit need not be written.
    const length = endOf(end) - start;
    if (isKeyed) return length <= maxSize && render(end).length <= maxSize;
    return length + (isArray && end - from === 1 ? 0 : 2) <= maxSize;
  };
  if (!fits(from + 1)) return undefined;
  // Doubling, then halving: a look at a group reads all of it.
  let end = from + 1;
  let step = 1;
  while (end + step <= members.length && fits(end + step)) {
    end += step;
    step *= 2;
  }
  for (step = Math.min(step, members.length - end); step >= 1; step = Math.floor(step / 2)) {
    while (end + step <= members.length && fits(end + step)) end += step;
  }
  return { text: render(end), end };
}

/** Splits a string or a number of the source. An empty string that is too long keeps its quotation marks. */
function splitScalar(source: string, { start, end }: { start: number; end: number }, options: PackOptions): Span[] {
  const decoded = new DecodedText(source);
  if (source[start] === '"') decodeString(source.slice(start + 1, end - 1), start + 1, decoded);
  if (decoded.length === 0) decoded.copy(start, end);
  const text = decoded.toString();
  const findCut = findSeparatorCut(text, { ...options, separators: ['\n\n', '\n', ' ', ''] });
  return packSpans(text, options, findCut).map((span) => ({
    ...decoded.toSource(span.start, span.end),
    text: text.slice(span.start, span.end),
  }));
}

/** Appends the content of a JSON string from `offset` in the source. */
function decodeString(content: string, offset: number, decoded: DecodedText): void {
  for (const { 0: piece, index } of content.matchAll(/\\(?:u.{4}|.)|[^\\]+/g)) {
    const start = offset + index;
    const end = start + piece.length;
    if (piece.startsWith('\\')) decoded.append(JSON.parse(`"${piece}"`) as string, start, end);
    else decoded.copy(start, end);
  }
}
