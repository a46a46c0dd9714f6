import type { FieldPath, Filter, FilterOrder, FilterScalar } from './filter.js';
import { fieldReader, toPlainValue } from './read-field.js';

type Test = (root: unknown) => boolean;

/** Filters are frozen, so a test made once stays right. */
const tests = new WeakMap<Filter, Test>();

/**
 * Tells whether metadata passes a filter. This is what a filter means: the embedded store runs it, and every other store must
 * agree with it.
 *
 * @param metadata - JSON data; Date objects count as their ISO strings
 */
export function evaluateFilter(filter: Filter, metadata: unknown): boolean {
  let test = tests.get(filter);
  if (!test) tests.set(filter, (test = compile(filter)));
  return test(metadata);
}

function compile(filter: Filter): Test {
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
      const pattern = new RegExp(filter.pattern, filter.flags);
      return anyValue(filter.path, (candidate) => typeof candidate === 'string' && pattern.test(candidate));
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

/** A test of the value, or of any element if it is an array. */
function anyValue(path: FieldPath, test: (value: unknown) => boolean, matchesMissing = false): Test {
  const read = fieldReader(path);
  return (root) => {
    const value = read(root);
    if (value === undefined) return matchesMissing;
    return Array.isArray(value) ? value.some((item) => test(toPlainValue(item))) : test(value);
  };
}

function containsTest(path: FieldPath, value: FilterScalar): Test {
  const read = fieldReader(path);
  const part = typeof value === 'string' ? value.toLowerCase() : undefined;
  return (root) => {
    const candidate = read(root);
    if (Array.isArray(candidate)) return candidate.some((item) => toPlainValue(item) === value);
    return part !== undefined && typeof candidate === 'string' && candidate.toLowerCase().includes(part);
  };
}

function orderTest(order: FilterOrder, limit: string | number): (value: unknown) => boolean {
  const matches: Record<FilterOrder, (difference: number) => boolean> = {
    gt: (difference) => difference > 0,
    gte: (difference) => difference >= 0,
    lt: (difference) => difference < 0,
    lte: (difference) => difference <= 0,
  };
  const accept = matches[order];
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
