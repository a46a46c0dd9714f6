import { QuiverError } from '@quiver/core';
import { DecodedText } from './decoded-text.js';

/** A value of a JSON text, by its position in the compact text. */
export type JsonNode = { readonly start: number; readonly end: number } | JsonContainer;

export interface JsonContainer {
  readonly kind: 'object' | 'array';
  readonly start: number;
  end: number;
  readonly members: JsonMember[];
}

/** A member of an object, or an element of an array. */
export interface JsonMember {
  /** Start of the key, or of the value where there is no key. */
  readonly start: number;
  /** End of the key; equals `start` in a list. */
  readonly keyEnd: number;
  readonly value: JsonNode;
}

export interface JsonText {
  /** The text without white space between its tokens, and with as few escapes as possible. */
  readonly compact: DecodedText;
  /** `undefined` for a blank text. */
  readonly root: JsonNode | undefined;
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
    return { compact: reader.compact, root: reader.readValue(0, source.length) };
  } catch (error) {
    const lines = readJsonLines(source, ensureAscii);
    if (lines) return lines;
    throw error;
  }
}

/** Returns `undefined` for a text that is not JSON Lines. Reading stops at the first line that is not JSON. */
function readJsonLines(source: string, ensureAscii: boolean): JsonText | undefined {
  const reader = createReader(source, ensureAscii);
  const { compact } = reader;
  const members: JsonMember[] = [];
  for (let start = 0; start < source.length;) {
    const newline = source.indexOf('\n', start);
    const end = newline === -1 ? source.length : newline;
    try {
      const value = reader.readValue(start, end, members.length === 0 ? '[' : ',');
      if (value) members.push({ start: value.start, keyEnd: value.start, value });
    } catch {
      return undefined;
    }
    start = end + 1;
  }
  if (members.length < 2) return undefined;
  const { end } = compact.toSource(0, compact.length);
  compact.append(']', end, end);
  return { compact, root: { kind: 'array', start: 0, end: compact.length, members } };
}

const escape = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

interface JsonReader {
  readonly compact: DecodedText;
  /** Reads the one value in a part of the source; `undefined` if there is only white space. `before` is written before the value. */
  readonly readValue: (start: number, end: number, before?: string) => JsonNode | undefined;
}

function createReader(source: string, ensureAscii: boolean): JsonReader {
  const compact = new DecodedText(source);
  let at = 0;
  let end = 0;

  function readValue(start: number, to: number, before?: string): JsonNode | undefined {
    end = to;
    // A byte order mark is not part of the text (RFC 8259, section 8.1).
    skipSpace(source.charCodeAt(start) === 0xfeff ? start + 1 : start);
    if (at >= end) return undefined;
    if (before) compact.append(before, at, at);
    const root = readStart();
    const open: JsonContainer[] = [];
    for (let value = root; ;) {
      if ('members' in value) open.push(value);
      let container = open[open.length - 1];
      // Closes as many containers as end here.
      while (container && peek() === closingOf(container)) {
        take(at + 1);
        container.end = compact.length;
        open.pop();
        container = open[open.length - 1];
      }
      if (!container) break;
      if (container !== value) takeComma(container);
      const memberStart = compact.length;
      const keyEnd = container.kind === 'object' ? readKey() : memberStart;
      value = readStart();
      container.members.push({ start: memberStart, keyEnd, value });
    }
    if (at < end) throw invalid('the end of the text');
    return root;
  }

  /** Returns the next code unit; NaN at the end. */
  function peek(): number {
    return at < end ? source.charCodeAt(at) : Number.NaN;
  }

  /** Reads a string, a literal, or the first character of a container. */
  function readStart(): JsonNode {
    const start = compact.length;
    const unit = peek();
    if (unit === openingBrace || unit === openingBracket) {
      take(at + 1);
      return { kind: unit === openingBrace ? 'object' : 'array', start, end: start, members: [] };
    }
    if (unit === quotationMark) return readString();
    literal.lastIndex = at;
    if (!literal.test(source)) throw invalid('a value');
    return take(literal.lastIndex);
  }

  /** Returns the end of the key. */
  function readKey(): number {
    if (peek() !== quotationMark) throw invalid('a key in quotation marks');
    readString();
    const keyEnd = compact.length;
    if (peek() !== colon) throw invalid("':'");
    take(at + 1);
    return keyEnd;
  }

  function readString(): JsonNode {
    let quote = at + 1;
    let hasEscapes = false;
    for (let unit = source.charCodeAt(quote); unit !== quotationMark; unit = source.charCodeAt(++quote)) {
      if (quote >= end) throw invalid("'\"'", quote);
      if (unit < 0x20) throw invalid('no control character in a string', quote);
      if (unit !== backslash) continue;
      hasEscapes = true;
      escape.lastIndex = quote + 1;
      if (!escape.test(source)) throw invalid('an escape sequence', quote);
      quote = escape.lastIndex - 1;
    }
    if (!hasEscapes && !ensureAscii) return take(quote + 1);
    const raw = source.slice(at, quote + 1);
    const text = hasEscapes ? JSON.stringify(JSON.parse(raw)) : raw;
    return take(quote + 1, ensureAscii ? escapeNonAscii(text) : text);
  }

  function takeComma(container: JsonContainer): void {
    const closing = closingOf(container);
    if (peek() !== comma) throw invalid(`',' or '${String.fromCharCode(closing)}'`);
    take(at + 1);
    if (peek() === closing) throw invalid('a value');
  }

  /** Writes the token up to a position, and skips the white space behind it. */
  function take(to: number, text?: string): JsonNode {
    const start = compact.length;
    if (text === undefined) compact.copy(at, to);
    else compact.append(text, at, to);
    skipSpace(to);
    return { start, end: compact.length };
  }

  function skipSpace(from: number): void {
    at = from;
    for (let unit = source.charCodeAt(at); isSpace(unit); unit = source.charCodeAt(at)) at++;
  }

  function invalid(expected: string, index: number = at): QuiverError {
    const found = index < end ? `'${source.slice(index, index + 12)}'` : 'the end of the text';
    return new QuiverError('JSON_INVALID', `This is not JSON: at ${index}, ${expected} was expected, not ${found}.`, {
      details: { index },
    });
  }

  return { compact, readValue };
}

const [openingBrace, closingBrace, openingBracket, closingBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [quotationMark, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];

function closingOf({ kind }: JsonContainer): number {
  return kind === 'object' ? closingBrace : closingBracket;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

function escapeNonAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
