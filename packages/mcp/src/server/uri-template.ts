import { charactersOf, splitTemplate, type Expression } from './uri-template-parts.js';

/** URIs beyond this length match nothing. */
const maxUriLength = 16 * 1024;

/** The values of a template's variables in a URI, decoded. */
export type UriVariables = Readonly<Record<string, string>>;

/**
 * Finds out whether a URI follows a template of RFC 6570, and with which values. The time it takes grows linearly with the
 * length of the URI: all ways to match are followed at once, none is tried again.
 *
 * Variables of `{name}` match what the expansion of a value can produce, so no `/`; `{+name}` matches reserved characters too. Neither
 * matches nothing. The other operators may be absent, and the pairs of `{?a,b}` may come in any order. Values that lead out of their
 * place (`.` and `..` between slashes, encoded or not) do not match.
 *
 * @returns `undefined` when it does not match
 * @throws `URI_TEMPLATE_INVALID`
 * @see [RFC 6570](https://www.rfc-editor.org/rfc/rfc6570.html)
 */
export function matchUriTemplate(template: string, uri: string): UriVariables | undefined {
  const parts = splitTemplate(template);
  if (uri.length > maxUriLength) return undefined;
  // reached[k][p]: the first k parts match the first p characters.
  const reached: Uint8Array[] = [new Uint8Array(uri.length + 1)];
  (reached[0] as Uint8Array)[0] = 1;
  for (const part of parts) {
    const from = reached.at(-1) as Uint8Array;
    reached.push(typeof part === 'string' ? afterLiteral(uri, part, from) : afterExpression(uri, part, from));
  }
  if (reached.at(-1)?.[uri.length] !== 1) return undefined;
  const variables: Record<string, string> = Object.create(null) as Record<string, string>;
  let end = uri.length;
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const part = parts[index] as string | Expression;
    const from = reached[index] as Uint8Array;
    const start = typeof part === 'string' ? end - part.length : startOfExpression(uri, part, from, end);
    if (typeof part !== 'string' && !readVariables(part, uri.slice(start, end), variables)) return undefined;
    end = start;
  }
  return variables;
}

/** By the algorithm of Knuth, Morris and Pratt: a literal that repeats itself costs no more than another one. */
function afterLiteral(uri: string, literal: string, from: Uint8Array): Uint8Array {
  const to = new Uint8Array(from.length);
  const borders = bordersOf(literal);
  let matched = 0;
  for (let position = 0; position < uri.length; position += 1) {
    matched = extend(literal, borders, matched, uri[position] as string);
    if (matched < literal.length) continue;
    if (from[position + 1 - literal.length] === 1) to[position + 1] = 1;
    matched = borders[matched - 1] as number;
  }
  return to;
}

/** For each beginning of a text, the length of its longest own beginning that is also its end. */
function bordersOf(text: string): readonly number[] {
  const borders = [0];
  for (let length = 1; length < text.length; length += 1) {
    borders.push(extend(text, borders, borders[length - 1] as number, text[length] as string));
  }
  return borders;
}

/** How much of the text is matched after one more character. */
function extend(text: string, borders: readonly number[], matched: number, character: string): number {
  let length = matched;
  while (length > 0 && text[length] !== character) length = borders[length - 1] as number;
  return text[length] === character ? length + 1 : length;
}

function afterExpression(uri: string, expression: Expression, from: Uint8Array): Uint8Array {
  const characters = charactersOf(expression);
  const to = new Uint8Array(from.length);
  let isInside = false;
  for (let position = 0; position < from.length; position += 1) {
    // `isInside`: some match of this expression has begun and every character since then belongs to it.
    if (isInside) to[position] = 1;
    if (from[position] === 1 && expression.optional) to[position] = 1;
    const character = uri[position];
    if (character === undefined) break;
    const begins = from[position] === 1 && (expression.prefix === '' || character === expression.prefix);
    isInside =
      (isInside && characters.has(character)) || (begins && (expression.prefix !== '' || characters.has(character)));
  }
  return to;
}

/** The last place where the expression can begin, so that the variables before it get as much as they can. */
function startOfExpression(uri: string, expression: Expression, from: Uint8Array, end: number): number {
  if (expression.optional && from[end] === 1) return end;
  const characters = charactersOf(expression);
  for (let position = end - 1; position >= 0; position -= 1) {
    const character = uri[position] as string;
    const begins = expression.prefix === '' ? characters.has(character) : character === expression.prefix;
    if (begins && from[position] === 1) return position;
    if (!characters.has(character)) break;
  }
  return end;
}

function readVariables({ prefix, names, isPairs }: Expression, text: string, into: Record<string, string>): boolean {
  const body = text.slice(prefix.length);
  if (!isPairs) {
    const value = decode(body);
    if (value === undefined || isTraversal(value)) return false;
    // One value for one variable; several variables share what they match.
    for (const name of names) if (text !== '') into[name] = value;
    return true;
  }
  for (const pair of body === '' ? [] : body.split(prefix === ';' ? ';' : '&')) {
    const [name = '', ...rest] = pair.split('=');
    const value = decode(rest.join('='));
    if (value === undefined || !names.includes(name)) return false;
    into[name] = value;
  }
  return true;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function isTraversal(value: string): boolean {
  return value.split(/[/\\]/).some((segment) => segment === '..' || segment === '.');
}
