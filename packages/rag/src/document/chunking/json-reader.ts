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
  /** Present in objects. */
  readonly key?: JsonNode;
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
  const reader = new JsonReader(source, ensureAscii);
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
  const reader = new JsonReader(source, ensureAscii);
  const { compact } = reader;
  const members: JsonMember[] = [];
  for (let start = 0; start < source.length;) {
    const newline = source.indexOf('\n', start);
    const end = newline === -1 ? source.length : newline;
    try {
      const value = reader.readValue(start, end, members.length === 0 ? '[' : ',');
      if (value) members.push({ value });
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

const space = /[ \t\n\r]*/y;
const escape = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

class JsonReader {
  readonly compact = new DecodedText();
  readonly #source: string;
  readonly #ensureAscii: boolean;
  #at = 0;
  #end = 0;

  constructor(source: string, ensureAscii: boolean) {
    this.#source = source;
    this.#ensureAscii = ensureAscii;
  }

  /**
   * Reads the one value in a part of the source; `undefined` if there is only white space.
   *
   * @param before - written before the value
   */
  readValue(start: number, end: number, before?: string): JsonNode | undefined {
    this.#end = end;
    // A byte order mark is not part of the text (RFC 8259, section 8.1).
    this.#skipSpace(this.#source.charCodeAt(start) === 0xfeff ? start + 1 : start);
    if (this.#at >= end) return undefined;
    if (before) this.compact.append(before, this.#at, this.#at);
    const root = this.#readStart();
    const open: JsonContainer[] = [];
    for (let value = root; ;) {
      if ('members' in value) open.push(value);
      let container = open.at(-1);
      // Closes as many containers as end here.
      while (container && this.#peek() === closingOf(container)) {
        this.#take(this.#at + 1);
        container.end = this.compact.length;
        open.pop();
        container = open.at(-1);
      }
      if (!container) break;
      if (container !== value) this.#takeComma(container);
      const key = container.kind === 'object' ? this.#readKey() : undefined;
      value = this.#readStart();
      container.members.push(key ? { key, value } : { value });
    }
    if (this.#at < end) throw this.#invalid('the end of the text');
    return root;
  }

  /** Empty at the end. */
  #peek(): string {
    return this.#at < this.#end ? this.#source.charAt(this.#at) : '';
  }

  /** Reads a string, a literal, or the first character of a container. */
  #readStart(): JsonNode {
    const start = this.compact.length;
    const character = this.#peek();
    if (character === '{' || character === '[') {
      this.#take(this.#at + 1);
      return { kind: character === '{' ? 'object' : 'array', start, end: start, members: [] };
    }
    if (character === '"') return this.#readString();
    literal.lastIndex = this.#at;
    if (!literal.test(this.#source)) throw this.#invalid('a value');
    return this.#take(literal.lastIndex);
  }

  #readKey(): JsonNode {
    if (this.#peek() !== '"') throw this.#invalid('a key in quotation marks');
    const key = this.#readString();
    if (this.#peek() !== ':') throw this.#invalid("':'");
    this.#take(this.#at + 1);
    return key;
  }

  #readString(): JsonNode {
    let at = this.#at + 1;
    let hasEscapes = false;
    for (; this.#source.charCodeAt(at) !== 0x22; at++) {
      if (at >= this.#end) throw this.#invalid("'\"'", at);
      const unit = this.#source.charCodeAt(at);
      if (unit < 0x20) throw this.#invalid('no control character in a string', at);
      if (unit !== 0x5c) continue;
      hasEscapes = true;
      escape.lastIndex = at + 1;
      if (!escape.test(this.#source)) throw this.#invalid('an escape sequence', at);
      at = escape.lastIndex - 1;
    }
    const raw = this.#source.slice(this.#at, at + 1);
    const text = hasEscapes ? JSON.stringify(JSON.parse(raw)) : raw;
    return this.#take(at + 1, this.#ensureAscii ? escapeNonAscii(text) : text);
  }

  #takeComma(container: JsonContainer): void {
    const closing = closingOf(container);
    if (this.#peek() !== ',') throw this.#invalid(`',' or '${closing}'`);
    this.#take(this.#at + 1);
    if (this.#peek() === closing) throw this.#invalid('a value');
  }

  /** Writes the token up to `end`, and skips the white space behind it. */
  #take(end: number, text: string = this.#source.slice(this.#at, end)): JsonNode {
    const start = this.compact.length;
    this.compact.append(text, this.#at, end);
    this.#skipSpace(end);
    return { start, end: this.compact.length };
  }

  #skipSpace(from: number): void {
    space.lastIndex = from;
    space.test(this.#source);
    this.#at = space.lastIndex;
  }

  #invalid(expected: string, at: number = this.#at): QuiverError {
    const found = at < this.#end ? `'${this.#source.slice(at, at + 12)}'` : 'the end of the text';
    return new QuiverError('JSON_INVALID', `This is not JSON: at ${at}, ${expected} was expected, not ${found}.`, {
      details: { index: at },
    });
  }
}

function closingOf({ kind }: JsonContainer): string {
  return kind === 'object' ? '}' : ']';
}

function escapeNonAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
