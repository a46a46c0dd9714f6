import { evaluateFilter, type Filter } from '../../filter/index.js';
import {
  type CheckedRecord,
  type IndexShape,
  invalidArgument,
  requireIndexName,
  requireTopK,
  toFilter,
} from '../../store/check-arguments.js';
import { partsOf } from '../../store/store-call.js';
import type { ScanPage, ScanParams, VectorMetric, VectorRecord } from '../../store/vector-store.js';
import type { ChromaCollection, ChromaLikeClient } from './chroma-client.js';
import { filterToWhere, fromChromaMetadata, fromChromaRecord, toChromaRecord } from './chroma-record.js';

/** Limit of Chroma Cloud. */
export const recordsPerRead = 300;
const longestIndexName = 100;

/** Chroma wants three characters, and a letter or digit at the end. @throws `VECTOR_ARGUMENT_INVALID` */
export function requireChromaName(indexName: string): void {
  requireIndexName(indexName, longestIndexName);
  if (indexName.length >= 3 && /[a-z0-9]$/i.test(indexName)) return;
  throw invalidArgument(
    `'${indexName}' cannot name an index in Chroma: at least 3 characters, with a letter or digit last.`,
  );
}

export interface OpenCollection extends IndexShape {
  readonly collection: ChromaCollection;
}

/** A collection that this store made, as the server knows it now. */
export async function findCollection(client: ChromaLikeClient, indexName: string): Promise<OpenCollection | undefined> {
  let collection: ChromaCollection;
  try {
    collection = (await client.getCollection({ name: indexName, embeddingFunction: null })) as ChromaCollection;
  } catch (error) {
    if ((error as { name?: unknown } | null)?.name === 'ChromaNotFoundError') return undefined;
    throw error;
  }
  const shape = readShape(collection.metadata);
  return shape && { collection, ...shape };
}

/** Metadata that identifies a collection of Quiver. */
export function writeShape({ dimension, metric }: IndexShape): Record<string, unknown> {
  return { quiver_dimension: dimension, quiver_metric: metric };
}

export function readShape(metadata: unknown): IndexShape | undefined {
  const { quiver_dimension: dimension, quiver_metric: metric } = (metadata ?? {}) as Record<string, unknown>;
  return typeof dimension === 'number' && typeof metric === 'string'
    ? { dimension, metric: metric as VectorMetric }
    : undefined;
}

/** In batches as large as the server allows. */
export async function writeRecords(
  client: ChromaLikeClient,
  collection: ChromaCollection,
  records: readonly CheckedRecord[],
): Promise<void> {
  if (records.length === 0) return;
  for (const part of partsOf(records, await client.getMaxBatchSize())) {
    const rows = part.map(toChromaRecord);
    await collection.upsert({
      ids: rows.map(({ id }) => id),
      embeddings: rows.map(({ embedding }) => embedding),
      metadatas: rows.map(({ metadata }) => metadata),
      documents: rows.map(({ document }) => document),
    });
  }
}

export async function deleteRecords(collection: ChromaCollection, ids: readonly string[]): Promise<void> {
  for (const part of partsOf(ids, recordsPerRead)) await collection.delete({ ids: part });
}

/** Those that exist, in the order of the ids. */
export async function readByIds(
  collection: ChromaCollection,
  ids: readonly string[],
  includeVector: boolean,
): Promise<VectorRecord[]> {
  const records = new Map<string, VectorRecord>();
  for (const part of partsOf([...new Set(ids)], recordsPerRead)) {
    const rows = await collection.get({
      ids: part,
      include: ['metadatas', 'documents', ...(includeVector ? (['embeddings'] as const) : [])],
    });
    rows.ids.forEach((id, row) =>
      records.set(id, fromChromaRecord(id, rows.metadatas[row], rows.documents[row], rows.embeddings?.[row])),
    );
  }
  return ids.flatMap((id) => records.get(id) ?? []);
}

/** Ids of all records that pass a filter, in order. */
export async function selectIds(collection: ChromaCollection, filter: Filter | undefined): Promise<string[]> {
  const where = filter && filterToWhere(filter);
  const ids: string[] = [];
  for (let offset = 0; ; offset += recordsPerRead) {
    const page = await collection.get({
      limit: recordsPerRead,
      offset,
      include: filter ? ['metadatas'] : [],
      ...(where && { where }),
    });
    page.ids.forEach((id, row) => {
      if (!filter || evaluateFilter(filter, fromChromaMetadata(page.metadatas[row] ?? null))) ids.push(id);
    });
    if (page.ids.length < recordsPerRead) return ids.toSorted((a, b) => (a < b ? -1 : 1));
  }
}

/**
 * A page of records, ordered by id. Chroma does not order records, so all ids are read; the remaining ones are cached for the next
 * page, without which reading everything would take the square of its size.
 */
export async function scanCollection(
  collection: ChromaCollection,
  { indexName, cursor, limit = 1000, filter, includeVector = false }: ScanParams,
  listings: IdListings,
): Promise<ScanPage> {
  const size = requireTopK(limit);
  const parsed = toFilter(filter);
  const keyOf = (after: string): string => JSON.stringify([indexName, parsed ?? null, after]);
  const list = async (): Promise<{ ids: string[]; next: number; at: number }> => {
    const at = listings.now();
    const ids = await selectIds(collection, parsed);
    const next = cursor === undefined ? 0 : ids.findIndex((id) => id > cursor);
    return { ids, next: next === -1 ? ids.length : next, at };
  };
  const { ids, next, at } = (cursor !== undefined && listings.take(keyOf(cursor))) || (await list());
  const end = next + size;
  const read = await readByIds(collection, ids.slice(next, end), includeVector);
  // They may have changed since their ids were listed.
  const records = parsed ? read.filter(({ metadata }) => evaluateFilter(parsed, metadata)) : read;
  const last = ids[end - 1];
  if (last === undefined || ids.length <= end) return { records };
  listings.keep(keyOf(last), { ids, next: end, at });
  return { records, nextCursor: last };
}

/** Ids of a scan, in order. */
export interface IdListing {
  readonly ids: readonly string[];
  /** Position of the next page. */
  readonly next: number;
  /** Time of the listing in milliseconds. */
  readonly at: number;
}

/** For listings between two pages of a scan. */
export interface IdListings {
  /** Gives a listing once; none that is older than a minute. */
  take(key: string): IdListing | undefined;
  keep(key: string, listing: IdListing): void;
  forgetAll(): void;
  now(): number;
}

const longestAge = 60_000;
/** Scans at once; of more, the oldest ask again. */
const mostListings = 8;

/** @param now - a clock that never goes back, in milliseconds */
export function idListings(now: () => number): IdListings {
  const kept = new Map<string, IdListing>();
  return {
    now,
    take(key) {
      const listing = kept.get(key);
      kept.delete(key);
      return listing && now() - listing.at <= longestAge ? listing : undefined;
    },
    keep(key, listing) {
      const oldest = kept.size < mostListings ? undefined : kept.keys().next().value;
      if (oldest !== undefined) kept.delete(oldest);
      kept.set(key, listing);
    },
    forgetAll: () => kept.clear(),
  };
}
