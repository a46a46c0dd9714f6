import { QuiverError } from '@quiver/core';
import type { UriVariables } from '../definition/server-config.js';
import { MAX_URI_LENGTH, MAX_URI_TEMPLATE_LENGTH } from '../limits.js';

/** Text between braces in a template. */
interface Expression {
  /** First character of the expansion: `?` for `{?page}`, empty for `{id}`. */
  readonly prefix: string;
  readonly names: readonly string[];
  /** Whether the expansion reads `name=value`. */
  readonly hasPairs: boolean;
  /** Whether the expression may match nothing. */
  readonly isOptional: boolean;
  /** Characters that an expansion consists of, besides the first. */
  readonly characters: ReadonlySet<string>;
}

/**
 * Returns the values of a template's variables in a URI, or `undefined` when the URI does not match.
 *
 * The CPU time grows linearly with the length of the URI: all matches are followed at once, without backtracking. `{name}` matches
 * what the expansion of a value can contain, so no `/`; `{+name}` matches reserved characters too. Neither matches nothing. The other
 * operators may be absent, and the pairs of `{?a,b}` may come in any order. Values that lead to another folder (`.` and `..` between
 * slashes, percent-encoded any number of times) do not match.
 *
 * @throws `URI_TEMPLATE_INVALID`
 * @see [RFC 6570](https://www.rfc-editor.org/rfc/rfc6570.html)
 */
export function matchUriTemplate(template: string, uri: string): UriVariables | undefined {
  const parts = parseTemplate(template);
  if (uri.length > MAX_URI_LENGTH) return undefined;
  // starts[k][p]: where part k begins when the first k + 1 parts match the first p characters; -1 when they do not match.
  const starts: Int32Array[] = [];
  let reached = new Int32Array(uri.length + 1).fill(-1);
  reached[0] = 0;
  for (const part of parts) {
    reached = typeof part === 'string' ? afterLiteral(uri, part, reached) : afterExpression(uri, part, reached);
    starts.push(reached);
  }
  if (reached[uri.length] === -1) return undefined;
  const variables = Object.create(null) as Record<string, string>;
  let end = uri.length;
  for (const part of parts.toReversed()) {
    const start = starts.pop()?.[end] ?? 0;
    if (typeof part !== 'string' && !readVariables(part, uri.slice(start, end), variables)) return undefined;
    end = start;
  }
  return variables;
}

function afterLiteral(uri: string, literal: string, from: Int32Array): Int32Array<ArrayBuffer> {
  const to = new Int32Array(from.length).fill(-1);
  for (let position = 0; position < from.length; position += 1)
    if (from[position] !== -1 && uri.startsWith(literal, position)) to[position + literal.length] = position;
  return to;
}

/** An expression begins as late as it can, so that variables before it get as much as they can. */
function afterExpression(uri: string, expression: Expression, from: Int32Array): Int32Array<ArrayBuffer> {
  const { characters, prefix, isOptional } = expression;
  const to = new Int32Array(from.length);
  let begin = -1;
  for (let position = 0; position < from.length; position += 1) {
    const isReached = from[position] !== -1;
    to[position] = isReached && isOptional ? position : begin;
    const character = uri[position] ?? '';
    if (isReached && (prefix === '' ? characters.has(character) : character === prefix)) begin = position;
    else if (!characters.has(character)) begin = -1;
  }
  return to;
}

function readVariables(expression: Expression, text: string, into: Record<string, string>): boolean {
  const { prefix, names, hasPairs } = expression;
  if (text === '') return true;
  const body = text.slice(prefix.length);
  // Several variables without names share what they match.
  const pairs = hasPairs ? body.split(prefix === ';' ? ';' : '&') : names.map((name) => `${name}=${body}`);
  for (const pair of body === '' && hasPairs ? [] : pairs) {
    const [name = '', ...rest] = pair.split('=');
    const value = decode(rest.join('='));
    if (value === undefined || !names.includes(name) || (!hasPairs && isTraversal(value))) return false;
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

/** Applications may decode a value again, or resolve it as a URL, so encoded forms count too. */
function isTraversal(value: string): boolean {
  const decoded = value
    .replaceAll(/%(?:25)+/g, '%')
    .replaceAll(/%2e/gi, '.')
    .replaceAll(/%2f|%5c/gi, '/');
  return decoded.split(/[/\\]/).some((segment) => segment === '..' || segment === '.');
}

const unreserved = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%,';
const reserved = ":/?#[]@!$&'()*+;=";

/** @see [RFC 6570, section 3.2 – Expression Expansion](https://www.rfc-editor.org/rfc/rfc6570.html#section-3.2) */
const charactersByOperator: Readonly<Record<string, ReadonlySet<string>>> = {
  '': new Set(unreserved),
  '+': new Set(unreserved + reserved),
  '#': new Set(unreserved + reserved),
  '.': new Set(unreserved),
  '/': new Set(`${unreserved}/`),
  ';': new Set(`${unreserved};=`),
  '?': new Set(`${unreserved}&=`),
  '&': new Set(`${unreserved}&=`),
};

/** Splits a template into literals and expressions. */
function parseTemplate(template: string): (string | Expression)[] {
  if (template.length > MAX_URI_TEMPLATE_LENGTH)
    throw invalid(template, `it is longer than ${MAX_URI_TEMPLATE_LENGTH} characters`);
  return template
    .split(/(\{[^{}]*\})/)
    .filter((part) => part !== '')
    .map((part) => {
      if (part.startsWith('{') && part.endsWith('}')) return parseExpression(template, part.slice(1, -1));
      if (/[{}]/.test(part)) throw invalid(template, 'its braces do not match');
      return part;
    });
}

function parseExpression(template: string, text: string): Expression {
  const operator = /^[+#./;?&]/.exec(text)?.[0] ?? '';
  const variables = text.slice(operator.length).split(',');
  const names = variables.map((variable) => variable.replace(/(?:\*|:\d{1,4})$/, ''));
  if (!names.every((name) => /^[A-Za-z0-9_%.]+$/.test(name))) throw invalid(template, `{${text}} is not an expression`);
  return {
    names,
    prefix: operator === '+' ? '' : operator,
    hasPairs: operator === ';' || operator === '?' || operator === '&',
    isOptional: operator !== '' && operator !== '+',
    characters: charactersByOperator[operator] as ReadonlySet<string>,
  };
}

function invalid(template: string, reason: string): QuiverError {
  return new QuiverError(
    'URI_TEMPLATE_INVALID',
    `The URI template '${template.slice(0, 100)}' is invalid: ${reason}. See RFC 6570.`,
  );
}
