import type { Chunk } from '../document/chunk.js';
import type { ChunkParams } from '../document/chunking/chunk-options.js';
import type { MDocument } from '../document/document.js';
import type { ExtractParams } from '../document/extract/extract-options.js';
import { abortableItems } from '../store/abortable-items.js';
import type { IdSet } from './id-set.js';
import type { IngestTarget } from './ingest-target.js';
import type { SourceSet } from './source-set.js';
import { areStored } from './store-chunks.js';

/** Chunks that are compared and stored at once. */
export interface Batch {
  /** With different ids. */
  chunks: Chunk[];
  /** Chunks that are known to be stored already, beside those. */
  unchanged: number;
  /** Documents that end with it. */
  documents: number;
}

export interface BatchOptions {
  target: IngestTarget;
  /** Grows with each chunk. */
  seen: IdSet;
  /** Grows with each document. */
  sources: SourceSet;
  batchSize: number;
  chunkOptions: ChunkParams | undefined;
  signal: AbortSignal | undefined;
}

/** Divides documents into chunks as they are asked for. A chunk that was seen before is left out. */
export async function* readBatches(
  documents: Iterable<MDocument> | AsyncIterable<MDocument>,
  { target, seen, sources, batchSize, chunkOptions = {}, signal }: BatchOptions,
): AsyncGenerator<Batch> {
  let batch: Batch = { chunks: [], unchanged: 0, documents: 0 };
  for await (const document of abortableItems(documents, signal)) {
    // Read from the document itself: one that has become empty has no chunks to tell its source.
    for (const { metadata } of document.sources) {
      if (metadata['source'] !== undefined) sources.add(metadata['source']);
    }
    const { chunks, isKnown } = await divide(target, document, chunkOptions, signal);
    for (const chunk of chunks) {
      if (!seen.add(chunk.id)) continue;
      if (isKnown) batch.unchanged += 1;
      else batch.chunks.push(chunk);
      if (batch.chunks.length + batch.unchanged < batchSize) continue;
      yield batch;
      batch = { chunks: [], unchanged: 0, documents: 0 };
      await letOthersRun();
    }
    batch.documents += 1;
  }
  if (batch.documents > 0 || batch.chunks.length > 0) yield batch;
}

/** What a model says is never twice the same, and is paid for: it is asked only when a chunk of the document is not stored yet. */
async function divide(
  target: IngestTarget,
  document: MDocument,
  { extract, ...plain }: ChunkParams,
  signal: AbortSignal | undefined,
): Promise<{ chunks: readonly Chunk[]; isKnown: boolean }> {
  const chunks = await document.chunk(plain);
  if (!extract) return { chunks, isKnown: false };
  if (await areStored(target, chunks, signal)) return { chunks, isKnown: true };
  return { chunks: await document.chunk({ ...plain, extract: withSignal(extract, signal) }), isKnown: false };
}

/** The extraction ends with the run, and for a signal of its own. */
function withSignal(extract: ExtractParams, signal: AbortSignal | undefined): ExtractParams {
  if (!signal) return extract;
  return { ...extract, signal: extract.signal ? AbortSignal.any([extract.signal, signal]) : signal };
}

/** Timers and signals get their turn, also when neither store nor embedder ever waits. */
function letOthersRun(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
