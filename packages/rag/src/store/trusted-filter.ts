import { anyValue, eitherOf, stringValue, type OptionChecks } from '@quiver/core/options';
import { bothFilters, type CheckedFilter } from '../filter/index.js';
import { invalidArgument, objectValue } from './options.js';
import { type IngestScope, parseScope, toScopeFilter } from './scope.js';
import type { VectorFilter } from './vector-store.js';

/** Records to which an application restricts a query. */
export interface TrustedFilterOptions {
  /** Filter of the application, as an object or as JSON text. It always applies, in addition to `scope`. Default: none. */
  filter?: VectorFilter | string;
  /**
   * Scope of the documents, as `ingest` wrote it, for example `{ tenant: 'b' }`: a filter that always applies, as `filter` does. `'all'` says that
   * the result may contain the documents of every owner. Default: none.
   */
  scope?: IngestScope | 'all';
}

/** Checks of both options. */
export const trustedFilterChecks: OptionChecks<TrustedFilterOptions> = {
  filter: eitherOf('an object or JSON text', stringValue, objectValue),
  // `parseScope` checks it, with an error code of its own.
  scope: anyValue,
};

/**
 * Returns the filter of `filter` and `scope`.
 *
 * @throws `FILTER_INVALID`, `INGEST_SCOPE_INVALID`; `VECTOR_ARGUMENT_INVALID` for an option that is given as `undefined`: an unknown tenant must not open all
 *   tenants
 */
export function readTrustedFilter(options: TrustedFilterOptions): CheckedFilter | undefined {
  const absent = (['filter', 'scope'] as const).find((name) => name in options && (options[name] ?? null) === null);
  if (absent !== undefined)
    throw invalidArgument(
      `'${absent}' is ${String(options[absent])}. Leave it out if all records of the index may be found.`,
    );
  return bothFilters(options.filter, toScopeFilter(parseScope(options.scope)));
}
