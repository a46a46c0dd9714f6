import type { Chunk } from '../document/chunk.js';
import type { ChunkParams } from '../document/chunking/chunk-options.js';
import type { MDocument } from '../document/document.js';
import { toEmbedder, type EmbedderInput } from '../embedding/index.js';
import type { VectorMetric, VectorStore } from '../store/index.js';
import { compareChunk, readKnownChunks, storeMovedChunks, storeNewChunks, type IngestTarget } from './stored-chunks.js';

export interface IngestProgress {
  /** Documents that are chunked, embedded and stored. */
  documents: number;
  /** Known only when `documents` was given as an array. */
  totalDocuments?: number;
  /** Chunks that were embedded and stored so far. */
  added: number;
  unchanged: number;
}

export interface IngestReport {
  documents: number;
  /** New or changed chunks: embedded and stored. */
  added: number;
  /** Chunks that only moved within their document: stored again with their old vector. */
  moved: number;
  unchanged: number;
  /** Chunks of earlier runs that their document no longer holds. */
  removed: number;
}

export interface IngestOptions {
  /** Each with `metadata.source`, which tells the documents apart from one run to the next. */
  documents: Iterable<MDocument> | AsyncIterable<MDocument>;
  store: VectorStore;
  /** Created when it does not exist. */
  indexName: string;
  /** An `Embedder`, an AI SDK embedding model, or a model string. */
  embedder: EmbedderInput;
  /** How documents are divided. Default: by their type, see `MDocument.chunk`. */
  chunkOptions?: ChunkParams;
  /** Used when the index is created. Default `cosine`. */
  metric?: VectorMetric;
  /**
   * Which chunks of earlier runs are removed. `'source'` (default): those of the documents given now that these no longer
   * hold. `'all'`: everything else in the index too, so that it mirrors `documents`. `'none'`: nothing.
   */
  cleanup?: 'source' | 'all' | 'none';
  /** Chunks that are embedded and stored at once. Default 256. */
  batchSize?: number;
  onProgress?: (progress: IngestProgress) => void;
  /** Stops between two batches. What was stored so far stays, and the next run goes on from there. */
  signal?: AbortSignal;
}

/**
 * Brings an index up to date with documents: chunks them, embeds what is new or changed, and removes what vanished. A second
 * run over the same documents embeds nothing.
 *
 * A chunk is known by its text and its document's metadata. Its vector is made from its headings and text, and reused as long
 * as these are the same. Beside its own metadata, each chunk gets `embedder`, the id of what made its vector. New chunks are
 * stored before old ones are removed: an interrupted run leaves an index that still answers.
 *
 * @throws the reason of `signal`; `INGEST_EMBEDDER_CHANGED` when the index was made with another embedder;
 *   `INGEST_METADATA_RESERVED` when a document has metadata named `embedder`; whatever store and embedder throw
 */
export async function ingest(options: IngestOptions): Promise<IngestReport> {
  const { documents, store, indexName, chunkOptions = {}, cleanup = 'source', batchSize = 256, signal } = options;
  const target: IngestTarget = {
    store,
    indexName,
    embedder: toEmbedder(options.embedder),
    metric: options.metric ?? 'cosine',
    signal,
  };
  const known = await readKnownChunks(target);
  const report: IngestReport = { documents: 0, added: 0, moved: 0, unchanged: 0, removed: 0 };
  const total = Array.isArray(documents) ? { totalDocuments: documents.length } : {};
  const seen = new Set<string>();
  const sources = new Set<unknown>();
  let waiting: Record<'new' | 'moved', Chunk[]> = { new: [], moved: [] };

  const storeWaiting = async (): Promise<void> => {
    signal?.throwIfAborted();
    await storeNewChunks(target, waiting.new);
    await storeMovedChunks(target, waiting.moved);
    report.added += waiting.new.length;
    report.moved += waiting.moved.length;
    waiting = { new: [], moved: [] };
    options.onProgress?.({ documents: report.documents, ...total, added: report.added, unchanged: report.unchanged });
  };

  for await (const document of documents) {
    // Read from the document itself: one that has become empty has no chunks to tell its source.
    for (const { metadata } of document.sources) {
      if (metadata['source'] !== undefined) sources.add(metadata['source']);
    }
    for (const chunk of await document.chunk(chunkOptions)) {
      if (seen.has(chunk.id)) continue;
      seen.add(chunk.id);
      const state = compareChunk(chunk, known.get(chunk.id), target.embedder);
      if (state === 'unchanged') report.unchanged += 1;
      else waiting[state].push(chunk);
      if (waiting.new.length + waiting.moved.length >= batchSize) await storeWaiting();
    }
    report.documents += 1;
    if (report.documents % documentsPerProgress === 0) await storeWaiting();
  }
  await storeWaiting();

  if (cleanup !== 'none') {
    const vanished = [...known].filter(
      ([id, { source }]) => !seen.has(id) && (cleanup === 'all' || sources.has(source)),
    );
    if (vanished.length > 0) await store.deleteVectors({ indexName, ids: vanished.map(([id]) => id) });
    report.removed = vanished.length;
  }
  return report;
}

/** Without changes nothing else would tell how far a long run is. */
const documentsPerProgress = 32;
