import { QuiverError } from '@quiver/core';
import { retry } from '../embedding/retry.js';
import { toEmbedder, type Embedder, type EmbedderInput } from '../embedding/index.js';
import type { Cancellable, VectorMetric, VectorStore } from '../store/vector-store.js';
import { isTransientError } from './transient-error.js';

/** Where chunks are stored, and how their vectors are made. */
export interface IngestTarget {
  readonly store: VectorStore;
  readonly indexName: string;
  readonly embedder: Embedder;
  readonly maxRetries: number;
  /** Whether the index was there before, so that chunks may be known. */
  readonly isUpdate: boolean;
  /** Creates the index if it is not there, once, whoever asks first: the dimension is known when something was embedded. */
  readonly ensureIndex: (dimension: number, signal: AbortSignal) => Promise<void>;
}

export interface IngestTargetOptions extends Pick<IngestTarget, 'store' | 'indexName' | 'maxRetries'> {
  readonly embedder: EmbedderInput;
  readonly metric: VectorMetric;
  readonly signal: AbortSignal | undefined;
}

/** @throws `INGEST_EMBEDDER_CHANGED`; `EMBEDDER_INVALID`; what the store throws */
export async function openTarget({ embedder, metric, signal, ...place }: IngestTargetOptions): Promise<IngestTarget> {
  const { indexName, maxRetries } = place;
  const existing = await askStore(place, (store, end) => store.listIndexes(end), signal);
  const isUpdate = existing.includes(indexName);
  let ready: Promise<void> | undefined = isUpdate ? Promise.resolve() : undefined;
  const target: IngestTarget = {
    ...place,
    embedder: toEmbedder(embedder, { maxRetries }),
    isUpdate,
    ensureIndex: (dimension, batchSignal) => {
      const shape = { indexName, dimension, metric };
      ready ??= askStore(place, (store, end) => store.createIndex({ ...shape, ...end }), batchSignal);
      return ready;
    },
  };
  if (target.isUpdate) await requireSameEmbedder(target, signal);
  return target;
}

/** Everything that is asked of a store here can be asked twice: it reads, or it writes and removes by id. */
export function askStore<Result>(
  { store, maxRetries }: Pick<IngestTarget, 'store' | 'maxRetries'>,
  ask: (store: VectorStore, cancellable: Cancellable) => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  return retry(() => ask(store, signal ? { signal } : {}), { maxRetries, isTransient: isTransientError, signal });
}

const sampleSize = 100;

/**
 * Looks at the first records of an index. All that `ingest` stored there has one embedder.
 *
 * @throws `INGEST_EMBEDDER_CHANGED`
 */
async function requireSameEmbedder(target: IngestTarget, signal: AbortSignal | undefined): Promise<void> {
  const { indexName, embedder } = target;
  const { records } = await askStore(
    target,
    (store, end) => store.scan({ indexName, limit: sampleSize, ...end }),
    signal,
  );
  for (const { metadata } of records) checkMaker(indexName, metadata['embedder'], embedder);
}

/** @throws `INGEST_EMBEDDER_CHANGED` when another embedder made the vector: those of two embedders must never be compared */
export function checkMaker(indexName: string, madeBy: unknown, { id }: Embedder): void {
  if (madeBy === undefined || madeBy === id) return;
  throw new QuiverError(
    'INGEST_EMBEDDER_CHANGED',
    `The index '${indexName}' was made with the embedder '${String(madeBy)}', not '${id}'. Their vectors cannot be compared: use another indexName, or delete the index first.`,
    { details: { indexName, existing: madeBy, requested: id } },
  );
}
