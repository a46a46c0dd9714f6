import type { Filter, FilterScalar } from '../filter/index.js';
import type { VectorMetadata } from './vector-store.js';

/** A condition in the language of a service. */
export type ServiceCondition = Record<string, unknown>;

/**
 * Returns the part of a filter that a service can apply. It matches a superset of the records that match the filter, so the filter has
 * to be evaluated on the returned records.
 *
 * @param toCondition - converts a condition on one field, whose path is joined by dots; `undefined` where the service has none
 * @param join - joins several conditions, such as {@link combine}
 * @returns `undefined` if the service can apply no part of the filter
 */
export function toServiceCondition<Condition>(
  filter: Filter,
  toCondition: (key: string, filter: FieldCondition) => Condition | undefined,
  join: (kind: 'and' | 'or', parts: readonly Condition[]) => Condition | undefined,
): Condition | undefined {
  if ('filters' in filter) {
    const parts = filter.filters.map((part) => toServiceCondition(part, toCondition, join));
    const known = parts.filter((part) => part !== undefined);
    if (filter.kind === 'or' && known.length < parts.length) return undefined;
    return known.length > 1 ? join(filter.kind, known) : known[0];
  }
  const isKnown = filter.kind === 'equal' || filter.kind === 'in' || filter.kind === 'order';
  return isKnown ? toCondition(filter.path.join('.'), filter) : undefined;
}

export type FieldCondition = Extract<Filter, { kind: 'equal' | 'in' | 'order' }>;

/** Joins conditions as MongoDB does. Services reject empty lists of conditions, and some a list of one. */
export function combine(kind: 'and' | 'or', parts: readonly ServiceCondition[]): ServiceCondition | undefined {
  return parts.length > 1 ? { [`$${kind}`]: parts } : parts[0];
}

/** Fields below this depth, and longer values, are not among the conditions of a record. */
const deepestField = 8;
const longestValue = 200;
const mostValues = 50;

/**
 * Returns the equality conditions that metadata satisfy, as texts: one for each field and value, and for each element of an array. For
 * databases that index texts, but not metadata of any shape.
 */
export function equalityConditions(metadata: VectorMetadata): string[] {
  const found = new Set<string>();
  const visit = (value: unknown, path: readonly string[]): void => {
    if (isShort(value)) found.add(toText(path.join('.'), value));
    if (typeof value !== 'object' || value === null || path.length === deepestField) return;
    if (Array.isArray(value)) for (const item of value) if (isShort(item)) found.add(toText(path.join('.'), item));
    for (const [key, item] of Object.entries(value)) visit(item, [...path, key]);
  };
  for (const [key, value] of Object.entries(metadata)) visit(value, [key]);
  return [...found];
}

/** `null` also equals a missing field. */
function isShort(value: unknown): value is Exclude<FilterScalar, null> {
  return (
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    (typeof value === 'string' && value.length <= longestValue)
  );
}

/** As JSON, in which any text is valid UTF-8 without line breaks. */
function toText(key: string, value: FilterScalar): string {
  return JSON.stringify([key, value]);
}

/** The part of a filter that consists of equality conditions. */
export interface EqualityPart<Condition> {
  /** A condition that matches a superset of the records that match the filter. Absent if no part of the filter can be expressed. */
  readonly condition?: Condition;
  /** Filter to evaluate on the returned records; absent if the condition is equivalent. */
  readonly rest?: Filter;
}

/** A condition in the language of a database. */
export interface ConditionLanguage<Condition> {
  /** One of the texts is among the conditions of the record. They may be none. */
  any(texts: readonly string[]): Condition;
  and(parts: readonly Condition[]): Condition;
  or(parts: readonly Condition[]): Condition;
}

/** Expresses a filter by the texts of `equalityConditions()`. */
export function toEqualityPart<Condition>(
  filter: Filter | undefined,
  language: ConditionLanguage<Condition>,
): EqualityPart<Condition> {
  if (!filter) return {};
  const condition = toServiceCondition<Condition>(
    filter,
    (key, field) => {
      const texts = membershipOf(key, field);
      return texts && language.any(texts);
    },
    (kind, parts) => language[kind](parts),
  );
  return { ...(condition !== undefined && { condition }), ...(!isExact(filter) && { rest: filter }) };
}

/** Whether the condition is equivalent: a path of several keys can be a single key with dots as well. */
function isExact(filter: Filter): boolean {
  if (filter.kind === 'and' || filter.kind === 'or') return filter.filters.length > 0 && filter.filters.every(isExact);
  if (filter.kind !== 'equal' && filter.kind !== 'in') return false;
  return filter.path.length === 1 && membershipOf('', filter) !== undefined;
}

function membershipOf(key: string, filter: FieldCondition): string[] | undefined {
  if (filter.kind === 'order' || filter.path.length > deepestField) return undefined;
  const values = filter.kind === 'equal' ? [filter.value] : filter.values;
  if (values.length > mostValues || !values.every(isShort)) return undefined;
  return values.map((value) => toText(key, value));
}
