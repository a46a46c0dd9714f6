import type { Filter, FilterScalar } from '../../filter/index.js';
import { type FieldCondition, type ServiceCondition, toServiceCondition } from '../../store/search.js';
import type { VectorMetadata } from '../../store/vector-store.js';

/** Fields below this depth, and longer values, are not among the conditions of a record. */
const deepestField = 8;
const longestValue = 200;

/**
 * Returns the equality conditions that metadata satisfy, each in a line: one for each field and value, and for each element of an array.
 * Metadata have any shape, and columns of LanceDB have one. A list of texts instead takes a query with a filter twice the time.
 */
export function conditionsOf(metadata: VectorMetadata): string {
  const found = new Set<string>();
  const visit = (value: unknown, path: readonly string[]): void => {
    if (isShort(value)) found.add(toCondition(path.join('.'), value));
    if (typeof value !== 'object' || value === null || path.length === deepestField) return;
    if (Array.isArray(value)) for (const item of value) if (isShort(item)) found.add(toCondition(path.join('.'), item));
    for (const [key, item] of Object.entries(value)) visit(item, [...path, key]);
  };
  for (const [key, value] of Object.entries(metadata)) visit(value, [key]);
  return `\n${[...found].join('')}`;
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
function toCondition(key: string, value: FilterScalar): string {
  return `${JSON.stringify([key, value])}\n`;
}

/** A text of SQL. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

const mostValues = 50;

export interface LanceCondition {
  /** A condition of SQL that matches a superset of the records that match the filter. Absent if no part of the filter can be expressed. */
  readonly where?: string;
  /** Filter to evaluate on the returned records; absent if the condition is equivalent. */
  readonly rest?: Filter;
}

export function filterToLance(filter: Filter | undefined): LanceCondition {
  if (!filter) return {};
  const condition = toServiceCondition(filter, toMembership);
  return { ...(condition && { where: toSql(condition) }), ...(!isExact(filter) && { rest: filter }) };
}

/** Whether the condition is equivalent: a path of several keys can be a single key with dots as well. */
function isExact(filter: Filter): boolean {
  if (filter.kind === 'and' || filter.kind === 'or') return filter.filters.length > 0 && filter.filters.every(isExact);
  if (filter.kind !== 'equal' && filter.kind !== 'in') return false;
  return filter.path.length === 1 && toMembership('', filter) !== undefined;
}

/** `{ $any: […] }`: one of these lines is among the conditions of the record. */
function toMembership(key: string, filter: FieldCondition): ServiceCondition | undefined {
  if (filter.kind === 'order' || filter.path.length > deepestField) return undefined;
  const values = filter.kind === 'equal' ? [filter.value] : filter.values;
  if (values.length > mostValues || !values.every(isShort)) return undefined;
  return { $any: values.map((value) => toCondition(key, value)) };
}

function toSql(condition: ServiceCondition): string {
  const [[operator, parts] = ['', []]] = Object.entries(condition);
  if (operator === '$any') {
    const lines = (parts as string[]).map((line) => `contains(conditions, ${quote(`\n${line}`)})`);
    return lines.length === 0 ? 'false' : `(${lines.join(' OR ')})`;
  }
  return `(${(parts as ServiceCondition[]).map(toSql).join(operator === '$and' ? ' AND ' : ' OR ')})`;
}
