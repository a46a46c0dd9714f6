import { QuiverError } from '@quiver/core';
import { canonicalJson } from '../document/canonical-json.js';
import type { Chunk } from '../document/chunk.js';
import { checkEmbeddings } from '../embedding/check-embeddings.js';
import { retry } from '../embedding/retry.js';
import type { Embedder } from '../embedding/index.js';
import type { VectorMetadata } from '../store/vector-store.js';
import { callStore, checkEmbedder, type IngestTarget } from './ingest-target.js';

/** Numbers of chunks that were embedded, stored again with their vector, and left alone. */
export interface StoredCounts {
  added: number;
  moved: number;
  unchanged: number;
}

/**
 * Compares chunks with the records of the same ids, and stores the chunks that differ. The ids must be distinct.
 *
 * @throws `INGEST_EMBEDDER_CHANGED`; `INGEST_METADATA_RESERVED`; errors of store and embedder; the abort reason
 */
export async function storeChunks(target: IngestTarget, chunks: readonly Chunk[]): Promise<StoredCounts> {
  const stored = await readStored(target, chunks);
  const groups: Record<ChunkState, Chunk[]> = { new: [], moved: [], unchanged: [] };
  for (const chunk of chunks) groups[compareChunk(chunk, stored.get(chunk.id), target.embedder)].push(chunk);
  await storeNew(target, groups.new);
  await storeMoved(target, groups.moved);
  return { added: groups.new.length, moved: groups.moved.length, unchanged: groups.unchanged.length };
}

/** Returns whether all chunks are stored with their metadata. Stored metadata may contain more. */
export async function areStored(target: IngestTarget, chunks: readonly Chunk[]): Promise<boolean> {
  const stored = await readStored(target, chunks);
  return chunks.every((chunk) => {
    const found = stored.get(chunk.id);
    const metadata = Object.entries(metadataOf(chunk, target.embedder));
    return found && metadata.every(([key, value]) => canonicalJson(found[key]) === canonicalJson(value));
  });
}

async function readStored(target: IngestTarget, chunks: readonly Chunk[]): Promise<Map<string, VectorMetadata>> {
  if (!target.isUpdate || chunks.length === 0) return new Map();
  const { indexName, embedder } = target;
  const ids = chunks.map(({ id }) => id);
  const records = await callStore(target, (store, end) => store.get({ indexName, ids, ...end }));
  for (const { metadata } of records) checkEmbedder(indexName, metadata['embedder'], embedder);
  return new Map(records.map(({ id, metadata }) => [id, metadata]));
}

/** `moved`: text and headings are the same, but other metadata, such as the position in the document, differs. */
type ChunkState = 'new' | 'moved' | 'unchanged';

function compareChunk(chunk: Chunk, stored: VectorMetadata | undefined, embedder: Embedder): ChunkState {
  const metadata = metadataOf(chunk, embedder);
  // The vector was made from the headings and the text, and the id contains the text.
  if (!stored || canonicalJson(stored['headings']) !== canonicalJson(metadata['headings'])) return 'new';
  return canonicalJson(stored) === canonicalJson(metadata) ? 'unchanged' : 'moved';
}

async function storeNew(target: IngestTarget, chunks: readonly Chunk[]): Promise<void> {
  if (chunks.length === 0) return;
  const { embedder, maxRetries, signal } = target;
  const texts = chunks.map(toEmbeddedText);
  const options = { purpose: 'document', ...(signal && { signal }) } as const;
  const embeddings = await retry(() => embedder.embed(texts, options), { maxRetries, signal });
  const vectors = checkEmbeddings(embeddings, { id: embedder.id, count: texts.length, dimension: embedder.dimension });
  await target.ensureIndex(vectors[0]?.length ?? 0);
  await upsertChunks(target, chunks, vectors);
}

async function storeMoved(target: IngestTarget, chunks: readonly Chunk[]): Promise<void> {
  if (chunks.length === 0) return;
  const request = { indexName: target.indexName, ids: chunks.map(({ id }) => id), includeVector: true };
  const records = await callStore(target, (store, end) => store.get({ ...request, ...end }));
  const vectors = new Map(records.map(({ id, vector }) => [id, vector ?? []]));
  const inOrder = chunks.map(({ id }) => vectors.get(id) ?? []);
  await upsertChunks(target, chunks, inOrder);
}

async function upsertChunks(
  target: IngestTarget,
  chunks: readonly Chunk[],
  vectors: readonly (readonly number[] | Float32Array)[],
): Promise<void> {
  const records = {
    indexName: target.indexName,
    ids: chunks.map(({ id }) => id),
    vectors,
    metadata: chunks.map((chunk) => metadataOf(chunk, target.embedder)),
    documents: chunks.map(({ text }) => text),
  };
  await callStore(target, (store, end) => store.upsert({ ...records, ...end }));
}

/** Headings name the subject of a chunk, often in words that its text does not contain. */
function toEmbeddedText({ text, metadata: { headings } }: Chunk): string {
  return headings ? `${headings.join(' › ')}\n\n${text}` : text;
}

/**
 * Adds the embedder's id to the metadata, so that a later run detects another embedder.
 *
 * @throws `INGEST_METADATA_RESERVED` when a document has metadata named `embedder`
 */
function metadataOf({ metadata }: Chunk, embedder: Embedder): VectorMetadata {
  if ('embedder' in metadata) {
    throw new QuiverError(
      'INGEST_METADATA_RESERVED',
      "ingest() writes the metadata key 'embedder'. Rename the key of your documents.",
    );
  }
  return { ...metadata, embedder: embedder.id };
}
