import type { Chunk } from '../document/chunk.js';
import type { ChunkParams } from '../document/chunking/chunking-strategy.js';
import type { MDocument } from '../document/document.js';
import type { ExtractParams } from '../document/extract/extract-options.js';
import { abortableItems } from '../store/store-call.js';
import type { IngestTarget } from './ingest-target.js';
import { addScope } from './scope.js';
import { addSource, type Sources } from './stale-chunks.js';
import { areStored } from './store-chunks.js';

/** Chunks that are compared and stored together. */
export interface Batch {
  /** Chunks with distinct ids. */
  chunks: Chunk[];
  /** Number of further chunks that are stored already. */
  unchanged: number;
  /** Number of documents that end in this batch. */
  documents: number;
}

export interface BatchOptions {
  target: IngestTarget;
  /** Ids of all chunks; this function adds to it. */
  seen: Set<string>;
  /** Sources of all documents; this function adds to it. */
  sources: Sources;
  batchSize: number;
  chunkOptions: ChunkParams | undefined;
}

/** Chunks documents on demand, and yields the chunks in batches. Leaves out chunks with an id in `seen`. */
export async function* readBatches(
  documents: Iterable<MDocument> | AsyncIterable<MDocument>,
  { target, seen, sources, batchSize, chunkOptions = {} }: BatchOptions,
): AsyncGenerator<Batch> {
  let batch: Batch = { chunks: [], unchanged: 0, documents: 0 };
  for await (const document of abortableItems(documents, target.signal)) {
    // The document names its source even if it has become empty and has no chunks.
    for (const { metadata } of document.sources) addSource(sources, metadata['source']);
    const { chunks, isStored } = await chunkDocument(target, document, chunkOptions);
    for (const chunk of chunks) {
      if (seen.has(chunk.id)) continue;
      seen.add(chunk.id);
      if (isStored) batch.unchanged += 1;
      else batch.chunks.push(chunk);
      if (batch.chunks.length + batch.unchanged < batchSize) continue;
      yield batch;
      batch = { chunks: [], unchanged: 0, documents: 0 };
      // Timers and signals run, even if the store and the embedder never wait.
      await new Promise((resolve) => setTimeout(resolve));
    }
    batch.documents += 1;
  }
  if (batch.documents > 0 || batch.chunks.length > 0) yield batch;
}

/** Results of a model differ from call to call and cost money: it is called only when a chunk of the document is not stored yet. */
async function chunkDocument(
  target: IngestTarget,
  document: MDocument,
  { extract, ...plain }: ChunkParams,
): Promise<{ chunks: readonly Chunk[]; isStored: boolean }> {
  const chunk = async (params: ChunkParams): Promise<Chunk[]> =>
    (await document.chunk(params)).map((one) => addScope(one, target.scope));
  const chunks = await chunk(plain);
  if (!extract) return { chunks, isStored: false };
  if (await areStored(target, chunks)) return { chunks, isStored: true };
  return { chunks: await chunk({ ...plain, extract: withSignal(extract, target.signal) }), isStored: false };
}

/** The extraction stops with the run, and by its own signal. */
function withSignal(extract: ExtractParams, signal: AbortSignal | undefined): ExtractParams {
  if (!signal) return extract;
  return { ...extract, signal: extract.signal ? AbortSignal.any([extract.signal, signal]) : signal };
}
