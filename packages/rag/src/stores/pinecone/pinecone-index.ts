import { isQuiverError } from '@quiver/core';
import { evaluateFilter, type Filter } from '../../filter/index.js';
import { type IndexShape, invalidArgument } from '../../store/check-arguments.js';
import { partsOf } from '../../store/store-call.js';
import type { VectorMetric } from '../../store/vector-store.js';
import type { PineconeLikeClient, PineconeLikeIndex, PineconeRecord } from './pinecone-client.js';
import { bytesOf, fromPineconeRecord } from './pinecone-record.js';

const longestIndexName = 45;
const idsPerCall = 100;
/** Ids are part of the URL of the request; servers accept about 8 KB. */
const addressBytes = 6000;
const recordsPerUpsert = 1000;
const bytesPerUpsert = 2_000_000;

/** @throws `VECTOR_ARGUMENT_INVALID` */
export function requirePineconeName(indexName: string): void {
  const allowed = typeof indexName === 'string' && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(indexName);
  if (allowed && indexName.length <= longestIndexName) return;
  throw invalidArgument(
    `'${String(indexName)}' cannot name an index in Pinecone: use 1 to ${longestIndexName} small letters, digits and '-', with a letter or digit at both ends.`,
  );
}

/** @returns `undefined` when there is no such index */
export async function findShape(client: PineconeLikeClient, indexName: string): Promise<LocatedShape | undefined> {
  try {
    const description = (await client.describeIndex(indexName)) as {
      host: string;
      dimension?: number;
      metric?: VectorMetric;
      schema?: { fields?: Record<string, { dimension?: number; metric?: VectorMetric }> };
    };
    const field = description.schema?.fields?.['_values'];
    const dimension = field?.dimension ?? description.dimension;
    const metric = field?.metric ?? description.metric ?? 'cosine';
    if (dimension === undefined) throw invalidArgument(`The index '${indexName}' has no dense vectors.`);
    return { host: description.host, dimension, metric };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** A namespace comes to be with its first record: nothing can be removed from one that is not there, and nothing needs to be. */
export async function removeIfThere(
  remove: () => Promise<unknown>,
  isIndexThere: () => Promise<boolean>,
): Promise<void> {
  try {
    await remove();
  } catch (error) {
    if (!isNotFound(error) || !(await isIndexThere())) throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return (error as { name?: unknown } | null)?.name === 'PineconeNotFoundError';
}

/** In batches by number and by bytes. */
export async function writeRecords(index: PineconeLikeIndex, records: readonly PineconeRecord[]): Promise<void> {
  let batch: PineconeRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    const size = bytesOf(record);
    if (batch.length === recordsPerUpsert || (batch.length > 0 && bytes + size > bytesPerUpsert)) {
      await index.upsert({ records: batch });
      batch = [];
      bytes = 0;
    }
    batch.push(record);
    bytes += size;
  }
  if (batch.length > 0) await index.upsert({ records: batch });
}

export async function deleteRecords(index: PineconeLikeIndex, ids: readonly string[]): Promise<void> {
  for (const part of partsOf(ids, recordsPerUpsert)) await index.deleteMany({ ids: part });
}

/** Those that exist, in the order of the ids. */
export async function readByIds(index: PineconeLikeIndex, ids: readonly string[]): Promise<PineconeRecord[]> {
  const found = new Map<string, PineconeRecord>();
  for (const part of toFetches(ids)) {
    const { records = {} } = await index.fetch({ ids: part });
    for (const [id, record] of Object.entries(records)) found.set(id, record);
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** By number and by the length of the address. */
function* toFetches(ids: readonly string[]): Generator<string[]> {
  let part: string[] = [];
  let bytes = 0;
  for (const id of new Set(ids)) {
    const size = `&ids=${encodeURIComponent(id.replaceAll(/\p{Surrogate}/gu, '?'))}`.length;
    if (part.length === idsPerCall || (part.length > 0 && bytes + size > addressBytes)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(id);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

export interface PineconePage {
  readonly records: PineconeRecord[];
  readonly nextToken: string | undefined;
}

/** Records that pass a filter, of the next `limit` ids. */
export async function readPage(
  index: PineconeLikeIndex,
  { filter, limit, token }: { filter: Filter | undefined; limit: number; token: string | undefined },
): Promise<PineconePage> {
  const page = await index.listPaginated({
    limit: Math.min(idsPerCall, limit),
    ...(token !== undefined && { paginationToken: token }),
  });
  const ids = (page.vectors ?? []).flatMap(({ id }) => id ?? []);
  const records = await readByIds(index, ids);
  return {
    records: filter
      ? records.filter((record) => evaluateFilter(filter, fromPineconeRecord(record, false).metadata))
      : records,
    nextToken: page.pagination?.next || undefined,
  };
}

/** Ids of all records that pass a filter. */
export async function selectIds(index: PineconeLikeIndex, filter: Filter | undefined): Promise<string[]> {
  const ids: string[] = [];
  let token: string | undefined;
  do {
    const { records, nextToken } = await readPage(index, { filter, limit: idsPerCall, token });
    ids.push(...records.map(({ id }) => id));
    token = nextToken;
  } while (token !== undefined);
  return ids;
}

/** Shape of an index, and the host that serves it. */
export interface LocatedShape extends IndexShape {
  readonly host: string;
}

/** Cache of index descriptions, so that a call does not read host and dimension again. */
export interface KnownShapes {
  /**
   * Works with the cached description. Another process may have deleted or recreated the index, so work that fails is repeated when the
   * service returns another description. The work must be repeatable.
   *
   * @param find - asks the service; throws when there is no such index
   */
  use<Result>(
    indexName: string,
    find: () => Promise<LocatedShape>,
    work: (shape: LocatedShape) => Promise<Result>,
  ): Promise<Result>;
  forget(indexName: string): void;
}

/** Maximum age in milliseconds: a recreated index with another metric causes no error that would reveal it. */
const longestAge = 60_000;

/** @param now - a clock that never goes back, in milliseconds */
export function knownShapes(now: () => number): KnownShapes {
  const known = new Map<string, { shape: LocatedShape; at: number }>();
  return {
    async use(indexName, find, work) {
      const ask = async (): Promise<LocatedShape> => {
        const at = now();
        const shape = await find();
        known.set(indexName, { shape, at });
        return shape;
      };
      const remembered = known.get(indexName);
      if (!remembered || now() - remembered.at > longestAge) return work(await ask());
      const { shape } = remembered;
      try {
        return await work(shape);
      } catch (error) {
        if (isQuiverError(error) && error.code !== 'VECTOR_DIMENSION_MISMATCH') throw error;
        known.delete(indexName);
        const current = await ask();
        if (isSame(current, shape)) throw error;
        return work(current);
      }
    },
    forget: (indexName) => void known.delete(indexName),
  };
}

function isSame(a: LocatedShape, b: LocatedShape): boolean {
  return a.host === b.host && a.dimension === b.dimension && a.metric === b.metric;
}
