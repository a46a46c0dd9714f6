import { isQuiverError, type QuiverError } from '@quiver/core';
import { findNearestName } from '@quiver/core/options';
import { type FieldPath, type Filter, filterError, type FilterOrder, type FilterScalar } from './filter.js';
import { checkPattern } from './pattern.js';

const maxDepth = 16;
const maxConditions = 1000;
const maxListLength = 10_000;
const maxPathLength = 100;

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
    const value = typeof input === 'string' ? parseJson(input) : input;
    if (!isPlainObject(value)) throw filterError('', `A filter must be a plain object, not ${describe(value)}.`);
    return parseQuery(value, { path: [], where: '', depth: 1, isElement: false, total: { conditions: 0 } });
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
  return toChecked(structuredClone(written), filter);
}

/** Returns a filter that requires both of two filters, each if it is present. @throws `FILTER_INVALID` */
export function bothFilters(first: unknown, second: unknown): CheckedFilter | undefined {
  const [one, other] = [first, second].flatMap((filter) =>
    (filter ?? undefined) === undefined ? [] : [checkFilter(filter)],
  );
  if (!one || !other) return one;
  return toChecked({ $and: [one, other] }, and([one[parsedForm], other[parsedForm]]));
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

/** Position of the parser. */
interface Place {
  /** The field that operators apply to. */
  readonly path: FieldPath;
  /** For messages. */
  readonly where: string;
  readonly depth: number;
  /** Inside `$elemMatch`, where operators apply to the element itself. */
  readonly isElement: boolean;
  /** Conditions of the whole filter so far. */
  readonly total: { conditions: number };
}

type PlainObject = Readonly<Record<string, unknown>>;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw filterError('', 'A filter given as a string must be the JSON text of an object.', error);
  }
}

/** Field conditions and logical operators, all of which must hold. */
function parseQuery(query: PlainObject, place: Place): Filter {
  const filters = keysOf(query, place).map((key) => {
    const value = query[key];
    const inner = inside(place, key);
    if (!key.startsWith('$')) return parseField(value, { ...inner, path: toPath(place.path, key, inner.where) });
    if (key === '$and' || key === '$or' || key === '$nor')
      return parseLogical(key, value, { ...inner, path: place.path });
    if (key === '$not' && !place.isElement) return not(parseQuery(requireCondition(value, inner), inner));
    if (place.isElement) return parseOperator(key, query, inner);
    if (isOperator(key)) throw filterError(place.where, `Invalid top-level operator: ${key}`);
    throw unsupported(key, ['$and', '$or', '$nor', '$not'], place);
  });
  return and(filters);
}

function parseLogical(operator: '$and' | '$or' | '$nor', value: unknown, place: Place): Filter {
  const filters = requireList(value, place).map((item, index) => {
    const inner = { ...place, where: `${place.where}[${index}]`, depth: place.depth + 1 };
    if (!isPlainObject(item))
      throw filterError(inner.where, `${operator} takes a list of filters, not ${describe(item)}.`);
    return parseQuery(item, inner);
  });
  if (operator === '$and') return and(filters);
  return operator === '$or' ? combine('or', filters) : not(combine('or', filters));
}

/** The condition on one field: a value, operators, or fields below it. */
function parseField(value: unknown, place: Place): Filter {
  if (value instanceof RegExp) return parseRegex(value.source, value.flags, place.path, place.where);
  if (Array.isArray(value)) return oneOf(place.path, parseScalars(value, place));
  if (!isPlainObject(value)) return equal(place.path, parseScalar(value, place));
  const keys = keysOf(value, place);
  if (keys.length === 0) throw filterError(place.where, 'An empty object is not a condition.');
  const operators = keys.filter((key) => key.startsWith('$'));
  if (operators.length > 0 && operators.length < keys.length) {
    throw filterError(place.where, `Operators (${operators.join(', ')}) and fields cannot be keys of one object.`);
  }
  return and(
    keys.map((key) => {
      const inner = inside(place, key);
      if (operators.length > 0) return parseOperator(key, value, { ...inner, path: place.path });
      return parseField(value[key], { ...inner, path: toPath(place.path, key, inner.where) });
    }),
  );
}

type OperatorParser = (value: unknown, place: Place, siblings: PlainObject) => Filter;

const operators: Readonly<Record<string, OperatorParser>> = {
  $eq: (value, place) => equal(place.path, parseScalar(value, place)),
  $ne: (value, place) => not(equal(place.path, parseScalar(value, place))),
  $gt: orderOperator('gt'),
  $gte: orderOperator('gte'),
  $lt: orderOperator('lt'),
  $lte: orderOperator('lte'),
  $in: (value, place) => oneOf(place.path, parseScalars(requireList(value, place), place)),
  $nin: (value, place) => not(oneOf(place.path, parseScalars(requireList(value, place), place))),
  $all: (value, place) => {
    const values = parseScalars(requireList(value, place), place);
    // As in MongoDB, an empty list matches no record.
    return values.length === 0 ? combine('or', []) : and(values.map((item) => equal(place.path, item)));
  },
  $exists: (value, place) => {
    if (typeof value !== 'boolean')
      throw filterError(place.where, `$exists takes true or false, not ${describe(value)}.`);
    const exists: Filter = Object.freeze({ kind: 'exists', path: place.path });
    return value ? exists : not(exists);
  },
  $contains: (value, place) => {
    const values = parseScalars(Array.isArray(value) ? value : [value], place);
    if (values.length === 0) throw filterError(place.where, '$contains takes a value or a list of at least one.');
    return and(values.map((item): Filter => Object.freeze({ kind: 'contains', path: place.path, value: item })));
  },
  $size: (value, place) => {
    if (!Number.isSafeInteger(value) || (value as number) < 0) {
      throw filterError(place.where, `$size takes a whole number of at least 0, not ${describe(value)}.`);
    }
    return Object.freeze({ kind: 'size', path: place.path, size: value as number });
  },
  $elemMatch: (value, place) => {
    const filter = parseQuery(requireCondition(value, place), {
      ...place,
      path: Object.freeze([]),
      isElement: true,
    });
    return Object.freeze({ kind: 'element', path: place.path, filter });
  },
  $not: (value, place) => not(parseField(value instanceof RegExp ? value : requireCondition(value, place), place)),
  $regex: (value, place, { $options: options = '' }) => {
    if (typeof options !== 'string')
      throw filterError(place.where, `$options takes a string, not ${describe(options)}.`);
    if (value instanceof RegExp) return parseRegex(value.source, options || value.flags, place.path, place.where);
    if (typeof value !== 'string') throw filterError(place.where, `$regex takes a string, not ${describe(value)}.`);
    return parseRegex(value, options, place.path, place.where);
  },
  $options: (_value, place, siblings) => {
    if (!Object.hasOwn(siblings, '$regex'))
      throw filterError(place.where, '$options requires $regex in the same object.');
    return and([]);
  },
};

/** Operators of a condition on one field. `$options` belongs to `$regex`, and `$not` is around others. */
export const filterOperators: readonly string[] = Object.keys(operators).filter(
  (name) => name !== '$options' && name !== '$not',
);

function orderOperator(order: FilterOrder): OperatorParser {
  return (value, place) => {
    const scalar = parseScalar(value, place);
    if (typeof scalar !== 'number' && typeof scalar !== 'string') {
      throw filterError(place.where, `$${order} takes a number, a string or a date, not ${describe(value)}.`);
    }
    return Object.freeze({ kind: 'order', path: place.path, order, value: scalar });
  };
}

function isOperator(key: string): boolean {
  return Object.hasOwn(operators, key);
}

function parseOperator(key: string, siblings: PlainObject, place: Place): Filter {
  const operator = isOperator(key) ? operators[key] : undefined;
  if (operator) return operator(siblings[key], place, siblings);
  if (key === '$and' || key === '$or' || key === '$nor') {
    throw filterError(
      place.where,
      `${key} is allowed only at the root or inside another logical operator, around the field`,
    );
  }
  throw unsupported(key, Object.keys(operators), place);
}

function unsupported(key: string, known: readonly string[], { where }: Place): QuiverError {
  // A near operator of two or three letters can mean the opposite: `$ge` is not `$gt`, and `$leq` is not `$eq`.
  const nearest =
    key.length > 3
      ? findNearestName(
          key,
          known.filter((name) => name[1] === key[1]),
        )
      : undefined;
  return filterError(where, `Unsupported operator: ${key}${nearest === undefined ? '' : `. Did you mean ${nearest}?`}`);
}

/** Enters a nested object. All nesting passes through here, so this function limits depth and number of conditions. */
function keysOf(value: PlainObject, { where, depth, total }: Place): string[] {
  if (depth > maxDepth) throw filterError(where, `The filter is nested more than ${maxDepth} levels deep.`);
  if (Object.getOwnPropertySymbols(value).length > 0) throw filterError(where, 'Symbols cannot be keys of a filter.');
  const keys = Object.keys(value);
  total.conditions += Math.max(1, keys.length);
  if (total.conditions > maxConditions)
    throw filterError(where, `The filter has more than ${maxConditions} conditions.`);
  return keys;
}

function inside(place: Place, key: string): Place {
  return { ...place, where: place.where === '' ? key : `${place.where}.${key}`, depth: place.depth + 1 };
}

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);

function toPath(outer: FieldPath, key: string, where: string): FieldPath {
  const path = key.split('.');
  const forbidden = path.find((segment) => forbiddenKeys.has(segment));
  if (forbidden !== undefined) throw filterError(where, `'${forbidden}' cannot be a field.`);
  if (key === '') throw filterError(where, 'A field must have a name.');
  if (path.length > maxPathLength)
    throw filterError(
      where.slice(0, 80),
      `A field name has ${path.length} parts, at most ${maxPathLength} are allowed.`,
    );
  return Object.freeze([...outer, ...path]);
}

function parseScalar(value: unknown, { where }: Place): FilterScalar {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value === 0 ? 0 : value;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return Date.prototype.toISOString.call(value);
  if (Array.isArray(value)) throw filterError(where, 'A list is allowed only in $in, $nin, $all and $contains.');
  throw filterError(where, `A field cannot be compared with ${describe(value)}.`);
}

function parseScalars(values: readonly unknown[], place: Place): FilterScalar[] {
  if (values.length > maxListLength) {
    throw filterError(
      place.where,
      `A list of ${values.length} items is too long; at most ${maxListLength} are allowed.`,
    );
  }
  // Unlike `map`, `from` does not skip the holes of a sparse list.
  return Array.from(values, (value, index) => parseScalar(value, { ...place, where: `${place.where}[${index}]` }));
}

function requireList(value: unknown, { where }: Place): readonly unknown[] {
  if (!Array.isArray(value)) throw filterError(where, `A list is needed, not ${describe(value)}.`);
  return Array.from<unknown>(value);
}

function requireCondition(value: unknown, { where }: Place): PlainObject {
  if (isPlainObject(value) && Object.keys(value).length > 0) return value;
  throw filterError(where, `An object with at least one condition is needed, not ${describe(value)}.`);
}

/** Of any realm, but no class instance. */
function isPlainObject(value: unknown): value is PlainObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return isPlainObject(value) ? 'an object' : 'an instance of a class';
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  return typeof value === 'string' ? `'${value.slice(0, 80)}'` : String(value);
}

function and(filters: readonly Filter[]): Filter {
  return combine('and', filters);
}

function combine(kind: 'and' | 'or', filters: readonly Filter[]): Filter {
  const [only] = filters;
  return filters.length === 1 && only ? only : Object.freeze({ kind, filters: Object.freeze([...filters]) });
}

function not(filter: Filter): Filter {
  return Object.freeze({ kind: 'not', filter });
}

function equal(path: FieldPath, value: FilterScalar): Filter {
  return Object.freeze({ kind: 'equal', path, value });
}

function parseRegex(pattern: string, flags: string, path: FieldPath, where: string): Filter {
  checkPattern(pattern, flags, where);
  return Object.freeze({ kind: 'regex', path, pattern, flags });
}

function oneOf(path: FieldPath, values: readonly FilterScalar[]): Filter {
  return Object.freeze({ kind: 'in', path, values: Object.freeze([...values]) });
}
