import { invalidOptions } from '@quiver/core/internal';
import { type Filter, toFilter } from '../filter/index.js';
import type { VectorFilter } from './vector-store.js';

/**
 * Returns the parsed filter of a change that names no ids; a change without a condition would affect everything.
 *
 * @throws `OPTIONS_INVALID` for ids and a filter, for neither, for a filter that matches everything, such as `{ $and: [] }`,
 *   `{ $or: [{}, …] }` or `{ tag: { $nin: [] } }`, and for ids that are not a list of strings; `FILTER_INVALID`
 */
export function toSelection(
  method: string,
  ids: readonly unknown[] | null | undefined,
  filter: VectorFilter,
): Filter | undefined {
  if (ids === undefined || ids === null) {
    const parsed = toFilter(filter);
    if (parsed && !isConstant(parsed, true)) return parsed;
    throw invalidOptions(
      `${method} needs an id or a filter with a condition. To remove everything, use truncateIndex().`,
    );
  }
  if (filter !== undefined) throw invalidOptions(`${method} accepts ids or a filter, not both.`);
  requireIds(method, ids);
  return undefined;
}

/** Whether a filter matches every record (`matches`), or none, independently of their contents. */
function isConstant(filter: Filter, matches: boolean): boolean {
  const { kind } = filter;
  if (kind === 'not') return isConstant(filter.filter, !matches);
  if (kind === 'in') return !matches && filter.values.length === 0;
  if (kind !== 'and' && kind !== 'or') return false;
  const isConstantPart = (part: Filter): boolean => isConstant(part, matches);
  return (kind === 'and') === matches ? filter.filters.every(isConstantPart) : filter.filters.some(isConstantPart);
}

/** @throws `OPTIONS_INVALID` */
export function requireIds(method: string, ids: unknown): void {
  if (!Array.isArray(ids)) throw invalidOptions(`${method} requires ids, a list of strings, not ${typeof ids}.`);
  // Unlike `every()`, also finds the holes of a sparse list.
  for (const id of ids)
    if (typeof id !== 'string') throw invalidOptions(`${method} requires ids that are strings, not ${typeof id}.`);
}
