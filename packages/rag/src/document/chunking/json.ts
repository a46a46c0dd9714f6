import { QuiverError } from '@quiver/core';
import { readJson, type JsonContainer, type JsonMember, type JsonNode } from './json-scanner.js';
import { compactJson, decodeString, type CompactJson } from './json-text.js';
import { packSpans } from './pack-spans.js';
import type { JsonOptions } from './parse-options.js';
import { findSeparatorCut } from './separator-cut.js';
import type { Span } from './span.js';

/**
 * The `json` strategy: each chunk is a value that fits, or as many neighbouring members of one that does not as fit. The text
 * of a chunk is valid JSON without white space; a string that alone is too long is divided like prose, without quotation marks.
 * Every value is in exactly one chunk, with every digit it was written with.
 *
 * `pointer` is the JSON Pointer of the value; of several, that of the first, with `lastPointer` for the last. Keys above the
 * value stand there and not in the text.
 *
 * @throws `JSON_TOO_DEEP` when a value has to be divided that is nested more than 10,000 deep
 * @see [RFC 6901, JavaScript Object Notation (JSON) Pointer](https://www.rfc-editor.org/rfc/rfc6901.html)
 */
export function chunkJson(source: string, options: JsonOptions): Span[] {
  // What is valid without white space need not be valid with it, so the source is read first.
  if (!readJson(source)) return [];
  const json = compactJson(source, options.ensureAscii);
  const root = readJson(json.text);
  return root ? [...divide(source, json, root, options)] : [];
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
  const { stripWhitespace } = options;
  const findCut = findSeparatorCut(text, {
    separators: ['\n\n', '\n', ' ', ''],
    separatorPosition: 'end',
    stripWhitespace,
  });
  for (const { start, end } of packSpans(text, 0, text.length, options, findCut)) {
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
