import { RE2JS } from 're2js';
import { filterError } from './filter.js';

const maxPatternLength = 1000;
/** Larger programs cost more than a filter should: the engine spends up to one step per instruction and character. */
const maxInstructions = 1000;
const maxCachedPatterns = 100;

const flagBits: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
  // Text is always matched by code point.
  u: 0,
};

/** Letters and digits that may follow a backslash; the engine would read others as themselves, silently. */
const knownEscapes = /^\\(?:[dDwWsSbBpPntrfvAzQE0]|c[A-Za-z]|x(?:[\da-fA-F]{2}|\{)|u(?:[\da-fA-F]{4}|\{))/;

const unsupportedSyntax: readonly (readonly [RegExp, string])[] = [
  [/^\(\?<[=!]/, 'lookbehind'],
  [/^\(\?[=!]/, 'lookahead'],
  [/^\(\?>/, 'an atomic group'],
  [/^\\[1-9k]/, 'a back-reference'],
];

/** A pattern that matches in time proportional to the length of the text. */
export interface Pattern {
  /** Upper bound of the steps per character of text. */
  readonly instructions: number;
  test(text: string): boolean;
}

/** Compiled patterns by flags and source; above 100, the least recently used one is evicted. */
const cache = new Map<string, Pattern>();

/**
 * Compiles a pattern of `$regex`: the syntax of JavaScript without features that require backtracking (lookaround, back-references), matched by
 * code point. `\w`, `\b` and `\s` are ASCII; `.` excludes only `\n`.
 *
 * @param where - place in the filter, for errors
 * @throws `FILTER_INVALID` with the name of the unsupported syntax; for more than 1,000 characters or instructions
 * @see [RE2 syntax](https://github.com/google/re2/wiki/Syntax)
 */
export function compilePattern(source: string, flags: string, where = ''): Pattern {
  const key = `${flags}/${source}`;
  const pattern = cache.get(key) ?? compile(source, flags, where);
  cache.delete(key);
  cache.set(key, pattern);
  const [oldest] = cache.keys();
  if (cache.size > maxCachedPatterns && oldest !== undefined) cache.delete(oldest);
  return pattern;
}

function compile(source: string, flags: string, where: string): Pattern {
  if (source.length > maxPatternLength)
    throw filterError(
      where,
      `A pattern of ${source.length} characters is too long; at most ${maxPatternLength} are allowed.`,
    );
  let bits = 0;
  for (const [index, flag] of [...flags].entries()) {
    if (!Object.hasOwn(flagBits, flag) || flags.indexOf(flag) !== index)
      throw filterError(
        where,
        `The flag '${flag}' is not supported in a pattern; supported are ${Object.keys(flagBits).join(', ')}, each once.`,
      );
    bits |= flagBits[flag] as number;
  }
  const unsupported = findUnsupported(source);
  if (unsupported !== undefined)
    throw filterError(
      where,
      `The pattern '${source}' contains ${unsupported}, which is not supported: patterns run in linear time.`,
    );
  let program: RE2JS;
  try {
    program = RE2JS.compile(RE2JS.translateRegExp(source), bits);
  } catch (error) {
    throw filterError(where, `'${source}' is not a supported regular expression: ${(error as Error).message}.`, error);
  }
  const instructions = program.programSize();
  if (instructions > maxInstructions)
    throw filterError(
      where,
      `The pattern '${source}' needs ${instructions} instructions, at most ${maxInstructions} are allowed; use smaller repeat counts.`,
    );
  return { instructions, test: (text) => program.test(text) };
}

function findUnsupported(source: string): string | undefined {
  for (const { 0: token, index } of source.matchAll(/\\[^]|\((?:\?(?:<[=!]|[=!>]))?/g)) {
    const found = unsupportedSyntax.find(([syntax]) => syntax.test(token));
    if (found) return found[1];
    if (/^\\[a-z\d]/i.test(token) && !knownEscapes.test(source.slice(index))) return `the escape '${token}'`;
  }
  return undefined;
}
