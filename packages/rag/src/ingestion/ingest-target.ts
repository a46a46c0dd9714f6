import { QuiverError } from '@quiver/core';
import type { Chunk } from '../document/chunk.js';
import { canonicalJson } from '../document/content-hash.js';
import { toEmbedder, type Embedder, type EmbedderInput } from '../embedding/index.js';
import { checkEmbeddings, retry } from '../embedding/call-model.js';
import { contextKey, vectorOfKey } from '../store/check-arguments.js';
import type { Cancellable, VectorMetadata, VectorMetric, VectorStore } from '../store/vector-store.js';
import type { FurtherVector } from './chunk-vectors.js';
import type { IngestScope } from './scope.js';
import { isTransientError } from './transient-error.js';

/** The delays add up to 31.5 seconds, which outlast a restart of PostgreSQL. */
export const defaultMaxRetries = 6;

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
function checkEmbedder(indexName: string, stored: unknown, { id }: Embedder): void {
  if (stored === undefined || stored === id) return;
  throw new QuiverError(
    'INGEST_EMBEDDER_CHANGED',
    `The index '${indexName}' was made with the embedder '${String(stored)}', not '${id}'. Their vectors cannot be compared: use another indexName, or delete the index first.`,
    { details: { indexName, existing: stored, requested: id } },
  );
}

/** Numbers of chunks that were embedded, stored again with their vector, and left alone. */
export interface StoredCounts {
  added: number;
  moved: number;
  unchanged: number;
  /** How many of the embedded ones have a new id. */
  created: number;
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
  const created = chunks.length - stored.size;
  return { added: groups.new.length, moved: groups.moved.length, unchanged: groups.unchanged.length, created };
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
      Object.entries(metadataOf(chunk, target.embedder)).every(
        ([key, value]) => canonicalJson(metadata[key]) === canonicalJson(value),
      );
    if (!isSame) return undefined;
    const { embedder: _embedder, previousChunk: _previous, textBefore: _text, ...own } = metadata;
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

function compareChunk(chunk: Chunk, stored: VectorMetadata | undefined, embedder: Embedder): ChunkState {
  if (!stored) return 'new';
  const metadata = metadataOf(chunk, embedder);
  // The vector was made from these and the text, and the id contains the text.
  const isSame = (key: string): boolean => canonicalJson(stored[key]) === canonicalJson(metadata[key]);
  if (!isSame('headings') || !isSame(contextKey)) return 'new';
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

/** The context or the headings name the subject of a chunk, often in words that its text does not contain. */
function toEmbeddedText(chunk: Chunk | FurtherVector): string {
  if ('vectorOf' in chunk) return chunk.text;
  const { text, metadata } = chunk;
  const { headings, [contextKey]: context } = metadata;
  const before = typeof context === 'string' ? context : headings?.join(' › ');
  return before ? `${before}\n\n${text}` : text;
}

const reservedKeys = ['embedder', 'previousChunk', 'textBefore', vectorOfKey];

/**
 * Adds the embedder's id to the metadata, so that a later run detects another embedder, and the link to the previous chunk, so that
 * `expandPassages` finds neighbors.
 *
 * @throws `INGEST_METADATA_RESERVED` when a document has metadata of these names
 */
function metadataOf(chunk: Chunk | FurtherVector, embedder: Embedder): VectorMetadata {
  const { metadata, previous } = chunk;
  const taken = reservedKeys.find((key) => key in metadata);
  if (taken !== undefined) {
    throw new QuiverError(
      'INGEST_METADATA_RESERVED',
      `ingest() writes the metadata key '${taken}'. Rename the key of your documents.`,
    );
  }
  // Conditional spreads take four times as long.
  const stored: VectorMetadata = { ...metadata };
  if (previous) stored['previousChunk'] = previous.id;
  if (previous?.textBetween !== undefined) stored['textBefore'] = previous.textBetween;
  if ('vectorOf' in chunk) stored[vectorOfKey] = chunk.vectorOf;
  stored['embedder'] = embedder.id;
  return stored;
}
