import type { FieldPath, Filter } from './filter.js';
import { filterError } from './filter-error.js';

const maxPatternLength = 1000;
/** Matching time grows with the length of the text to the power of these. */
const maxUnboundedQuantifiers = 3;
const supportedFlags = 'imsu';

/**
 * Checks a regular expression from a filter.
 *
 * JavaScript's engine backtracks, so some patterns take exponential time. Refused are the constructs that make that possible:
 * a repeated group that itself repeats or offers alternatives, and back-references. Also refused are more than three unbounded
 * quantifiers, which bounds the time by a power of the text's length. That is no guarantee of speed: on long texts
 * (many thousand characters) a hostile pattern such as `.*a.*a.*b` can still take seconds.
 */
export function parseRegex(pattern: string, flags: string, path: FieldPath, where: string): Filter {
  if (pattern.length > maxPatternLength) {
    throw filterError(
      where,
      `A pattern of ${pattern.length} characters is too long; at most ${maxPatternLength} are allowed.`,
    );
  }
  const unsupported = [...flags].find((flag, index) => !supportedFlags.includes(flag) || flags.indexOf(flag) !== index);
  if (unsupported !== undefined) {
    throw filterError(
      where,
      `The flag '${unsupported}' is not supported in a pattern; supported are ${[...supportedFlags].join(', ')}, each once.`,
    );
  }
  try {
    // Only to see whether it compiles.
    void new RegExp(pattern, flags);
  } catch (error) {
    throw filterError(where, `'${pattern}' is not a regular expression: ${(error as Error).message}.`, error);
  }
  const danger = findDanger(pattern);
  if (danger !== undefined) throw filterError(where, `The pattern '${pattern}' could take very long: ${danger}.`);
  return Object.freeze({ kind: 'regex', path, pattern, flags });
}

interface Group {
  repeats: boolean;
  alternates: boolean;
}

/** The pattern is known to compile, so brackets match and quantifiers follow something. */
function findDanger(pattern: string): string | undefined {
  const open: Group[] = [{ repeats: false, alternates: false }];
  let closed: Group | undefined;
  let unbounded = 0;
  for (let at = 0; at < pattern.length; at++) {
    const token = tokenAt(pattern, at);
    const before = closed;
    closed = undefined;
    const group = open.at(-1) as Group;
    if (/^\\(?:[1-9]|k)/.test(token)) return 'it refers back to a group';
    if (token === '(') open.push({ repeats: false, alternates: false });
    else if (token === ')') {
      closed = open.pop() as Group;
      const outer = open.at(-1) as Group;
      outer.repeats ||= closed.repeats;
      outer.alternates ||= closed.alternates;
    } else if (token === '|') group.alternates = true;
    else if (isRepetition(token)) {
      if (before?.repeats) return 'a repeated group contains a repetition';
      if (before?.alternates) return 'a repeated group contains alternatives';
      if (isUnbounded(token)) unbounded++;
      group.repeats = true;
    }
    at += token.length - 1;
  }
  if (unbounded > maxUnboundedQuantifiers)
    return `it has ${unbounded} unbounded quantifiers, at most ${maxUnboundedQuantifiers} are allowed`;
  return undefined;
}

/** An escape, a class, a group's opening with its kind, a quantifier, or one character. */
function tokenAt(pattern: string, at: number): string {
  const rest = pattern.slice(at);
  const token = /^(?:\\[^]|\[(?:\\[^]|[^\]\\])*\]|\{\d+(?:,\d*)?\})/.exec(rest)?.[0];
  return token ?? pattern.charAt(at);
}

/** A range as wide as this behaves like an unbounded one. */
const wideRange = 10;

function isUnbounded(quantifier: string): boolean {
  if (quantifier.length === 1) return true;
  const [, from = '', to] = /^\{(\d+),?(\d*)\}$/.exec(quantifier) ?? [];
  return quantifier.includes(',') && (to === '' || Number(to) - Number(from) > wideRange);
}

/** `?` and `{0,1}` do not repeat; `(?` is skipped by its `?` doing nothing. */
function isRepetition(token: string): boolean {
  return (
    token === '*' || token === '+' || (token.startsWith('{') && token.length > 2 && !/^\{[01](?:,1)?\}$/.test(token))
  );
}
