import { invalidArgument } from './check-arguments.js';

/** For changes: without a condition they would change everything. @throws `VECTOR_ARGUMENT_INVALID` */
export function requireFilter<Filter>(filter: Filter | null | undefined): Filter {
  if (filter === undefined || filter === null)
    throw invalidArgument('Give an id or a filter; to remove everything, use truncateIndex().');
  return filter;
}
