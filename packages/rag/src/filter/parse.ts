import { isQuiverError } from '@quiver/core';
import { type Filter, filterError } from './filter.js';
import { allOf, parseConditions } from './operators.js';

/**
 * Checks a metadata filter and brings it into the form that stores work with. The language is MongoDB's:
 *
 * - `{ field: value }`, `$eq $ne $gt $gte $lt $lte $in $nin $all $exists $contains $size $elemMatch $not $regex $options`
 * - `$and $or $nor $not` at the root and inside each other
 * - `{ field: [a, b] }` is `$in`, `{ a: { b: 1 } }` is `{ 'a.b': 1 }`, a Date is its ISO string
 *
 * Types count: `5` is not `'5'`. Negations are true ones: `$ne`, `$nin`, `$not` and `$nor` hold where the field is missing. `$in: []`
 * and `$or: []` match nothing, `$nin: []` and `$and: []` everything.
 *
 * @param input - an object, or the JSON text of one, as models send it
 * @throws `FILTER_INVALID` with the place, for everything ambiguous: unknown operators, `undefined`, NaN, class
 *   instances, keys such as `__proto__`, patterns that need backtracking; more than 16 levels, 100 parts of a field name, 1,000 conditions, 10,000
 *   items in a list. A filter is never accepted in part.
 *
 * @example
 * const filter = parseFilter({ team: 'red', year: { $gte: 2024 } });
 */
export function parseFilter(input: unknown): Filter {
  try {
    if (isChecked(input)) return input[parsedForm];
    return parseConditions(typeof input === 'string' ? parseJson(input) : input);
  } catch (error) {
    if (isQuiverError(error)) throw error;
    // Getters and proxies can throw anything.
    throw filterError('', 'The filter cannot be read.', error);
  }
}

/** Returns the parsed form of a filter, if it is present. @throws `FILTER_INVALID` */
export function toFilter(input: unknown): Filter | undefined {
  return input === undefined || input === null ? undefined : parseFilter(input);
}

/** Key of the parsed form of a checked filter. JSON cannot contain it, and a second copy of this module knows it. */
const parsedForm: unique symbol = Symbol.for('quiver.filter');

/** A filter as it was written, which cannot change, with its parsed form. Stores do not parse it again. */
export interface CheckedFilter {
  readonly [name: string]: unknown;
  readonly [parsedForm]: Filter;
}

function isChecked(input: unknown): input is CheckedFilter {
  return typeof input === 'object' && input !== null && Object.hasOwn(input, parsedForm);
}

function toChecked(written: Readonly<Record<string, unknown>>, filter: Filter): CheckedFilter {
  return deepFreeze(Object.defineProperty(written, parsedForm, { value: filter })) as CheckedFilter;
}

/**
 * Checks a filter ahead of the queries that use it.
 *
 * @param input - a filter, the JSON text of one, or a checked filter, which is returned
 * @throws `FILTER_INVALID`
 */
export function checkFilter(input: unknown): CheckedFilter {
  if (isChecked(input)) return input;
  const written = (typeof input === 'string' ? parseJson(input) : input) as Readonly<Record<string, unknown>>;
  const filter = parseFilter(written);
  return toChecked(copyOf(written) as Readonly<Record<string, unknown>>, filter);
}

/** Returns a filter that requires both of two filters, each if it is present. @throws `FILTER_INVALID` */
export function bothFilters(first: unknown, second: unknown): CheckedFilter | undefined {
  const [one, other] = [first, second].flatMap((filter) =>
    (filter ?? undefined) === undefined ? [] : [checkFilter(filter)],
  );
  if (!one || !other) return one;
  return toChecked({ $and: [one, other] }, allOf([one[parsedForm], other[parsedForm]]));
}

/** Returns a copy of a valid filter. `structuredClone` rejects proxies. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date || value instanceof RegExp) return structuredClone(value);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyOf(part)]));
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw filterError('', 'A filter given as a string must be the JSON text of an object.', error);
  }
}
