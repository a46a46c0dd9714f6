import { QuiverError } from '@quiver/core';
import type { Chunk } from '../document/chunk.js';
import { contextKey, vectorOfKey, ingestKeys, reservedKeys } from '../document/metadata-keys.js';
import { canonicalJson } from '../document/content-hash.js';
import { estimateTokens } from '../embedding/rate-limit.js';
import { retry } from '../requests/retry.js';
import { lacksDirection, type IndexShape } from '../store/checks.js';
import { toScopeKeys } from '../store/scope.js';
import type { VectorMetadata } from '../store/vector-store.js';
import type { ChunkVector } from './chunk-vectors.js';
import type { IngestEstimate } from './dry-run.js';
import { callStore, checkEmbedder, type IngestTarget } from './ingest-target.js';

/** Numbers of chunks that were embedded, stored again with their vector, and left alone. */
export interface StoredCounts {
  added: number;
  moved: number;
  unchanged: number;
}

/**
 * Compares chunks with the records of the same ids, and stores the chunks that differ, except in a dry run. The ids must be distinct.
 *
 * @throws `INGEST_EMBEDDER_CHANGED`; `INGEST_METADATA_RESERVED`; errors of store and embedder; the abort reason
 */
export async function storeChunks(target: IngestTarget, chunks: readonly ChunkVector[]): Promise<StoredCounts> {
  const stored = await readStored(target, chunks);
  const groups: Record<ChunkState, ChunkVector[]> = { new: [], moved: [], unchanged: [] };
  for (const chunk of chunks) groups[compareChunk(chunk, stored.get(chunk.id), target)].push(chunk);
  if (target.estimate) await estimateNew(target, target.estimate, groups.new);
  else {
    await storeNew(target, groups.new);
    await storeMoved(target, groups.moved);
  }
  return { added: groups.new.length, moved: groups.moved.length, unchanged: groups.unchanged.length };
}

/**
 * Returns the chunks with their stored metadata, which may contain more, if all of them are stored with the same metadata and have the
 * given keys.
 */
export async function readIfStored(
  target: IngestTarget,
  chunks: readonly Chunk[],
  keys: readonly string[],
): Promise<Chunk[] | undefined> {
  const stored = await readStored(target, chunks);
  const found: Chunk[] = [];
  for (const chunk of chunks) {
    const metadata = stored.get(chunk.id);
    const isSame =
      metadata &&
      keys.every((key) => key in metadata) &&
      Object.entries(metadataOf(chunk, target)).every(
        ([key, value]) => canonicalJson(metadata[key]) === canonicalJson(value),
      );
    if (!isSame) return undefined;
    const own = Object.fromEntries(Object.entries(metadata).filter(([key]) => !ingestKeys.has(key)));
    found.push({ ...chunk, metadata: { ...own, ...chunk.metadata } });
  }
  return found;
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

function compareChunk(chunk: ChunkVector, stored: VectorMetadata | undefined, target: IngestTarget): ChunkState {
  if (!stored) return 'new';
  const metadata = metadataOf(chunk, target);
  // The vector was made from these and the text, and the id contains the text.
  const isSame = (key: string): boolean => canonicalJson(stored[key]) === canonicalJson(metadata[key]);
  if (!isSame('headings') || !isSame(contextKey)) return 'new';
  return canonicalJson(stored) === canonicalJson(metadata) ? 'unchanged' : 'moved';
}

/** @throws `VECTOR_DIMENSION_MISMATCH` when the embedder tells its dimension */
async function estimateNew(
  target: IngestTarget,
  estimate: IngestEstimate,
  chunks: readonly ChunkVector[],
): Promise<void> {
  estimate.texts += chunks.length;
  for (const { embedded } of chunks) estimate.tokens += estimateTokens(embedded);
  const { dimension } = target.embedder;
  if (!target.isUpdate || dimension === undefined || chunks.length === 0) return;
  requireDimension(target, (await target.openIndex(dimension)).dimension, dimension);
}

async function storeNew(target: IngestTarget, chunks: readonly ChunkVector[]): Promise<void> {
  if (chunks.length === 0) return;
  const { embedder, maxRetries, signal } = target;
  const texts = chunks.map(({ embedded }) => embedded);
  const options = { purpose: 'document', signal } as const;
  const vectors = await retry(() => embedder.embed(texts, options), { maxRetries, signal });
  const [{ length: dimension } = []] = vectors;
  // A wrong response must not create the index.
  if (!target.isUpdate) requireFit(target, { dimension, metric: target.metric }, chunks, vectors);
  requireFit(target, await target.openIndex(dimension), chunks, vectors);
  await upsertChunks(target, chunks, vectors);
}

function requireDimension({ indexName, embedder }: IngestTarget, dimension: number, actual: number): void {
  if (actual === dimension) return;
  throw new QuiverError(
    'VECTOR_DIMENSION_MISMATCH',
    `The index '${indexName}' has dimension ${dimension}, but the embedder '${embedder.id}' returned vectors of ${actual} numbers. If a wrong response of the embedder created the index, delete it with store.deleteIndex({ indexName: '${indexName}' }) and run again; otherwise use the embedder of the index, or another indexName.`,
    { details: { indexName, expected: dimension, actual } },
  );
}

/** @throws `VECTOR_DIMENSION_MISMATCH`; `EMBEDDING_INVALID` for a vector of zeros that the metric of the index cannot compare */
function requireFit(
  target: IngestTarget,
  { dimension, metric }: IndexShape,
  chunks: readonly ChunkVector[],
  vectors: readonly Float32Array[],
): void {
  const { indexName, embedder } = target;
  requireDimension(target, dimension, vectors[0]?.length ?? dimension);
  const place = metric === 'cosine' ? vectors.findIndex(lacksDirection) : -1;
  const chunk = chunks[place];
  if (!chunk) return;
  throw new QuiverError(
    'EMBEDDING_INVALID',
    `The embedder '${embedder.id}' returned only zeros for the text ${JSON.stringify((chunk.text || chunk.embedded).slice(0, 80))} of ${JSON.stringify(chunk.metadata['source'])}. The metric 'cosine' of the index '${indexName}' compares directions, and zeros have none: the text would never be found. Return another vector, or create the index with the metric 'euclidean' or 'dotproduct'.`,
    { details: { indexName, chunkId: chunk.id, source: chunk.metadata['source'] } },
  );
}

async function storeMoved(target: IngestTarget, chunks: readonly ChunkVector[]): Promise<void> {
  if (chunks.length === 0) return;
  const request = { indexName: target.indexName, ids: chunks.map(({ id }) => id), includeVector: true };
  const records = await callStore(target, (store, end) => store.get({ ...request, ...end }));
  const vectors = new Map(records.map(({ id, vector }) => [id, vector ?? []]));
  const inOrder = chunks.map(({ id }) => vectors.get(id) ?? []);
  await upsertChunks(target, chunks, inOrder);
}

async function upsertChunks(
  target: IngestTarget,
  chunks: readonly ChunkVector[],
  vectors: readonly (readonly number[] | Float32Array)[],
): Promise<void> {
  const records = {
    indexName: target.indexName,
    ids: chunks.map(({ id }) => id),
    vectors,
    metadata: chunks.map((chunk) => metadataOf(chunk, target)),
    documents: chunks.map(({ text }) => text),
  };
  await callStore(target, (store, end) => store.upsert({ ...records, ...end }));
}

/**
 * Adds the embedder's id to the metadata, so that a later run detects another embedder; the keys of the scope, so that it detects a missing
 * one; and the link to the previous chunk, so that `expandPassages` finds neighbors.
 *
 * @throws `INGEST_METADATA_RESERVED` when a document has metadata of these names
 */
function metadataOf(chunk: Chunk & Pick<ChunkVector, 'vectorOf'>, { embedder, scope }: IngestTarget): VectorMetadata {
  const { metadata, previous } = chunk;
  for (const taken of reservedKeys) {
    if (!(taken in metadata)) continue;
    throw new QuiverError(
      'INGEST_METADATA_RESERVED',
      `Quiver writes the metadata key '${taken}'. Rename the key of your documents.`,
    );
  }
  // Conditional spreads take four times as long.
  const stored: VectorMetadata = { ...metadata };
  if (previous) stored['previousChunk'] = previous.id;
  if (previous?.textBetween !== undefined) stored['textBefore'] = previous.textBetween;
  if (chunk.vectorOf !== undefined) stored[vectorOfKey] = chunk.vectorOf;
  const scopeKeys = toScopeKeys(scope);
  if (scopeKeys !== undefined) Object.assign(stored, { scoped: true, scopeKeys });
  stored['embedder'] = embedder.id;
  return stored;
}
