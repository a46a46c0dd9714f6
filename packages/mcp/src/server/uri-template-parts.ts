import { QuiverError } from '@quiver/core';

/** What stands between braces in a template. */
export interface Expression {
  /** What the expansion begins with: `?` for `{?page}`, nothing for `{id}`. */
  readonly prefix: string;
  readonly names: readonly string[];
  /** The expansion reads `name=value`. */
  readonly isPairs: boolean;
  /** The expression may match nothing. */
  readonly optional: boolean;
  readonly operator: string;
}

const maxTemplateLength = 2048;

const unreserved = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%';
const reserved = ":/?#[]@!$&'()*+,;=";

/** The characters that the expansion of each operator consists of. */
const characterSets: Readonly<Record<string, ReadonlySet<string>>> = {
  '': new Set(`${unreserved},`),
  '+': new Set(unreserved + reserved),
  '#': new Set(unreserved + reserved),
  '.': new Set(`${unreserved},`),
  '/': new Set(`${unreserved},/`),
  ';': new Set(`${unreserved},;=`),
  '?': new Set(`${unreserved},&=`),
  '&': new Set(`${unreserved},&=`),
};

export function charactersOf({ operator }: Expression): ReadonlySet<string> {
  return characterSets[operator] as ReadonlySet<string>;
}

const known = new Map<string, (string | Expression)[]>();
const maxKnown = 1000;

/**
 * Splits a template into literal text and expressions.
 *
 * @throws `URI_TEMPLATE_INVALID`
 */
export function splitTemplate(template: string): readonly (string | Expression)[] {
  const before = known.get(template);
  if (before) return before;
  if (template.length > maxTemplateLength) throw invalid(template, `it is longer than ${maxTemplateLength} characters`);
  const parts: (string | Expression)[] = [];
  let position = 0;
  while (position < template.length) {
    const open = template.indexOf('{', position);
    const literal = template.slice(position, open === -1 ? undefined : open);
    if (literal.includes('}')) throw invalid(template, 'a brace is closed that was not opened');
    if (literal !== '') parts.push(literal);
    if (open === -1) break;
    const close = template.indexOf('}', open);
    if (close === -1) throw invalid(template, 'a brace is not closed');
    parts.push(parseExpression(template, template.slice(open + 1, close)));
    position = close + 1;
  }
  if (known.size >= maxKnown) known.clear();
  known.set(template, parts);
  return parts;
}

function parseExpression(template: string, text: string): Expression {
  const operator = /^[+#./;?&]/.exec(text)?.[0] ?? '';
  const names = text
    .slice(operator.length)
    .split(',')
    .map((variable) => variable.replace(/(?:\*|:\d{1,4})$/, ''));
  if (!names.every((name) => /^[A-Za-z0-9_%.]+$/.test(name))) throw invalid(template, `{${text}} is not an expression`);
  return {
    operator,
    prefix: operator === '+' ? '' : operator,
    names,
    isPairs: operator === ';' || operator === '?' || operator === '&',
    optional: operator !== '' && operator !== '+',
  };
}

function invalid(template: string, reason: string): QuiverError {
  return new QuiverError(
    'URI_TEMPLATE_INVALID',
    `The URI template '${template.slice(0, 100)}' cannot be used: ${reason}. See RFC 6570.`,
  );
}
