import { QuiverError } from '@quiver/core';
import type { FieldPath, Filter, FilterOrder, FilterScalar } from './filter.js';
import { compilePattern } from './pattern.js';

/** Decides whether metadata match a filter. */
export type FilterTest = (metadata: unknown) => boolean;

/** Steps that the patterns of one query may still take: characters of text times instructions of the pattern. */
export interface PatternBudget {
  steps: number;
}

/** At most about two seconds of CPU time; usually a tenth of that. */
const patternSteps = 100_000_000;

/** Filters are frozen, so a compiled test stays valid. */
const tests = new WeakMap<Filter, FilterTest>();

/**
 * Returns whether metadata match a filter. This function defines the meaning of filters: every store must agree with it.
 *
 * The patterns of one parsed filter share a budget of 100 million steps, which is meant for one query: parse the filter again for the
 * next one.
 *
 * @param metadata - JSON data; Date objects count as their ISO strings
 * @throws `FILTER_TOO_COSTLY` when `$regex` has to read more text than the budget allows
 *
 * @example
 * evaluateFilter(parseFilter({ year: { $gte: 2024 } }), { year: 2025 }); // true
 */
export function evaluateFilter(filter: Filter, metadata: unknown): boolean {
  let test = tests.get(filter);
  if (!test) tests.set(filter, (test = createFilterTest(filter)));
  return test(metadata);
}

export function createPatternBudget(): PatternBudget {
  return { steps: patternSteps };
}

/** Returns the test of a filter or of a part of one. Parts of the same filter share the budget. */
export function createFilterTest(filter: Filter, budget: PatternBudget = createPatternBudget()): FilterTest {
  const compile = (part: Filter): FilterTest => createFilterTest(part, budget);
  switch (filter.kind) {
    case 'and': {
      const parts = filter.filters.map(compile);
      return (root) => parts.every((part) => part(root));
    }
    case 'or': {
      const parts = filter.filters.map(compile);
      return (root) => parts.some((part) => part(root));
    }
    case 'not': {
      const inner = compile(filter.filter);
      return (root) => !inner(root);
    }
    case 'equal': {
      const { value } = filter;
      return anyValue(filter.path, (candidate) => candidate === value, value === null);
    }
    case 'in': {
      const values = new Set<unknown>(filter.values);
      return anyValue(filter.path, (candidate) => values.has(candidate), values.has(null));
    }
    case 'order':
      return anyValue(filter.path, orderTest(filter.order, filter.value));
    case 'regex': {
      const pattern = compilePattern(filter.pattern, filter.flags);
      return anyValue(filter.path, (candidate) => {
        if (typeof candidate !== 'string') return false;
        budget.steps -= candidate.length * pattern.instructions;
        if (budget.steps < 0) throw tooCostly(filter.pattern);
        return pattern.test(candidate);
      });
    }
    case 'contains':
      return containsTest(filter.path, filter.value);
    case 'exists': {
      const read = fieldReader(filter.path);
      return (root) => read(root) !== undefined;
    }
    case 'size': {
      const read = fieldReader(filter.path);
      return (root) => {
        const value = read(root);
        return Array.isArray(value) && value.length === filter.size;
      };
    }
    case 'element': {
      const read = fieldReader(filter.path);
      const inner = compile(filter.filter);
      return (root) => {
        const value = read(root);
        return Array.isArray(value) && value.some(inner);
      };
    }
  }
}

function tooCostly(pattern: string): QuiverError {
  return new QuiverError(
    'FILTER_TOO_COSTLY',
    `The pattern '${pattern}' would have to read too much text: the patterns of one query may take ${patternSteps} steps (characters times instructions). Add a condition that leaves fewer records, or use $contains.`,
    { details: { pattern, steps: patternSteps } },
  );
}

/** A test of the value, or of any element if it is an array. */
function anyValue(path: FieldPath, test: FilterTest, matchesMissing = false): FilterTest {
  const read = fieldReader(path);
  return (root) => {
    const value = read(root);
    if (value === undefined) return matchesMissing;
    return Array.isArray(value) ? value.some((item) => test(toPlainValue(item))) : test(value);
  };
}

function containsTest(path: FieldPath, value: FilterScalar): FilterTest {
  const read = fieldReader(path);
  const isPart = typeof value === 'string' ? createPartTest(value.toLowerCase()) : undefined;
  return (root) => {
    const candidate = read(root);
    if (Array.isArray(candidate)) return candidate.some((item) => toPlainValue(item) === value);
    return isPart !== undefined && typeof candidate === 'string' && isPart(candidate.toLowerCase());
  };
}

/** Longer parts of periodic text take `includes` the product of both lengths: 9.8 s for 100,000 characters in 400,000. */
const maxNativePart = 200;

/**
 * Returns a test for texts that contain a part, in linear time.
 *
 * @see Knuth, Morris and Pratt: Fast Pattern Matching in Strings. 1977. https://doi.org/10.1137/0206024
 */
function createPartTest(part: string): (text: string) => boolean {
  if (part.length <= maxNativePart) return (text) => text.includes(part);
  /** For each prefix of the part: length of the longest shorter prefix that it ends with. */
  const shorter = new Int32Array(part.length + 1);
  const extend = (matched: number, unit: number): number => {
    let length = matched;
    while (length > 0 && part.charCodeAt(length) !== unit) length = shorter[length] as number;
    return part.charCodeAt(length) === unit ? length + 1 : 0;
  };
  for (let end = 1; end < part.length; end += 1)
    shorter[end + 1] = extend(shorter[end] as number, part.charCodeAt(end));
  return (text) => {
    let matched = 0;
    for (let at = 0; at < text.length && matched < part.length; at += 1) matched = extend(matched, text.charCodeAt(at));
    return matched === part.length;
  };
}

const orders: Readonly<Record<FilterOrder, (difference: number) => boolean>> = {
  gt: (difference) => difference > 0,
  gte: (difference) => difference >= 0,
  lt: (difference) => difference < 0,
  lte: (difference) => difference <= 0,
};

function orderTest(order: FilterOrder, limit: string | number): FilterTest {
  const accept = orders[order];
  if (typeof limit === 'number') return (value) => typeof value === 'number' && accept(value - limit);
  return (value) => typeof value === 'string' && accept(compareCodePoints(value, limit));
}

/** As the collation "C" of databases; JavaScript's own `<` differs for characters outside the basic plane. */
function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for characters above all others. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Reads a path in metadata; a key that contains the dots takes precedence. Missing and `undefined` are equivalent. */
export function fieldReader(path: FieldPath): (root: unknown) => unknown {
  const [first = '', ...rest] = path;
  if (path.length === 0) return toPlainValue;
  if (rest.length === 0) return (root) => toPlainValue(ownValue(root, first));
  const literal = path.join('.');
  return (root) => {
    let value = ownValue(root, literal);
    if (value === undefined) {
      value = root;
      for (const key of path) value = ownValue(value, key);
    }
    return toPlainValue(value);
  };
}

function ownValue(holder: unknown, key: string): unknown {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) return undefined;
  if (Array.isArray(holder) && key === 'length') return undefined;
  return (holder as Record<string, unknown>)[key];
}

/** A value as JSON would have it. */
function toPlainValue(value: unknown): unknown {
  return value instanceof Date ? value.toJSON() : value;
}
