import { QuiverError } from '@quiver/core';

/** A value in a JSON text, by its position. */
export type JsonNode = JsonScalar | JsonContainer;

export interface JsonScalar {
  readonly kind: 'string' | 'literal';
  readonly start: number;
  readonly end: number;
}

export interface JsonContainer {
  readonly kind: 'object' | 'array';
  readonly start: number;
  readonly end: number;
  readonly members: readonly JsonMember[];
}

/** A member of an object, or an element of a list. */
export interface JsonMember {
  /** Start of the member: of its key, or of its value in a list. */
  readonly start: number;
  /** Present in objects. */
  readonly key?: JsonScalar;
  readonly value: JsonNode;
}

const space = /[ \t\n\r]*/y;
const escape = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

interface OpenContainer {
  readonly kind: 'object' | 'array';
  readonly start: number;
  readonly members: JsonMember[];
  key: JsonScalar | undefined;
}

/**
 * Reads a JSON text into a tree of positions. Nothing is converted, so that numbers keep every digit and keys that occur twice
 * both stay. Any depth is read.
 *
 * @throws `JSON_INVALID` with the position of the first character that is not JSON
 * @see [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259.html)
 */
export function readJson(text: string): JsonNode | undefined {
  const open: OpenContainer[] = [];
  let root: JsonNode | undefined;
  // A byte order mark is not part of the text (RFC 8259, section 8.1).
  let at = skip(text, text.charCodeAt(0) === 0xfeff ? 1 : 0);
  if (at === text.length) return undefined;

  const complete = (value: JsonNode): void => {
    const container = open.at(-1);
    if (!container) root = value;
    else {
      const { key } = container;
      container.members.push(key ? { start: key.start, key, value } : { start: value.start, value });
      container.key = undefined;
    }
  };

  while (at < text.length) {
    const container = open.at(-1);
    if (root) throw invalid(text, at, 'the end of the text');
    if (container?.kind === 'object' && !container.key) {
      if (text[at] === '}' && container.members.length === 0) {
        at = afterValue(close(at, container));
        continue;
      }
      const key = readString(text, at);
      if (!key) throw invalid(text, at, 'a key in quotation marks');
      container.key = key;
      at = skip(text, key.end);
      if (text[at] !== ':') throw invalid(text, at, "':'");
      at = skip(text, at + 1);
    }
    const character = text[at];
    if (character === ']' && container?.kind === 'array' && container.members.length === 0)
      at = afterValue(close(at, container));
    else if (character === '{' || character === '[') {
      open.push({ kind: character === '{' ? 'object' : 'array', start: at, members: [], key: undefined });
      at = skip(text, at + 1);
    } else {
      const value = readString(text, at) ?? readLiteral(text, at);
      if (!value) throw invalid(text, at, 'a value');
      complete(value);
      at = afterValue(skip(text, value.end));
    }
  }
  if (!root) throw invalid(text, text.length, 'more text');
  return root;

  /** Closes as many containers as end here. */
  function afterValue(position: number): number {
    for (let next = position; ;) {
      const container = open.at(-1);
      if (!container) return next;
      const closing = container.kind === 'object' ? '}' : ']';
      if (text[next] === ',') {
        next = skip(text, next + 1);
        if (text[next] === closing) throw invalid(text, next, 'a value');
        return next;
      }
      if (text[next] !== closing) throw invalid(text, next, `',' or '${closing}'`);
      next = close(next, container);
    }
  }

  function close(position: number, { kind, start, members }: OpenContainer): number {
    open.pop();
    complete({ kind, start, end: position + 1, members });
    return skip(text, position + 1);
  }
}

function skip(text: string, at: number): number {
  space.lastIndex = at;
  space.test(text);
  return space.lastIndex;
}

function readString(text: string, start: number): JsonScalar | undefined {
  if (text.charCodeAt(start) !== 0x22) return undefined;
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) return { kind: 'string', start, end: at + 1 };
    if (unit < 0x20) throw invalid(text, at, 'no control character in a string');
    if (unit !== 0x5c) continue;
    escape.lastIndex = at + 1;
    if (!escape.test(text)) throw invalid(text, at, 'an escape sequence');
    at = escape.lastIndex - 1;
  }
  throw invalid(text, text.length, "'\"'");
}

function readLiteral(text: string, at: number): JsonScalar | undefined {
  literal.lastIndex = at;
  return literal.test(text) ? { kind: 'literal', start: at, end: literal.lastIndex } : undefined;
}

function invalid(text: string, at: number, expected: string): QuiverError {
  const found = at < text.length ? `'${text.slice(at, at + 12)}'` : 'the end of the text';
  return new QuiverError('JSON_INVALID', `This is not JSON: at ${at}, ${expected} was expected, not ${found}.`, {
    details: { index: at },
  });
}

/**
 * Returns the positions of the values of a JSON text: one, or one for each line of JSON Lines.
 *
 * @throws `JSON_INVALID` with the position of the first error
 * @see [JSON Lines](https://jsonlines.org)
 */
export function findJsonValues(text: string): { start: number; end: number }[] {
  try {
    const root = readJson(text);
    return root ? [root] : [];
  } catch (error) {
    return findJsonLines(text) ?? throwError(error);
  }
}

/** Returns `undefined` for a text that is not JSON Lines. Checking stops at the first line that is not JSON. */
function findJsonLines(text: string): { start: number; end: number }[] | undefined {
  const values: { start: number; end: number }[] = [];
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    try {
      const value = readJson(text.slice(start, end));
      if (value) values.push({ start: start + value.start, end: start + value.end });
    } catch {
      return undefined;
    }
    start = end + 1;
  }
  return values.length > 1 ? values : undefined;
}

function throwError(error: unknown): never {
  throw error;
}
