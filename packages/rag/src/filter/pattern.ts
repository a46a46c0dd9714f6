import { QuiverError } from '@quiver/core';
import { RE2JS } from 're2js';
import { filterError } from './filter.js';

const maxPatternLength = 1000;
/** Larger programs cost more than a filter should: the engine spends up to one step per instruction and character. */
const maxInstructions = 1000;

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

/** Steps that the patterns of one query may still take. Evaluation reduces it. */
export interface PatternBudget {
  steps: number;
}

/** One to two seconds of CPU time. */
export const patternSteps = 100_000_000;

/** Visiting an instruction to build a state takes 150 to 200 ns, reading a character 5 to 40 ns. */
const stepsPerVisit = 10;

/** The native search for longer literals can take the product of both lengths: 200 ns per character for 1,000 characters. */
const maxNativeLiteral = 200;

/**
 * Checks a pattern of `$regex`: the syntax of JavaScript without features that require backtracking (lookaround, back-references), matched by
 * code point. `\w`, `\b` and `\s` are ASCII; `.` excludes only `\n`.
 *
 * @param where - place in the filter, for errors
 * @throws `FILTER_INVALID` with the name of the unsupported syntax; for more than 1,000 characters or instructions
 * @see [RE2 syntax](https://github.com/google/re2/wiki/Syntax)
 */
export function checkPattern(source: string, flags: string, where: string): void {
  compile(source, flags, where);
}

/**
 * Returns the test of a pattern, in time proportional to the length of the text.
 *
 * The engine reads a text with a deterministic automaton, whose states it builds when it first enters them. A test takes one step for each
 * character, and ten for each instruction that the engine visits to build a state. The engine changes to a slower one where there are too
 * many states; a text then takes its characters times the instructions of the pattern.
 *
 * The states belong to the test, so that equal calls take equal steps.
 *
 * @throws (from the test) `FILTER_TOO_COSTLY`
 */
export function createPatternTest(source: string, flags: string, budget: PatternBudget): (text: string) => boolean {
  const program = compile(source, flags, '');
  const instructions = program.programSize();
  const spend = (steps: number): void => {
    budget.steps -= steps;
    if (budget.steps < 0) throw tooCostly(source);
  };
  const engine = program.re2();
  // Its steps for a character are not counted.
  Object.assign(engine, { onepass: null });
  if (instructions > maxNativeLiteral) Object.assign(engine, { prefilter: null, prefixComplete: false });
  const { dfa } = engine;
  const [visit, match] = [dfa.closure.bind(dfa), dfa.match.bind(dfa)];
  dfa.closure = (...state) => {
    const visited = visit(...state);
    spend(visited.pcs.length * stepsPerVisit);
    return visited;
  };
  dfa.match = (input, ...options) => {
    const isMatch: unknown = match(input, ...options);
    if (isMatch === null) spend((input as { endPos(): number }).endPos() * instructions);
    return isMatch;
  };
  return (text) => {
    spend(text.length);
    return program.test(text);
  };
}

function tooCostly(pattern: string): QuiverError {
  return new QuiverError(
    'FILTER_TOO_COSTLY',
    `The pattern '${pattern}' takes too many steps: the patterns of one query share ${patternSteps}, at least one for each character that they read. Add a condition that leaves fewer records, use $contains, or make the pattern simpler.`,
    { details: { pattern, steps: patternSteps } },
  );
}

function compile(source: string, flags: string, where: string): RE2JS {
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
  return program;
}

function findUnsupported(source: string): string | undefined {
  for (const { 0: token, index } of source.matchAll(/\\[^]|\((?:\?(?:<[=!]|[=!>]))?/g)) {
    const found = unsupportedSyntax.find(([syntax]) => syntax.test(token));
    if (found) return found[1];
    if (/^\\[a-z\d]/i.test(token) && !knownEscapes.test(source.slice(index))) return `the escape '${token}'`;
  }
  return undefined;
}
