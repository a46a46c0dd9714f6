import { QuiverError } from '@quiver/core';
import { canonicalJson } from '../document/canonical-json.js';
import type { Chunk } from '../document/chunk.js';
import type { Embedder } from '../embedding/index.js';
import type { VectorMetadata, VectorMetric, VectorStore } from '../store/index.js';

/** Where chunks are stored, and how their vectors are made. */
export interface IngestTarget {
  readonly store: VectorStore;
  readonly indexName: string;
  readonly embedder: Embedder;
  readonly metric: VectorMetric;
  readonly signal: AbortSignal | undefined;
}

/** What is kept in memory of a chunk that an earlier run stored. */
export interface KnownChunk {
  readonly source: unknown;
  /** What the vector was made from beside the text, which is in the chunk's id. */
  readonly headingsKey: string;
  readonly metadataKey: string;
}

/**
 * All chunks of the index by their id; none when the index does not exist.
 *
 * @throws `INGEST_EMBEDDER_CHANGED` when another embedder made the vectors: those of two embedders must never be compared
 */
export async function readKnownChunks({ store, indexName, embedder }: IngestTarget): Promise<Map<string, KnownChunk>> {
  const known = new Map<string, KnownChunk>();
  if (!(await store.listIndexes()).includes(indexName)) return known;
  let cursor: string | undefined;
  do {
    const page = await store.scan({ indexName, ...(cursor !== undefined && { cursor }) });
    for (const { id, metadata } of page.records) {
      const { source, headings, embedder: madeBy } = metadata;
      if (madeBy !== undefined && madeBy !== embedder.id) throw embedderChanged(indexName, madeBy, embedder.id);
      known.set(id, { source, headingsKey: canonicalJson(headings), metadataKey: canonicalJson(metadata) });
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return known;
}

/** `moved`: the vector still fits, but the place in the document is another one. */
export function compareChunk(
  chunk: Chunk,
  known: KnownChunk | undefined,
  embedder: Embedder,
): 'new' | 'moved' | 'unchanged' {
  const metadata = metadataOf(chunk, embedder);
  if (known?.headingsKey !== canonicalJson(metadata['headings'])) return 'new';
  return known.metadataKey === canonicalJson(metadata) ? 'unchanged' : 'moved';
}

export async function storeNewChunks(target: IngestTarget, chunks: readonly Chunk[]): Promise<void> {
  if (chunks.length === 0) return;
  const { store, indexName, embedder, metric, signal } = target;
  const vectors = await embedder.embed(chunks.map(toEmbeddedText), { purpose: 'document', ...(signal && { signal }) });
  const dimension = vectors[0]?.length ?? 0;
  await store.createIndex({ indexName, dimension, metric });
  await upsertChunks(target, chunks, vectors);
}

export async function storeMovedChunks(target: IngestTarget, chunks: readonly Chunk[]): Promise<void> {
  if (chunks.length === 0) return;
  const { store, indexName } = target;
  const records = await store.get({ indexName, ids: chunks.map(({ id }) => id), includeVector: true });
  const vectors = new Map(records.map(({ id, vector }) => [id, vector ?? []]));
  await upsertChunks(
    target,
    chunks,
    chunks.map(({ id }) => vectors.get(id) ?? []),
  );
}

async function upsertChunks(
  { store, indexName, embedder }: IngestTarget,
  chunks: readonly Chunk[],
  vectors: readonly (readonly number[] | Float32Array)[],
): Promise<void> {
  await store.upsert({
    indexName,
    ids: chunks.map(({ id }) => id),
    vectors,
    metadata: chunks.map((chunk) => metadataOf(chunk, embedder)),
    documents: chunks.map(({ text }) => text),
  });
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

function embedderChanged(indexName: string, madeBy: unknown, embedder: string): QuiverError {
  return new QuiverError(
    'INGEST_EMBEDDER_CHANGED',
    `The index '${indexName}' was made with the embedder '${String(madeBy)}', not '${embedder}'. Their vectors cannot be compared: use another indexName, or delete the index first.`,
    { details: { indexName, existing: madeBy, requested: embedder } },
  );
}
