import { QuiverError } from '@quiver/core';
import { requireUpTo, type CommonChunkOptions, type MeasureOptions, type OptionReader } from './chunk-options.js';
import { findJsonValues, readJson, type JsonContainer, type JsonMember, type JsonNode } from './json-scanner.js';
import { packSpans, type Chunker, type PackOptions, type Span } from './pack-spans.js';
import { findSeparatorCut } from './separator-cut.js';
import { SourceMap } from './source-map.js';

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
export function json(read: OptionReader): Chunker {
  const common = read.common({ overlap: 0 });
  requireUpTo(common.maxSize, { minSize: read.wholeNumber('minSize', { fallback: 0 }) });
  const ensureAscii = read.boolean('ensureAscii', false);
  const options = { ...common, ensureAscii, convertLists: read.boolean('convertLists', false) };
  return (source) => {
    // Text that is valid without white space is not always valid with it, so the source is read first.
    const values = findJsonValues(source);
    const compact = compactJson(source, values, ensureAscii);
    const root = readJson(compact.text);
    return root ? [...divide(source, compact, root, options)] : [];
  };
}

interface JsonOptions extends PackOptions {
  readonly ensureAscii: boolean;
  readonly convertLists: boolean;
}

/** Each chunk names all keys above it: without an end, a small text could make pointers that fill the memory. */
const maxDepth = 10_000;

interface Frame {
  readonly container: JsonContainer;
  readonly pointer: string;
  next: number;
}

function* divide(source: string, json: CompactJson, root: JsonNode, options: JsonOptions): Generator<Span> {
  const { maxSize, measure = (text: string): number => text.length } = options;
  const toChunk = (start: number, end: number, text: string, metadata: Record<string, string>): Span => ({
    ...json.map.toSource(start, end),
    text,
    metadata,
  });
  const frames: Frame[] = [];

  function* visit(value: JsonNode, pointer: string): Generator<Span> {
    const text = json.text.slice(value.start, value.end);
    if (measure(text) <= maxSize) yield toChunk(value.start, value.end, text, { pointer });
    else if ('members' in value && value.members.length > 0) {
      if (frames.length === maxDepth) throw tooDeep();
      frames.push({ container: value, pointer, next: 0 });
    } else yield* divideScalar(source, json, value, pointer, options);
  }

  yield* visit(root, '');
  for (let frame = frames.at(-1); frame; frame = frames.at(-1)) {
    const { container, pointer, next } = frame;
    const first = container.members[next];
    if (!first) {
      frames.pop();
      continue;
    }
    const group = longestGroup(json.text, container, next, options);
    if (!group) {
      frame.next++;
      yield* visit(first.value, pointerTo(pointer, json.text, first, next));
      continue;
    }
    const last = container.members[group.end - 1] as JsonMember;
    frame.next = group.end;
    yield toChunk(first.start, last.value.end, group.text, {
      pointer: pointerTo(pointer, json.text, first, next),
      ...(last !== first && { lastPointer: pointerTo(pointer, json.text, last, group.end - 1) }),
    });
  }
}

/** As many members as fit together; none if not even one does. */
function longestGroup(
  text: string,
  { kind, members }: JsonContainer,
  from: number,
  { maxSize, measure, convertLists }: JsonOptions,
): { text: string; end: number } | undefined {
  const isKeyed = kind === 'array' && convertLists;
  const render = (end: number): string => {
    const first = members[from] as JsonMember;
    const inner = isKeyed
      ? members
          .slice(from, end)
          .map(({ value }, index) => `"${from + index}":${text.slice(value.start, value.end)}`)
          .join(',')
      : text.slice(first.start, (members[end - 1] as JsonMember).value.end);
    if (kind === 'object' || isKeyed) return `{${inner}}`;
    return end - from === 1 ? inner : `[${inner}]`;
  };
  const fits = (end: number): boolean => {
    // A text is not shorter than its values, so most of those that do not fit need not be written.
    const length = (members[end - 1] as JsonMember).value.end - (members[from] as JsonMember).start;
    return measure ? measure(render(end)) <= maxSize : length <= maxSize && render(end).length <= maxSize;
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

function* divideScalar(
  source: string,
  json: CompactJson,
  value: JsonNode,
  pointer: string,
  options: JsonOptions,
): Generator<Span> {
  const place = json.map.toSource(value.start, value.end);
  const { text, map } =
    value.kind === 'string' && value.end - value.start > 2
      ? decodeString(source, place.start, place.end)
      : { text: source.slice(place.start, place.end), map: undefined };
  const { stripWhitespace, separatorPosition } = options;
  const findCut = findSeparatorCut(text, {
    separators: ['\n\n', '\n', ' ', ''],
    separatorPosition,
    stripWhitespace,
  });
  for (const { start, end } of packSpans(text, options, findCut)) {
    yield {
      ...(map ? map.toSource(start, end) : { start: place.start + start, end: place.start + end }),
      text: text.slice(start, end),
      metadata: { pointer },
    };
  }
}

function pointerTo(container: string, text: string, { key }: JsonMember, index: number): string {
  const name = key ? (JSON.parse(text.slice(key.start, key.end)) as string) : String(index);
  return `${container}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function tooDeep(): QuiverError {
  return new QuiverError(
    'JSON_TOO_DEEP',
    `The JSON has values nested more than ${maxDepth} deep that do not fit into a chunk. Make it flatter, or raise maxSize.`,
  );
}

/** A JSON text without its white space and with as few escapes as possible, and where it came from. */
interface CompactJson {
  readonly text: string;
  readonly map: SourceMap;
}

/** Joins the values of the source; several values become a list. */
function compactJson(
  source: string,
  values: readonly { start: number; end: number }[],
  ensureAscii: boolean,
): CompactJson {
  const parts: string[] = [];
  const map = new SourceMap();
  let length = 0;
  const add = (part: string, start: number, end: number): void => {
    if (part === '') return;
    map.add(length, part.length, start, end);
    parts.push(part);
    length += part.length;
  };
  for (const [index, { start, end: valueEnd }] of values.entries()) {
    if (values.length > 1) add(index === 0 ? '[' : ',', start, start);
    for (let at = start; at < valueEnd;) {
      const end = Math.min(tokenEnd(source, at), valueEnd);
      const raw = source.slice(at, end);
      add(raw.charCodeAt(0) === 0x22 ? normalString(raw, ensureAscii) : raw.trim(), at, end);
      at = end;
    }
  }
  const end = values.at(-1)?.end ?? 0;
  if (values.length > 1) add(']', end, end);
  return { text: parts.join(''), map };
}

/** After the string, the white space, or the run of anything else that starts at `start`. */
function tokenEnd(source: string, start: number): number {
  if (source.charCodeAt(start) === 0x22) {
    let at = start + 1;
    while (source.charCodeAt(at) !== 0x22) at += source.charCodeAt(at) === 0x5c ? 2 : 1;
    return at + 1;
  }
  const isSpace = isJsonSpace(source.charCodeAt(start));
  let at = start + 1;
  while (at < source.length && source.charCodeAt(at) !== 0x22 && isJsonSpace(source.charCodeAt(at)) === isSpace) at++;
  return at;
}

function isJsonSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

function normalString(raw: string, ensureAscii: boolean): string {
  const text = raw.includes('\\') ? JSON.stringify(JSON.parse(raw)) : raw;
  if (!ensureAscii) return text;
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The content of a JSON string, character by character. */
function decodeString(source: string, start: number, end: number): { text: string; map: SourceMap } {
  const parts: string[] = [];
  const map = new SourceMap();
  let length = 0;
  const add = (part: string, from: number, to: number): void => {
    map.add(length, part.length, from, to);
    parts.push(part);
    length += part.length;
  };
  for (let at = start + 1; at < end - 1;) {
    if (source[at] === '\\') {
      const to = at + (source[at + 1] === 'u' ? 6 : 2);
      add(JSON.parse(`"${source.slice(at, to)}"`) as string, at, to);
      at = to;
    } else {
      let to = at + 1;
      while (to < end - 1 && source.charCodeAt(to) !== 0x5c) to++;
      add(source.slice(at, to), at, to);
      at = to;
    }
  }
  return { text: parts.join(''), map };
}
