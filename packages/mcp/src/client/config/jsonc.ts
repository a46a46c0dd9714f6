/** A place in a text that is not JSON. The message never quotes the text: configuration files contain secrets. */
export class JsoncError extends Error {
  override readonly name = 'JsoncError';
}

/** Arrays and objects inside each other. Settings of editors have fewer than twenty. */
const maxDepth = 200;

/** White space and comments, a separator, a string, or a number or name. Tried at one position, so the work is linear. */
const token = /(?:[\s\uFEFF]|\/\/[^\n]*|\/\*[^*]*\*+(?:[^*/][^*]*\*+)*\/)+|[{}[\]:,]|"(?:[^"\\\n]|\\.)*"|[\w.+-]+/gy;

/**
 * Parses JSON with comments and trailing commas, as editors write it.
 *
 * @throws `JsoncError` with line and column
 */
export function parseJsonc(text: string): unknown {
  const tokens = tokenize(text);
  let position = 0;

  const peek = (): string => tokens[position]?.text ?? '';
  const accept = (separator: string): boolean => {
    if (peek() !== separator) return false;
    position += 1;
    return true;
  };
  const expected = (what: string): JsoncError => errorAt(text, tokens[position]?.start ?? text.length, what);

  /** Reads the members of an array or object, up to its end. */
  const readMembers = (end: string, readMember: () => void): void => {
    while (!accept(end)) {
      readMember();
      if (accept(',')) continue;
      if (!accept(end)) throw expected(`a comma or ${end}`);
      return;
    }
  };
  const readScalar = (what: string): unknown => {
    try {
      const value: unknown = JSON.parse(peek());
      position += 1;
      return value;
    } catch {
      throw expected(what);
    }
  };
  const readValue = (depth: number): unknown => {
    if (depth > maxDepth) throw expected(`at most ${maxDepth} levels of nesting`);
    if (accept('[')) {
      const items: unknown[] = [];
      readMembers(']', () => items.push(readValue(depth + 1)));
      return items;
    }
    if (!accept('{')) return readScalar('a value: text in double quotes, a number, true, false, null, [ or {');
    const members: [string, unknown][] = [];
    readMembers('}', () => {
      if (!peek().startsWith('"')) throw expected('a name in double quotes');
      const name = readScalar('a name in double quotes') as string;
      if (!accept(':')) throw expected('a colon');
      members.push([name, readValue(depth + 1)]);
    });
    // Defines own members, also one named `__proto__`.
    return Object.fromEntries(members);
  };

  const value = readValue(0);
  if (position < tokens.length) throw expected('the end of the file');
  return value;
}

function tokenize(text: string): { text: string; start: number }[] {
  const tokens: { text: string; start: number }[] = [];
  let end = 0;
  for (const match of text.matchAll(token)) {
    end = match.index + match[0].length;
    if (!/^[\s\uFEFF/]/.test(match[0])) tokens.push({ text: match[0], start: match.index });
  }
  if (end < text.length) throw errorAt(text, end, 'JSON, with every text and comment closed');
  return tokens;
}

function errorAt(text: string, offset: number, expected: string): JsoncError {
  const lines = text.slice(0, offset).split('\n');
  return new JsoncError(`line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}: expected ${expected}`);
}
