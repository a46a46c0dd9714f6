import { QuiverError } from '@quiver/core';
import { anyValue, eitherOf, invalidOptions, type OptionChecks, stringValue } from '@quiver/core/internal';
import type { Chunk } from '../document/chunk.js';
import { canonicalJson, contentHash } from '../document/content-hash.js';
import { fixedKeys } from '../document/metadata-keys.js';
import { bothFilters, type CheckedFilter } from '../filter/index.js';
import { objectValue } from './options.js';
import type { IndexParams, VectorFilter, VectorMetadata, VectorRecord, VectorStore } from './vector-store.js';

/** Metadata that separates the documents of one owner from all others in an index, for example `{ tenant: 'b' }`. */
export type IngestScope = Readonly<Record<string, string | number | boolean>>;

/** The scope of a run: one owner, or `all` for the documents of every owner and of none. */
export type RunScope = IngestScope | 'all' | undefined;

/**
 * Checks a scope. An empty scope and a missing value are errors, because both would reach the documents of all owners.
 *
 * @throws `OPTIONS_INVALID`
 */
export function parseScope(scope: unknown): RunScope {
  if (scope === undefined || scope === 'all') return scope;
  const invalid = (problem: string): QuiverError => invalidOptions(`${problem} Pass metadata such as { tenant: 'b' }.`);
  if (typeof scope !== 'object' || scope === null || Array.isArray(scope))
    throw invalid(`The scope must be an object or 'all', not ${String(scope)}.`);
  const entries = Object.entries(scope as Record<string, unknown>);
  if (entries.length === 0) throw invalid('The scope is empty.');
  for (const [key, value] of entries) {
    if (fixedKeys.has(key) || key.startsWith('$') || key.includes('.'))
      throw invalid(`The scope cannot use the metadata key '${key}'.`);
    if (!isScalar(value))
      throw invalid(`The scope's '${key}' must be a string, a number or a boolean, not ${String(value)}.`);
  }
  return { ...scope } as IngestScope;
}

/** Whether a filter can compare metadata with the value. */
export function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

/**
 * Returns the keys of a scope as every chunk of it has them in its metadata as `scopeKeys`, next to `scoped: true`: the record of what
 * separates the documents of an index. A key contains no dot.
 */
export function toScopeKeys(scope: RunScope): string | undefined {
  return scope === undefined || scope === 'all' ? undefined : Object.keys(scope).toSorted().join('.');
}

/** Whether `ingest` stored a record in a scope. */
export function isScoped({ metadata }: { readonly metadata: VectorMetadata }): boolean {
  return metadata['scoped'] === true;
}

/** Whether a run is responsible for a record. A run without scope is not responsible for records of a scope, even if they appear while it runs. */
export function isInScope(metadata: VectorMetadata, scope: RunScope): boolean {
  if (scope === 'all') return true;
  if (isScoped({ metadata }) && metadata['scopeKeys'] !== toScopeKeys(scope)) return false;
  return Object.entries(scope ?? {}).every(([key, value]) => metadata[key] === value);
}

/** Returns a filter that selects at least the records of a scope. */
export function toScopeFilter(scope: RunScope): VectorFilter {
  if (scope === undefined || scope === 'all') return undefined;
  return Object.fromEntries(Object.entries(scope).map(([key, value]) => [key, { $eq: value }]));
}

/**
 * Returns the chunk as it is stored in the scope. The scope is part of its id, so equal documents of two owners stay apart.
 *
 * @throws `INGEST_SCOPE_MISMATCH` when the document's own metadata names another owner
 */
export function addScope(chunk: Chunk, scope: RunScope): Chunk {
  if (scope === undefined || scope === 'all') return chunk;
  const { metadata } = chunk;
  for (const [key, value] of Object.entries(scope)) {
    if (metadata[key] !== undefined && metadata[key] !== value) {
      throw new QuiverError(
        'INGEST_SCOPE_MISMATCH',
        `A document has the metadata ${key}: ${canonicalJson(metadata[key])}, but the scope of this run is ${canonicalJson(scope)}. Ingest it in its own scope, or remove the metadata.`,
        { details: { key, scope, source: metadata['source'] } },
      );
    }
  }
  const idOf = (id: string): string => contentHash(canonicalJson(scope), id);
  const previous = chunk.previous && { ...chunk.previous, id: idOf(chunk.previous.id) };
  return { ...chunk, id: idOf(chunk.id), metadata: { ...metadata, ...scope }, ...(previous && { previous }) };
}

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

/**
 * Settings of particular stores. A store receives the block of its own name (`databaseConfigKey`) and nothing else. Each adapter adds
 * the type of its block to this interface (declaration merging); so can a store of yours:
 *
 * @example
 * declare module '@quiver/rag' {
 *   interface DatabaseConfig {
 *     mystore?: { replica?: string };
 *   }
 * }
 */
export interface DatabaseConfig {
  [databaseConfigKey: string]: object | undefined;
}

/** The records of an index that a call reads: what each `query` and `listVectors` of the call spreads. Settings of the store are among its members. */
export interface IndexRead extends IndexParams {
  filter: VectorFilter;
}

/** Returns the parameters of reads, with the block of `databaseConfig` that belongs to the store. */
export function toIndexRead(
  store: VectorStore,
  {
    databaseConfig,
    ...read
  }: IndexRead & { databaseConfig?: Readonly<Record<string, object | undefined>> | undefined },
): IndexRead {
  return { ...databaseConfig?.[store.databaseConfigKey], ...read };
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
