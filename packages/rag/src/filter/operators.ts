import type { QuiverError } from '@quiver/core';
import { findNearestName } from '@quiver/core/internal';
import {
  type FieldPath,
  fieldTypes,
  type FieldType,
  type Filter,
  filterError,
  type FilterOrder,
  type FilterScalar,
} from './filter.js';
import { checkPattern } from './pattern.js';

const maxDepth = 16;
const maxConditions = 1000;
const maxListLength = 10_000;
const maxPathLength = 100;

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

/** Parses a filter. @throws `FILTER_INVALID`, and errors of getters and proxies */
export function parseConditions(filter: unknown): Filter {
  if (!isPlainObject(filter)) throw filterError('', `A filter must be a plain object, not ${describe(filter)}.`);
  return parseQuery(filter, { path: [], where: '', depth: 1, isElement: false, total: { conditions: 0 } });
}

function parseQuery(query: PlainObject, place: Place): Filter {
  const filters = keysOf(query, place).map((key) => {
    const inner = inside(place, key);
    if (!key.startsWith('$')) return parseField(query[key], { ...inner, path: toPath(place.path, key, inner.where) });
    const isField = fieldOperators.has(key);
    const logical = place.isElement && isField ? undefined : logicalParsers.get(key);
    if (logical) return logical(query[key], inner);
    if (place.isElement) return parseOperator(key, query, inner);
    if (isField) throw filterError(place.where, `Invalid top-level operator: ${key}`);
    throw unsupported(key, logicalOperators, place);
  });
  return allOf(filters);
}

const logicalParsers: ReadonlyMap<string, (value: unknown, place: Place) => Filter> = new Map([
  ['$and', (value: unknown, place: Place): Filter => allOf(parseQueries('$and', value, place))],
  ['$or', (value, place) => combine('or', parseQueries('$or', value, place))],
  ['$not', (value, place) => not(parseQuery(requireCondition(value, place), place))],
  ['$nor', (value, place) => not(combine('or', parseQueries('$nor', value, place)))],
]);

/** Operators around filters. */
export const logicalOperators: readonly string[] = [...logicalParsers.keys()];

function parseQueries(operator: string, value: unknown, place: Place): Filter[] {
  return requireList(value, place).map((item, index) => {
    const inner = { ...place, where: `${place.where}[${index}]`, depth: place.depth + 1 };
    if (!isPlainObject(item))
      throw filterError(inner.where, `${operator} takes a list of filters, not ${describe(item)}.`);
    return parseQuery(item, inner);
  });
}

/** The condition on one field: a value, operators, or fields below it. */
function parseField(value: unknown, place: Place): Filter {
  if (value instanceof RegExp) return parseRegex(value.source, value.flags, place);
  if (Array.isArray(value)) return oneOf(place.path, parseScalars(value, place));
  if (!isPlainObject(value)) return equal(place.path, parseScalar(value, place));
  const keys = keysOf(value, place);
  if (keys.length === 0) throw filterError(place.where, 'An empty object is not a condition.');
  const operators = keys.filter((key) => key.startsWith('$'));
  if (operators.length > 0 && operators.length < keys.length) {
    throw filterError(place.where, `Operators (${operators.join(', ')}) and fields cannot be keys of one object.`);
  }
  return allOf(
    keys.map((key) => {
      const inner = inside(place, key);
      if (operators.length > 0) return parseOperator(key, value, { ...inner, path: place.path });
      return parseField(value[key], { ...inner, path: toPath(place.path, key, inner.where) });
    }),
  );
}

/** An operator of a condition on one field. */
export interface FieldOperator {
  /** @param siblings - the object that contains the operator */
  parse(value: unknown, place: Place, siblings: PlainObject): Filter;
  /** Whether its operand is a value of the field, or a list of values. Default: neither. */
  readonly operand?: 'value' | 'list';
  /** Types of fields that a prompt proposes to compare by it. Default: none. */
  readonly proposedFor?: readonly FieldType[];
  /** Other names and signs that models write, and that have one meaning where an operator is expected. */
  readonly writtenAs?: readonly string[];
}

/** Types of more than two values. */
const manyValues = fieldTypes.filter((type) => type !== 'boolean');

/** Operators of a condition on one field. A new operator is a row here. */
export const fieldOperators: ReadonlyMap<string, FieldOperator> = new Map(
  Object.entries<FieldOperator>({
    $eq: {
      parse: (value, place) => equal(place.path, parseScalar(value, place)),
      operand: 'value',
      proposedFor: fieldTypes,
      writtenAs: ['eq', '=', '=='],
    },
    $ne: {
      parse: (value, place) => not(equal(place.path, parseScalar(value, place))),
      operand: 'value',
      proposedFor: fieldTypes,
      writtenAs: ['ne', '!='],
    },
    $gt: orderOperator('gt', '>'),
    $gte: orderOperator('gte', '>='),
    $lt: orderOperator('lt', '<'),
    $lte: orderOperator('lte', '<='),
    $in: {
      parse: (value, place) => oneOf(place.path, parseScalars(requireList(value, place), place)),
      operand: 'list',
      proposedFor: manyValues,
      writtenAs: ['in'],
    },
    $nin: {
      parse: (value, place) => not(oneOf(place.path, parseScalars(requireList(value, place), place))),
      operand: 'list',
      proposedFor: manyValues,
      writtenAs: ['nin'],
    },
    $all: { parse: parseAll, operand: 'list' },
    $exists: { parse: parseExists, writtenAs: ['exists'] },
    $contains: { parse: parseContains, operand: 'value', writtenAs: ['contains'] },
    $size: { parse: parseSize },
    $elemMatch: {
      parse: (value, place) => {
        const element = { ...place, path: Object.freeze([]), isElement: true };
        const filter = parseQuery(requireCondition(value, place), element);
        return Object.freeze({ kind: 'element', path: place.path, filter });
      },
    },
    $not: {
      parse: (value, place) => not(parseField(value instanceof RegExp ? value : requireCondition(value, place), place)),
    },
    $regex: { parse: parseRegexCondition },
    $options: {
      parse: (_value, place, siblings) => {
        if (Object.hasOwn(siblings, '$regex')) return allOf([]);
        throw filterError(place.where, '$options requires $regex in the same object.');
      },
    },
  }),
);

/** Operators of conditions on one field that prompts name. `$options` belongs to `$regex`, and `$not` is around others. */
export const filterOperators: readonly string[] = [...fieldOperators.keys()].filter(
  (name) => name !== '$options' && name !== '$not',
);

/** Returns the operators that compare a field of a type with a value or a list, as a prompt proposes them. Default: those of texts. */
export function comparisonsOf(type: FieldType = 'string'): string[] {
  return Array.from(fieldOperators, ([name, { proposedFor = [] }]) =>
    proposedFor.includes(type) ? [name] : [],
  ).flat();
}

function orderOperator(order: FilterOrder, sign: string): FieldOperator {
  return {
    parse: (value, place) => {
      const scalar = parseScalar(value, place);
      if (typeof scalar !== 'number' && typeof scalar !== 'string') {
        throw filterError(place.where, `$${order} takes a number, a string or a date, not ${describe(value)}.`);
      }
      return Object.freeze({ kind: 'order', path: place.path, order, value: scalar });
    },
    operand: 'value',
    proposedFor: manyValues,
    writtenAs: [order, sign],
  };
}

function parseAll(value: unknown, place: Place): Filter {
  const values = parseScalars(requireList(value, place), place);
  // As in MongoDB, an empty list matches no record.
  return values.length === 0 ? combine('or', []) : allOf(values.map((item) => equal(place.path, item)));
}

function parseExists(value: unknown, place: Place): Filter {
  if (typeof value !== 'boolean')
    throw filterError(place.where, `$exists takes true or false, not ${describe(value)}.`);
  const exists: Filter = Object.freeze({ kind: 'exists', path: place.path });
  return value ? exists : not(exists);
}

function parseContains(value: unknown, place: Place): Filter {
  const values = parseScalars(Array.isArray(value) ? value : [value], place);
  if (values.length === 0) throw filterError(place.where, '$contains takes a value or a list of at least one.');
  return allOf(values.map((item): Filter => Object.freeze({ kind: 'contains', path: place.path, value: item })));
}

function parseSize(value: unknown, place: Place): Filter {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw filterError(place.where, `$size takes a whole number of at least 0, not ${describe(value)}.`);
  }
  return Object.freeze({ kind: 'size', path: place.path, size: value as number });
}

function parseRegexCondition(value: unknown, place: Place, { $options: options = '' }: PlainObject): Filter {
  if (typeof options !== 'string') throw filterError(place.where, `$options takes a string, not ${describe(options)}.`);
  if (value instanceof RegExp) return parseRegex(value.source, options || value.flags, place);
  if (typeof value !== 'string') throw filterError(place.where, `$regex takes a string, not ${describe(value)}.`);
  return parseRegex(value, options, place);
}

function parseOperator(key: string, siblings: PlainObject, place: Place): Filter {
  const operator = fieldOperators.get(key);
  if (operator) return operator.parse(siblings[key], place, siblings);
  if (logicalParsers.has(key)) {
    throw filterError(
      place.where,
      `${key} is allowed only at the root or inside another logical operator, around the field`,
    );
  }
  throw unsupported(key, [...fieldOperators.keys()], place);
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

/** Returns a filter that requires all of the filters. */
export function allOf(filters: readonly Filter[]): Filter {
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

function parseRegex(pattern: string, flags: string, { path, where }: Place): Filter {
  checkPattern(pattern, flags, where);
  return Object.freeze({ kind: 'regex', path, pattern, flags });
}

function oneOf(path: FieldPath, values: readonly FilterScalar[]): Filter {
  return Object.freeze({ kind: 'in', path, values: Object.freeze([...values]) });
}
