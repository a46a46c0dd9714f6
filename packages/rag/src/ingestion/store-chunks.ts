import { QuiverError } from '@quiver/core';
import { canonicalJson } from '../document/canonical-json.js';
import type { Chunk } from '../document/chunk.js';
import { checkEmbeddings } from '../embedding/check-embeddings.js';
import { retry } from '../embedding/retry.js';
import type { Embedder } from '../embedding/index.js';
import type { VectorMetadata } from '../store/vector-store.js';
import { askStore, checkMaker, type IngestTarget } from './ingest-target.js';

/** How many chunks had to be embedded, how many only stored again, and how many neither. */
export interface StoredCounts {
  added: number;
  moved: number;
  unchanged: number;
}

/**
 * Compares chunks with what the store holds under their ids, and stores those that differ. They have different ids.
 *
 * @throws `INGEST_EMBEDDER_CHANGED`; `INGEST_METADATA_RESERVED`; what store and embedder throw; the reason of `signal`
 */
export async function storeChunks(
  target: IngestTarget,
  chunks: readonly Chunk[],
  signal: AbortSignal,
): Promise<StoredCounts> {
  const known = await readKnown(target, chunks, signal);
  const groups: Record<ChunkState, Chunk[]> = { new: [], moved: [], unchanged: [] };
  for (const chunk of chunks) groups[compareChunk(chunk, known.get(chunk.id), target.embedder)].push(chunk);
  await storeNew(target, groups.new, signal);
  await storeMoved(target, groups.moved, signal);
  return { added: groups.new.length, moved: groups.moved.length, unchanged: groups.unchanged.length };
}

/** Whether all chunks are stored with their metadata, and perhaps more of it. */
export async function areStored(
  target: IngestTarget,
  chunks: readonly Chunk[],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const known = await readKnown(target, chunks, signal);
  return chunks.every((chunk) => {
    const stored = known.get(chunk.id);
    const metadata = Object.entries(metadataOf(chunk, target.embedder));
    return stored && metadata.every(([key, value]) => canonicalJson(stored[key]) === canonicalJson(value));
  });
}

async function readKnown(
  target: IngestTarget,
  chunks: readonly Chunk[],
  signal: AbortSignal | undefined,
): Promise<Map<string, VectorMetadata>> {
  if (!target.isUpdate || chunks.length === 0) return new Map();
  const { indexName, embedder } = target;
  const ids = chunks.map(({ id }) => id);
  const records = await askStore(target, (store, end) => store.get({ indexName, ids, ...end }), signal);
  return new Map(
    records.map(({ id, metadata }) => {
      checkMaker(indexName, metadata['embedder'], embedder);
      return [id, metadata];
    }),
  );
}

/** `moved`: the vector still fits, but the place in the document is another one. */
type ChunkState = 'new' | 'moved' | 'unchanged';

function compareChunk(chunk: Chunk, known: VectorMetadata | undefined, embedder: Embedder): ChunkState {
  const metadata = metadataOf(chunk, embedder);
  // The vector was made from these and the text, which is in the id.
  if (!known || canonicalJson(known['headings']) !== canonicalJson(metadata['headings'])) return 'new';
  return canonicalJson(known) === canonicalJson(metadata) ? 'unchanged' : 'moved';
}

async function storeNew(target: IngestTarget, chunks: readonly Chunk[], signal: AbortSignal): Promise<void> {
  if (chunks.length === 0) return;
  const { embedder, maxRetries } = target;
  const texts = chunks.map(toEmbeddedText);
  const answer = await retry(() => embedder.embed(texts, { purpose: 'document', signal }), { maxRetries, signal });
  const vectors = checkEmbeddings(answer, { id: embedder.id, count: texts.length, dimension: embedder.dimension });
  await target.ensureIndex(vectors[0]?.length ?? 0, signal);
  await upsertChunks(target, chunks, vectors, signal);
}

async function storeMoved(target: IngestTarget, chunks: readonly Chunk[], signal: AbortSignal): Promise<void> {
  if (chunks.length === 0) return;
  const { indexName } = target;
  const ids = chunks.map(({ id }) => id);
  const records = await askStore(
    target,
    (store, end) => store.get({ indexName, ids, includeVector: true, ...end }),
    signal,
  );
  const vectors = new Map(records.map(({ id, vector }) => [id, vector ?? []]));
  await upsertChunks(
    target,
    chunks,
    ids.map((id) => vectors.get(id) ?? []),
    signal,
  );
}

async function upsertChunks(
  target: IngestTarget,
  chunks: readonly Chunk[],
  vectors: readonly (readonly number[] | Float32Array)[],
  signal: AbortSignal,
): Promise<void> {
  const records = {
    indexName: target.indexName,
    ids: chunks.map(({ id }) => id),
    vectors,
    metadata: chunks.map((chunk) => metadataOf(chunk, target.embedder)),
    documents: chunks.map(({ text }) => text),
  };
  await askStore(target, (store, end) => store.upsert({ ...records, ...end }), signal);
}

/** The headings say what a passage is about, often in words that it does not repeat. */
function toEmbeddedText({ text, metadata: { headings } }: Chunk): string {
  return headings ? `${headings.join(' › ')}\n\n${text}` : text;
}

/**
 * The embedder is stored with every chunk, so that a change of it is noticed.
 *
 * @throws `INGEST_METADATA_RESERVED` when a document has metadata of that name
 */
function metadataOf({ metadata }: Chunk, embedder: Embedder): VectorMetadata {
  if ('embedder' in metadata) {
    throw new QuiverError(
      'INGEST_METADATA_RESERVED',
      "The metadata key 'embedder' is written by ingest(); rename yours.",
    );
  }
  return { ...metadata, embedder: embedder.id };
}
