import { QuiverError } from '@quiver/core';
import { toEmbedder, type Embedder, type EmbedderInput } from '../embedding/index.js';
import { retry } from '../embedding/retry.js';
import type { Cancellable, VectorMetric, VectorStore } from '../store/vector-store.js';
import type { IngestScope } from './scope.js';
import { isTransientError } from './transient-error.js';

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
  return retry(() => call(store, signal ? { signal } : {}), { maxRetries, isTransient: isTransientError, signal });
}

/** The index that a run writes to. */
export interface IngestTarget extends StoreAccess {
  readonly embedder: Embedder;
  readonly scope: IngestScope | undefined;
  /** Whether the index existed before the run. */
  readonly isUpdate: boolean;
  /** Creates a missing index once. The dimension is known after the first embedding. */
  readonly ensureIndex: (dimension: number) => Promise<void>;
}

export interface IngestTargetOptions extends StoreAccess {
  readonly embedder: EmbedderInput;
  readonly scope: IngestScope | undefined;
  readonly metric: VectorMetric;
}

/** @throws `INGEST_EMBEDDER_CHANGED`; `EMBEDDER_INVALID`; errors of the store */
export async function openTarget({ embedder, metric, scope, ...access }: IngestTargetOptions): Promise<IngestTarget> {
  const { indexName, maxRetries } = access;
  const isUpdate = (await callStore(access, (store, end) => store.listIndexes(end))).includes(indexName);
  let ready: Promise<void> | undefined = isUpdate ? Promise.resolve() : undefined;
  const target: IngestTarget = {
    ...access,
    embedder: toEmbedder(embedder, { maxRetries }),
    scope,
    isUpdate,
    ensureIndex: (dimension) => {
      const shape = { indexName, dimension, metric };
      ready ??= callStore(access, (store, end) => store.createIndex({ ...shape, ...end }));
      return ready;
    },
  };
  if (isUpdate) await requireSameEmbedder(target);
  return target;
}

const sampleSize = 100;

/** Checks the first records of an index: `ingest` stores one embedder's vectors in it. */
async function requireSameEmbedder(target: IngestTarget): Promise<void> {
  const { indexName, embedder } = target;
  const page = await callStore(target, (store, end) => store.scan({ indexName, limit: sampleSize, ...end }));
  for (const { metadata } of page.records) checkEmbedder(indexName, metadata['embedder'], embedder);
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
