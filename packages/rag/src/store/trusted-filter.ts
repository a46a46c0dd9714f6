import { QuiverError } from '@quiver/core';
import { anyValue, eitherOf, type OptionChecks, stringValue, invalidOptions } from '@quiver/core/internal';
import { bothFilters, type CheckedFilter } from '../filter/index.js';
import type { IndexRead } from './index-read.js';
import { objectValue } from './options.js';
import { isScoped, parseScope, toScopeFilter, type IngestScope, type RunScope } from './scope.js';
import type { VectorFilter, VectorRecord, VectorStore } from './vector-store.js';

/** Records to which an application restricts a query. */
export interface TrustedFilterOptions {
  /** Filter of the application, as an object or as JSON text. It always applies, in addition to `scope`. Default: none. */
  filter?: VectorFilter | string;
  /**
   * Scope of the documents, as `ingest` wrote it, for example `{ tenant: 'b' }`: a filter that always applies, as `filter` does. `'all'` says that
   * the result may contain the documents of every owner. Required in an index with scopes, unless there is a `filter`.
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
 * @throws `FILTER_INVALID`, `OPTIONS_INVALID` for an option that is given as `undefined`: an unknown tenant must not open all
 *   tenants
 */
export function readTrustedFilter(options: TrustedFilterOptions): CheckedFilter | undefined {
  const absent = (['filter', 'scope'] as const).find((name) => name in options && (options[name] ?? null) === null);
  if (absent !== undefined)
    throw invalidOptions(
      `'${absent}' is ${String(options[absent])}. Leave it out if all records of the index may be found.`,
    );
  return bothFilters(options.filter, toScopeFilter(parseScope(options.scope)));
}

/** A read of an application, and the scope that it named. */
export interface ScopedRead {
  readonly store: VectorStore;
  readonly read: IndexRead;
  readonly scope: RunScope;
}

/**
 * Checks that a read without any restriction found no document of an owner.
 *
 * @throws `QUERY_SCOPE_MISSING`
 */
export function requireScope(
  { store, read, scope }: ScopedRead,
  records: readonly Pick<VectorRecord, 'metadata'>[],
): void {
  if (scope !== undefined || Object.keys(read.filter ?? {}).length > 0) return;
  const settings: Readonly<Record<string, unknown>> = { ...read };
  if (store.capabilities.restrictions?.some((name) => settings[name])) return;
  const scoped = records.find(isScoped);
  if (!scoped) return;
  const { indexName } = read;
  const keys = String(scoped.metadata['scopeKeys']).split('.');
  const example = `{ ${keys.map((key) => `${key}: …`).join(', ')} }`;
  throw new QuiverError(
    'QUERY_SCOPE_MISSING',
    `The documents of the index '${indexName}' have owners, the scope { ${keys.join(', ')} }, and this query has neither a scope nor a filter of the application: it would return the documents of all of them. Pass scope: ${example}, or call requestContext.set('scope', ${example}) for a call of a tool. If all documents may be returned, pass scope: 'all'.`,
    { details: { indexName, keys } },
  );
}
