import type { FieldPath, Filter } from './filter.js';
import { filterError } from './filter-error.js';

const maxPatternLength = 1000;
/** Matching time grows with the length of the text to the power of these. */
const maxUnboundedQuantifiers = 3;
/** Ways to match that the engine may have to try one after another: alternatives and optional parts, multiplied. */
const maxWays = 10_000;
/** A range as wide as this behaves like an unbounded one. */
const wideRange = 10;
const supportedFlags = 'imsu';

/**
 * Checks a regular expression from a filter.
 *
 * JavaScript's engine backtracks, so some patterns take exponential time. Refused are the constructs that make that possible:
 * a repeated group that itself repeats, has an optional part or offers alternatives; many optional parts or alternatives in a
 * row; back-references. Also refused are more than three unbounded quantifiers, which bounds the time by a power of the
 * text's length. That is no guarantee of speed: on long texts (many thousand characters) a hostile pattern such as
 * `.*a.*a.*b` can still take seconds.
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
  /** Something in it can match in more than one way. */
  hasChoice: boolean;
  alternatives: number;
}

/** The pattern is known to compile, so brackets match and quantifiers follow something. */
function findDanger(pattern: string): string | undefined {
  const open: Group[] = [{ hasChoice: false, alternatives: 1 }];
  let closed: Group | undefined;
  let previous = '(';
  let unbounded = 0;
  let ways = 1;
  for (const token of tokensOf(pattern)) {
    const group = open.at(-1) as Group;
    const quantifier = parseQuantifier(token, previous);
    if (/^\\(?:[1-9]|k)/.test(token)) return 'it refers back to a group';
    if (token === '(') open.push({ hasChoice: false, alternatives: 1 });
    else if (token === '|') group.alternatives++;
    else if (quantifier) {
      if (quantifier.max > 1 && closed?.hasChoice) return 'a repeated group contains a choice';
      const width = quantifier.max - quantifier.min;
      if (width > wideRange) unbounded++;
      else ways *= width + 1;
      group.hasChoice ||= width > 0;
    }
    closed = undefined;
    if (token === ')') {
      closed = open.pop() as Group;
      ways *= closed.alternatives;
      closed.hasChoice ||= closed.alternatives > 1;
      (open.at(-1) as Group).hasChoice ||= closed.hasChoice;
    }
    previous = quantifier ? 'quantifier' : token;
  }
  if (unbounded > maxUnboundedQuantifiers)
    return `it has ${unbounded} unbounded quantifiers, at most ${maxUnboundedQuantifiers} are allowed`;
  if (ways > maxWays) return 'it has too many optional parts and alternatives';
  return undefined;
}

/** Escapes, classes, ranges such as `{2,5}`, and single characters. */
function tokensOf(pattern: string): string[] {
  return pattern.match(/\\[^]|\[(?:\\[^]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[^]/g) ?? [];
}

/** `?` after `(` begins the kind of a group, and after a quantifier makes it lazy: there it is no quantifier. */
function parseQuantifier(token: string, previous: string): { min: number; max: number } | undefined {
  if (token === '*') return { min: 0, max: Infinity };
  if (token === '+') return { min: 1, max: Infinity };
  if (token === '?') return previous === '(' || previous === 'quantifier' ? undefined : { min: 0, max: 1 };
  const range = /^\{(\d+)(,?)(\d*)\}$/.exec(token);
  if (!range) return undefined;
  const min = Number(range[1]);
  if (range[2] === '') return { min, max: min };
  return { min, max: range[3] === '' ? Infinity : Number(range[3]) };
}
