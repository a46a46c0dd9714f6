import { isQuiverError, QuiverError } from '@quiver/core';
import { toEmbedder, type Embedder, type EmbedderInput } from '../embedding/index.js';
import { retry } from '../requests/retry.js';
import type { IndexShape } from '../store/checks.js';
import type {
  Cancellable,
  VectorPage,
  VectorFilter,
  VectorMetric,
  VectorRecord,
  VectorStore,
} from '../store/vector-store.js';
import type { IngestEstimate } from './dry-run.js';
import { scanPages } from '../store/paging.js';
import { isScoped, toScopeKeys, type RunScope } from '../store/scope.js';

/** The delays add up to 31.5 seconds, which outlast a restart of PostgreSQL. */
export const defaultMaxRetries = 6;

/** An index, and how to call its store. */
export interface StoreAccess {
  readonly store: VectorStore;
  readonly indexName: string;
  readonly maxRetries: number;
  readonly signal: AbortSignal | undefined;
}

/** Calls the store, and repeats the call after transient errors. Every call of ingestion can run twice: it reads, or it writes by id. */
export function callStore<Result>(
  { store, maxRetries, signal }: StoreAccess,
  call: (store: VectorStore, cancellable: Cancellable) => Promise<Result>,
): Promise<Result> {
  return retry(() => call(store, { signal }), { maxRetries, isTransient: isTransientError, signal });
}

/** The index that a run writes to. */
export interface IngestTarget extends StoreAccess {
  readonly embedder: Embedder;
  readonly scope: RunScope;
  /** Whether the index existed before the run. */
  readonly isUpdate: boolean;
  /** Metric of a new index. */
  readonly metric: VectorMetric;
  /** Counts what a dry run would ask of models. With it, nothing is written and nothing embedded. */
  readonly estimate: IngestEstimate | undefined;
  /** Returns the shape of the index, which the first call creates if it is missing. The dimension is known after the first embedding. */
  readonly openIndex: (dimension: number) => Promise<IndexShape>;
}

/** @throws `INGEST_SCOPE_MISSING`; `INGEST_SCOPE_MISMATCH`; `INGEST_EMBEDDER_CHANGED`; `OPTIONS_INVALID`; errors of the store */
export async function openTarget(
  access: StoreAccess,
  { embedder, ...settings }: Pick<IngestTarget, 'scope' | 'metric' | 'estimate'> & { embedder: EmbedderInput },
): Promise<IngestTarget> {
  const { indexName, maxRetries } = access;
  const isUpdate = (await callStore(access, (store, end) => store.listIndexes(end))).includes(indexName);
  const describe = (): Promise<IndexShape> =>
    callStore(access, (store, end) => store.describeIndex({ indexName, ...end }));
  const create = async (shape: IndexShape): Promise<IndexShape> => {
    await callStore(access, (store, end) => store.createIndex({ indexName, ...shape, ...end }));
    return shape;
  };
  let shape: Promise<IndexShape> | undefined;
  const target: IngestTarget = {
    ...access,
    embedder: toEmbedder(embedder, { maxRetries }),
    ...settings,
    isUpdate,
    openIndex: (dimension) => (shape ??= isUpdate ? describe() : create({ dimension, metric: settings.metric })),
  };
  if (isUpdate) {
    const sample = await callStore(target, (store, end) => store.listVectors({ indexName, limit: sampleSize, ...end }));
    await requireScope(target, settings.scope, sample);
    // The first records stand for all: `ingest` stores one embedder's vectors in an index.
    for (const { metadata } of sample.records) checkEmbedder(indexName, metadata['embedder'], target.embedder);
  }
  return target;
}

const sampleSize = 100;

/**
 * Checks that a run has a scope if documents of its index have one, and the same keys as they. An index that does not exist has none.
 *
 * @param sample - first page of the index, which usually answers without a request
 * @throws `INGEST_SCOPE_MISSING`; `INGEST_SCOPE_MISMATCH` for other keys; errors of the store
 */
export async function requireScope(access: StoreAccess, scope: RunScope, sample?: VectorPage): Promise<void> {
  if (scope === 'all') return;
  const keys = toScopeKeys(scope);
  const scoped = sample?.records.filter(isScoped) ?? [];
  if (scoped.length === 0 && sample && sample.nextCursor === undefined) return;
  const found = scoped.length > 0 ? scoped : await findSome(access, { scoped: true });
  const existing = [...new Set(found.map(({ metadata }) => String(metadata['scopeKeys'])))];
  if (existing.length === 0 || (keys !== undefined && existing.includes(keys))) return;
  const { indexName } = access;
  const details = { indexName, keys: existing.map((one) => one.split('.')) };
  const owners = `The documents of the index '${indexName}' have owners, the scope { ${existing.map(toList).join(' } or { ')} }`;
  if (keys === undefined)
    throw new QuiverError(
      'INGEST_SCOPE_MISSING',
      `${owners}, and this call has no scope: it would reach the documents of all of them. Pass the scope of one owner, such as scope: { ${(details.keys[0] ?? []).map((key) => `${key}: …`).join(', ')} }, or scope: 'all' to replace or delete the documents of every owner.`,
      { details },
    );
  if ((await findSome(access, { scopeKeys: keys })).length > 0) return;
  throw new QuiverError(
    'INGEST_SCOPE_MISMATCH',
    `${owners}, but the scope of this call is { ${toList(keys)} }. Use the same keys in all calls, or another index.`,
    { details },
  );
}

function toList(keys: string): string {
  return keys.split('.').join(', ');
}

async function findSome(access: StoreAccess, filter: VectorFilter): Promise<VectorRecord[]> {
  try {
    for await (const records of readPages(access, { filter, limit: sampleSize }))
      if (records.length > 0) return records;
  } catch (error) {
    if (!isQuiverError(error, 'VECTOR_INDEX_NOT_FOUND')) throw error;
  }
  return [];
}

/** Reads the records of a scope page by page. */
export function readPages(
  access: StoreAccess,
  scope: { filter: VectorFilter; limit: number },
): AsyncGenerator<VectorRecord[]> {
  const listVectors: VectorStore['listVectors'] = (params) =>
    callStore(access, (store, end) => store.listVectors({ ...params, ...end }));
  return scanPages({ listVectors }, { indexName: access.indexName, ...scope });
}

/** @throws `INGEST_EMBEDDER_CHANGED` when another embedder made the vector: vectors of two embedders cannot be compared */
export function checkEmbedder(indexName: string, stored: unknown, { id }: Embedder): void {
  if (stored === undefined || stored === id) return;
  throw new QuiverError(
    'INGEST_EMBEDDER_CHANGED',
    `The index '${indexName}' was made with the embedder '${String(stored)}', not '${id}'. Their vectors cannot be compared: use another indexName, or delete the index first.`,
    { details: { indexName, existing: stored, requested: id } },
  );
}

const networkCodes = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);

const maxDepth = 8;

/**
 * Returns whether an error, or one that caused it, may pass: `isRetryable`, `details.isTransient` of a store's error, a lost connection,
 * HTTP 408, 429 and 5xx.
 */
export function isTransientError(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > maxDepth) return false;
  const { isRetryable, code, status, statusCode, cause, details } = error as Record<string, unknown>;
  if (typeof isRetryable === 'boolean') return isRetryable;
  if ((details as { isTransient?: unknown } | undefined)?.isTransient === true) return true;
  if (typeof code === 'string' && networkCodes.has(code)) return true;
  const httpStatus = status ?? statusCode;
  if (typeof httpStatus === 'number' && (httpStatus === 408 || httpStatus === 429 || httpStatus >= 500)) return true;
  return isTransientError(cause, depth + 1);
}
