import { isQuiverError, QuiverError } from '@quiver/core';
import type { Chunk } from '../document/chunk.js';
import { contextKey, vectorOfKey, ingestKeys, reservedKeys } from '../document/metadata-keys.js';
import { canonicalJson } from '../document/content-hash.js';
import { toEmbedder, type Embedder, type EmbedderInput } from '../embedding/index.js';
import { retry } from '../requests/retry.js';
import { lacksDirection, type IndexShape } from '../store/checks.js';
import type {
  Cancellable,
  VectorPage,
  VectorFilter,
  VectorMetadata,
  VectorMetric,
  VectorRecord,
  VectorStore,
} from '../store/vector-store.js';
import type { ChunkVector } from './chunk-vectors.js';
import { isScoped, toScopeKeys, type RunScope } from '../store/scope.js';
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
  return retry(() => call(store, { signal }), { maxRetries, isTransient: isTransientError, signal });
}

/** The index that a run writes to. */
export interface IngestTarget extends StoreAccess {
  readonly embedder: Embedder;
  readonly scope: RunScope;
  /** Whether the index existed before the run. */
  readonly isUpdate: boolean;
  /** Metric of a new index. */
  readonly metric: VectorMetric;
  /** Returns the shape of the index, which the first call creates if it is missing. The dimension is known after the first embedding. */
  readonly openIndex: (dimension: number) => Promise<IndexShape>;
}

export interface IngestTargetOptions extends StoreAccess, Pick<IngestTarget, 'scope' | 'metric'> {
  readonly embedder: EmbedderInput;
}

/** @throws `INGEST_SCOPE_MISSING`; `INGEST_SCOPE_MISMATCH`; `INGEST_EMBEDDER_CHANGED`; `OPTIONS_INVALID`; errors of the store */
export async function openTarget({ embedder, metric, scope, ...access }: IngestTargetOptions): Promise<IngestTarget> {
  const { indexName, maxRetries } = access;
  const isUpdate = (await callStore(access, (store, end) => store.listIndexes(end))).includes(indexName);
  const describe = (): Promise<IndexShape> =>
    callStore(access, (store, end) => store.describeIndex({ indexName, ...end }));
  const create = async (shape: IndexShape): Promise<IndexShape> => {
    await callStore(access, (store, end) => store.createIndex({ indexName, ...shape, ...end }));
    return shape;
  };
  let shape: Promise<IndexShape> | undefined;
  const target: IngestTarget = {
    ...access,
    embedder: toEmbedder(embedder, { maxRetries }),
    scope,
    isUpdate,
    metric,
    openIndex: (dimension) => (shape ??= isUpdate ? describe() : create({ dimension, metric })),
  };
  if (isUpdate) {
    const sample = await callStore(target, (store, end) => store.listVectors({ indexName, limit: sampleSize, ...end }));
    await requireScope(target, scope, sample);
    // The first records stand for all: `ingest` stores one embedder's vectors in an index.
    for (const { metadata } of sample.records) checkEmbedder(indexName, metadata['embedder'], target.embedder);
  }
  return target;
}

const sampleSize = 100;

/**
 * Checks that a run has a scope if documents of its index have one, and the same keys as they. An index that does not exist has none.
 *
 * @param sample - first page of the index, which usually answers without a request
 * @throws `INGEST_SCOPE_MISSING`; `INGEST_SCOPE_MISMATCH` for other keys; errors of the store
 */
export async function requireScope(access: StoreAccess, scope: RunScope, sample?: VectorPage): Promise<void> {
  if (scope === 'all') return;
  const keys = toScopeKeys(scope);
  const scoped = sample?.records.filter(isScoped) ?? [];
  if (scoped.length === 0 && sample && sample.nextCursor === undefined) return;
  const found = scoped.length > 0 ? scoped : await findSome(access, { scoped: true });
  const existing = [...new Set(found.map(({ metadata }) => String(metadata['scopeKeys'])))];
  if (existing.length === 0 || (keys !== undefined && existing.includes(keys))) return;
  const { indexName } = access;
  const details = { indexName, keys: existing.map((one) => one.split('.')) };
  const owners = `The documents of the index '${indexName}' have owners, the scope { ${existing.map(toList).join(' } or { ')} }`;
  if (keys === undefined)
    throw new QuiverError(
      'INGEST_SCOPE_MISSING',
      `${owners}, and this call has no scope: it would reach the documents of all of them. Pass the scope of one owner, such as scope: { ${(details.keys[0] ?? []).map((key) => `${key}: …`).join(', ')} }, or scope: 'all' to replace or delete the documents of every owner.`,
      { details },
    );
  if ((await findSome(access, { scopeKeys: keys })).length > 0) return;
  throw new QuiverError(
    'INGEST_SCOPE_MISMATCH',
    `${owners}, but the scope of this call is { ${toList(keys)} }. Use the same keys in all calls, or another index.`,
    { details },
  );
}

function toList(keys: string): string {
  return keys.split('.').join(', ');
}

/** Returns some of the records that match a filter, if there are any. */
async function findSome(access: StoreAccess, filter: VectorFilter): Promise<VectorRecord[]> {
  const position = { indexName: access.indexName, filter, limit: sampleSize };
  try {
    let cursor: string | undefined;
    do {
      const page = await callStore(access, (store, end) => store.listVectors({ ...position, cursor, ...end }));
      if (page.records.length > 0) return page.records;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  } catch (error) {
    if (!isQuiverError(error, 'VECTOR_INDEX_NOT_FOUND')) throw error;
  }
  return [];
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
}

/**
 * Compares chunks with the records of the same ids, and stores the chunks that differ. The ids must be distinct.
 *
 * @throws `INGEST_EMBEDDER_CHANGED`; `INGEST_METADATA_RESERVED`; errors of store and embedder; the abort reason
 */
export async function storeChunks(target: IngestTarget, chunks: readonly ChunkVector[]): Promise<StoredCounts> {
  const stored = await readStored(target, chunks);
  const groups: Record<ChunkState, ChunkVector[]> = { new: [], moved: [], unchanged: [] };
  for (const chunk of chunks) groups[compareChunk(chunk, stored.get(chunk.id), target)].push(chunk);
  await storeNew(target, groups.new);
  await storeMoved(target, groups.moved);
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

/** @throws `VECTOR_DIMENSION_MISMATCH`; `EMBEDDING_INVALID` for a vector of zeros that the metric of the index cannot compare */
function requireFit(
  { indexName, embedder }: IngestTarget,
  { dimension, metric }: IndexShape,
  chunks: readonly ChunkVector[],
  vectors: readonly Float32Array[],
): void {
  const actual = vectors[0]?.length ?? dimension;
  if (actual !== dimension) {
    throw new QuiverError(
      'VECTOR_DIMENSION_MISMATCH',
      `The index '${indexName}' has dimension ${dimension}, but the embedder '${embedder.id}' returned vectors of ${actual} numbers. If a wrong response of the embedder created the index, delete it with store.deleteIndex({ indexName: '${indexName}' }) and run again; otherwise use the embedder of the index, or another indexName.`,
      { details: { indexName, expected: dimension, actual } },
    );
  }
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
