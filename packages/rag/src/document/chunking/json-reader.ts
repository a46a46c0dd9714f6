import { QuiverError } from '@quiver/core';
import { DecodedText } from './decoded-text.js';

/** A JSON text, with its values in the order of their starts: the root first, a container before its members. */
export interface JsonText {
  /** The text without white space between its tokens, and with as few escapes as possible. */
  readonly compact: DecodedText;
  /** Start of each value in the compact text, with its key if it has one. */
  readonly starts: readonly number[];
  /** Start of each value behind its key. */
  readonly valueStarts: readonly number[];
  readonly ends: readonly number[];
  /** Index of the first value behind each value and its members. */
  readonly nexts: readonly number[];
}

/**
 * Reads a JSON text, or JSON Lines as an array of their values. Numbers keep every digit, keys that occur twice both stay, and any
 * depth is read. With `ensureAscii`, characters beyond ASCII are written as escapes.
 *
 * @throws `JSON_INVALID` with the position of the first character that is not JSON
 * @see [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259.html), [JSON Lines](https://jsonlines.org)
 */
export function readJson(source: string, ensureAscii = false): JsonText {
  const reader = createReader(source, ensureAscii);
  try {
    reader.readValue(0, source.length);
    return reader.json;
  } catch (error) {
    const lines = readJsonLines(source, ensureAscii);
    if (lines) return lines;
    throw error;
  }
}

/** Returns `undefined` for a text that is not JSON Lines. Reading stops at the first line that is not JSON. */
function readJsonLines(source: string, ensureAscii: boolean): JsonText | undefined {
  const { json, readValue, addValue, endValue } = createReader(source, ensureAscii);
  const { compact } = json;
  let lines = 0;
  addValue(0);
  for (let start = 0; start < source.length;) {
    const newline = source.indexOf('\n', start);
    const end = newline === -1 ? source.length : newline;
    try {
      if (readValue(start, end, lines === 0 ? '[' : ',')) lines++;
    } catch {
      return undefined;
    }
    start = end + 1;
  }
  if (lines < 2) return undefined;
  const { end } = compact.toSource(0, compact.length);
  compact.append(']', end, end);
  endValue(0);
  return json;
}

/** Characters of a string from the space on, without the quotation mark and the backslash. */
const plain = /[ !#-[\]-\uffff]*/y;
const escape = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

interface JsonReader {
  readonly json: JsonText;
  /** Reads the one value in a part of the source; `false` if there is only white space. `before` is written before the value. */
  readonly readValue: (start: number, end: number, before?: string) => boolean;
  /** Adds a value that starts at the end of the compact text, and its key at `start`. */
  readonly addValue: (start: number) => void;
  readonly endValue: (index: number) => void;
}

/** The values are columns of numbers, because an object for each of them is garbage soon. */
function createReader(source: string, ensureAscii: boolean): JsonReader {
  const compact = new DecodedText(source);
  const starts: number[] = [];
  const valueStarts: number[] = [];
  const ends: number[] = [];
  const nexts: number[] = [];
  let at = 0;
  let end = 0;

  function addValue(start: number): void {
    starts.push(start);
    valueStarts.push(compact.length);
    ends.push(0);
    nexts.push(0);
  }

  function endValue(index: number): void {
    ends[index] = compact.length;
    nexts[index] = starts.length;
  }

  function readValue(start: number, to: number, before?: string): boolean {
    end = to;
    // A byte order mark is not part of the text (RFC 8259, section 8.1).
    skipSpace(source.charCodeAt(start) === 0xfeff ? start + 1 : start);
    if (at >= end) return false;
    if (before) compact.append(before, at, at);
    /** Containers that are not closed, and the units that close them. */
    const open: number[] = [];
    const closings: number[] = [];
    for (let valueStart = compact.length; ;) {
      const index = starts.length;
      const unit = peek();
      addValue(valueStart);
      if (unit === openingBrace || unit === openingBracket) {
        take(at + 1);
        open.push(index);
        closings.push(unit === openingBrace ? closingBrace : closingBracket);
      } else {
        readScalar(unit);
        endValue(index);
      }
      // Closes as many containers as end here.
      while (open.length > 0 && peek() === closings[closings.length - 1]) {
        take(at + 1);
        endValue(open.pop()!);
        closings.pop();
      }
      if (open.length === 0) break;
      const closing = closings[closings.length - 1]!;
      if (open[open.length - 1] !== index) takeComma(closing);
      valueStart = compact.length;
      if (closing === closingBrace) readKey();
    }
    if (at < end) throw invalid('the end of the text');
    return true;
  }

  /** Returns the next code unit; NaN at the end. */
  function peek(): number {
    return at < end ? source.charCodeAt(at) : Number.NaN;
  }

  function readScalar(unit: number): void {
    if (unit === quotationMark) return readString();
    literal.lastIndex = at;
    if (!literal.test(source)) throw invalid('a value');
    take(literal.lastIndex);
  }

  function readKey(): void {
    if (peek() !== quotationMark) throw invalid('a key in quotation marks');
    readString();
    if (peek() !== colon) throw invalid("':'");
    take(at + 1);
  }

  function readString(): void {
    let hasEscapes = false;
    let quote = endOfPlain(at + 1);
    for (; source.charCodeAt(quote) !== quotationMark; quote = endOfPlain(quote)) {
      if (quote >= end) throw invalid("'\"'", quote);
      if (source.charCodeAt(quote) !== backslash) throw invalid('no control character in a string', quote);
      hasEscapes = true;
      escape.lastIndex = quote + 1;
      if (!escape.test(source)) throw invalid('an escape sequence', quote);
      quote = escape.lastIndex;
    }
    if (!hasEscapes && !ensureAscii) return take(quote + 1);
    const raw = source.slice(at, quote + 1);
    const text = hasEscapes ? JSON.stringify(JSON.parse(raw)) : raw;
    return take(quote + 1, ensureAscii ? escapeNonAscii(text) : text);
  }

  /** Returns the end of characters that stand for themselves. The pattern is faster than a loop. */
  function endOfPlain(start: number): number {
    plain.lastIndex = start;
    plain.test(source);
    return plain.lastIndex;
  }

  function takeComma(closing: number): void {
    if (peek() !== comma) throw invalid(`',' or '${String.fromCharCode(closing)}'`);
    take(at + 1);
    if (peek() === closing) throw invalid('a value');
  }

  /** Writes the token up to a position, and skips the white space behind it. */
  function take(to: number, text?: string): void {
    if (text === undefined) compact.copy(at, to);
    else compact.append(text, at, to);
    skipSpace(to);
  }

  function skipSpace(from: number): void {
    let next = from;
    while (isSpace(source.charCodeAt(next))) next++;
    at = next;
  }

  function invalid(expected: string, index: number = at): QuiverError {
    const found = index < end ? `'${source.slice(index, index + 12)}'` : 'the end of the text';
    return new QuiverError('JSON_INVALID', `This is not JSON: at ${index}, ${expected} was expected, not ${found}.`, {
      details: { index },
    });
  }

  return { json: { compact, starts, valueStarts, ends, nexts }, readValue, addValue, endValue };
}

const [openingBrace, closingBrace, openingBracket, closingBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [quotationMark, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

function escapeNonAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
