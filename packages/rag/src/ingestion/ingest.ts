import type { ChunkParams } from '../document/chunking/chunk-options.js';
import type { MDocument } from '../document/document.js';
import type { EmbedderInput } from '../embedding/index.js';
import { invalidArgument } from '../store/check-arguments.js';
import type { VectorMetric, VectorStore } from '../store/vector-store.js';
import { readBatches, type Batch } from './chunk-batches.js';
import { createIdSet } from './id-set.js';
import { openTarget } from './ingest-target.js';
import { removeVanished } from './remove-vanished.js';
import { runAhead } from './run-ahead.js';
import { createSourceSet } from './source-set.js';
import { storeChunks, type StoredCounts } from './store-chunks.js';

export interface IngestReport {
  /** Documents of which everything is stored. */
  documents: number;
  /** New or changed chunks: embedded and stored. */
  added: number;
  /** Chunks that only moved within their document: stored again with their old vector. */
  moved: number;
  unchanged: number;
  /** Chunks of earlier runs that their document no longer holds. */
  removed: number;
}

/** The report so far. */
export interface IngestProgress extends IngestReport {
  /** Known only when `documents` was given as an array. */
  totalDocuments?: number;
}

export interface IngestOptions {
  /** Each with `metadata.source`, which tells the documents apart from one run to the next. */
  documents: Iterable<MDocument> | AsyncIterable<MDocument>;
  store: VectorStore;
  /** Created when it does not exist. */
  indexName: string;
  /** An `Embedder`, an AI SDK embedding model, or a model string. */
  embedder: EmbedderInput;
  /**
   * How documents are divided. Default: by their type, see `MDocument.chunk`. With `extract`, a model is asked about documents that
   * are new or have changed, and not about others.
   */
  chunkOptions?: ChunkParams;
  /** Used when the index is created. Default `cosine`. */
  metric?: VectorMetric;
  /**
   * Which chunks of earlier runs are removed. `'source'` (default): those of the documents given now that these no longer
   * hold. `'all'`: everything else in the index too, so that it mirrors `documents`. `'none'`: nothing.
   */
  cleanup?: 'source' | 'all' | 'none';
  /** Chunks that are compared, embedded and stored at once. Default 256. */
  batchSize?: number;
  /** Batches at work at once. Default 4. */
  concurrency?: number;
  /** Attempts after the first, where an error of the model or the store may pass: half a second later, one second, and so on. Default 5. */
  maxRetries?: number;
  /** Called after each batch, and while chunks are removed. */
  onProgress?: (progress: IngestProgress) => void;
  /** Stops at once, also a request to a model, and while `documents` are waited for. What was stored so far stays, and the next run goes on from there. */
  signal?: AbortSignal;
}

/**
 * Brings an index up to date with documents: chunks them, embeds what is new or changed, and removes what vanished. A second
 * run over the same documents embeds nothing.
 *
 * A chunk is known by its text and its document's metadata. Its vector is made from its headings and text, and reused as long
 * as these are the same. Beside its own metadata, each chunk gets `embedder`, the id of what made its vector. New chunks are
 * stored before old ones are removed: a run that was aborted or killed leaves an index that still answers, and the next one goes
 * on from there.
 *
 * Documents are read as they are needed, so an iterable of any length will do. Memory holds `batchSize` × `concurrency` chunks,
 * one document, and up to 48 bytes for each chunk that was seen.
 *
 * @throws the reason of `signal`; `INGEST_EMBEDDER_CHANGED` when the index was made with another embedder;
 *   `INGEST_METADATA_RESERVED` when a document has metadata named `embedder`; `EMBEDDING_INVALID` for an answer of the embedder that does
 *   not fit; `VECTOR_ARGUMENT_INVALID` for a number that is none, and an unknown `cleanup`; whatever store, embedder and `documents` throw
 */
export async function ingest(options: IngestOptions): Promise<IngestReport> {
  const { documents, cleanup = 'source', batchSize = 256, concurrency = 4, onProgress, signal } = options;
  const { store, indexName, embedder, metric = 'cosine', maxRetries = 5 } = options;
  for (const [name, value, least] of [
    ['batchSize', batchSize, 1],
    ['concurrency', concurrency, 1],
    ['maxRetries', maxRetries, 0],
  ] as const) {
    if (!Number.isInteger(value) || value < least)
      throw invalidArgument(`${name} must be an integer of at least ${least}, not ${String(value)}.`);
  }
  // A slip of the pen must not remove anything.
  if (!['source', 'all', 'none'].includes(cleanup))
    throw invalidArgument(`cleanup must be 'source', 'all' or 'none', not '${String(cleanup)}'.`);
  const target = await openTarget({ store, indexName, embedder, metric, maxRetries, signal });
  const seen = createIdSet();
  const sources = createSourceSet();
  const report: IngestReport = { documents: 0, added: 0, moved: 0, unchanged: 0, removed: 0 };
  const total = Array.isArray(documents) ? { totalDocuments: documents.length } : {};
  const tell = (): void => onProgress?.({ ...report, ...total });

  const batches = readBatches(documents, {
    target,
    seen,
    sources,
    batchSize,
    chunkOptions: options.chunkOptions,
    signal,
  });
  const storeBatch = async (batch: Batch, batchSignal: AbortSignal): Promise<Batch & StoredCounts> => {
    const { added, moved, unchanged } = await storeChunks(target, batch.chunks, batchSignal);
    return { ...batch, added, moved, unchanged: unchanged + batch.unchanged };
  };
  for await (const counts of runAhead(batches, concurrency, storeBatch, signal)) {
    for (const key of ['documents', 'added', 'moved', 'unchanged'] as const) report[key] += counts[key];
    tell();
  }

  if (cleanup !== 'none' && target.isUpdate) {
    const kept = { seen, signal, ...(cleanup === 'source' && { sources }) };
    for await (const removed of removeVanished(target, kept)) {
      report.removed = removed;
      tell();
    }
  }
  return report;
}
