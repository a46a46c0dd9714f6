import { invalidArgument } from './check-arguments.js';

/** One of the two would have no effect. @throws `VECTOR_ARGUMENT_INVALID` when both are given, and for ids that are no strings */
export function requireOneSelection(method: string, ids: unknown, filter: unknown): void {
  if (ids !== undefined && filter !== undefined) throw invalidArgument(`${method} takes ids or a filter, not both.`);
  for (const id of Array.isArray(ids) ? (ids as unknown[]) : [])
    if (typeof id !== 'string') throw invalidArgument(`${method} got the id ${String(id)}, which is no string.`);
}

/** For changes: without a condition they would change everything. @throws `VECTOR_ARGUMENT_INVALID` */
export function requireFilter<Filter>(filter: Filter | null | undefined): Filter {
  if (filter === undefined || filter === null)
    throw invalidArgument('Give an id or a filter; to remove everything, use truncateIndex().');
  return filter;
}
