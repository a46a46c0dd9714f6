import type { Filter } from '../filter/index.js';

/** A condition in the language of a service. */
export type ServiceCondition = Record<string, unknown>;

/**
 * Returns the part of a filter that a service can apply. It matches a superset of the records that match the filter, so the filter has
 * to be evaluated on the returned records.
 *
 * @param toCondition - converts a condition on one field, whose path is joined by dots; `undefined` where the service has none
 * @returns `undefined` if the service can apply no part of the filter
 */
export function toServiceCondition(
  filter: Filter,
  toCondition: (key: string, filter: FieldCondition) => ServiceCondition | undefined,
): ServiceCondition | undefined {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const parts = filter.filters.map((part) => toServiceCondition(part, toCondition));
      const known = parts.filter((part) => part !== undefined);
      return filter.kind === 'or' && known.length < parts.length ? undefined : combine(`$${filter.kind}`, known);
    }
    case 'equal':
    case 'in':
    case 'order':
      return toCondition(filter.path.join('.'), filter);
    default:
      return undefined;
  }
}

export type FieldCondition = Extract<Filter, { kind: 'equal' | 'in' | 'order' }>;

/** Services reject empty lists of conditions, and some a list of one. */
export function combine(operator: '$and' | '$or', parts: readonly ServiceCondition[]): ServiceCondition | undefined {
  return parts.length > 1 ? { [operator]: parts } : parts[0];
}
