import { invalidOptions } from '@quiver/core/internal';
import { createFilterTest, type Filter, type FilterTest } from '../../filter/index.js';
import type { SparseVector } from '../../words/lexical-sparse-encoder.js';
import { type IndexShape, type CheckedRecord, lacksDirection } from '../../store/checks.js';
import { defaultPageSize, inOrder } from '../../store/record-store.js';
import { toServiceCondition } from '../../store/conditions.js';
import { partsOf } from '../../requests/parts-of.js';
import type {
  VectorPage,
  ListVectorsParams,
  VectorMetadata,
  VectorMetric,
  VectorRecord,
} from '../../store/vector-store.js';
import type { PineconeLikeClient, PineconeLikeIndex, PineconeRecord } from './pinecone-client.js';

const longestIndexName = 45;
const idsPerCall = 100;
/** Ids are part of the URL of the request; servers accept about 8 KB. */
const addressBytes = 6000;
const recordsPerUpsert = 1000;
const bytesPerUpsert = 2_000_000;

/** @throws `OPTIONS_INVALID` */
export function requirePineconeName(indexName: string): void {
  const allowed = typeof indexName === 'string' && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(indexName);
  if (allowed && indexName.length <= longestIndexName) return;
  throw invalidOptions(
    `'${String(indexName)}' cannot name an index in Pinecone: use 1 to ${longestIndexName} small letters, digits and '-', with a letter or digit at both ends.`,
  );
}

/** Shape of an index, and the host that serves it. */
export interface LocatedShape extends IndexShape {
  readonly host: string;
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
    if (dimension === undefined) throw invalidOptions(`The index '${indexName}' has no dense vectors.`);
    return { host: description.host, dimension, metric };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

export async function listIndexNames(client: PineconeLikeClient): Promise<string[]> {
  return ((await client.listIndexes()).indexes ?? []).map(({ name }) => name).toSorted();
}

export function isNotFound(error: unknown): boolean {
  return (error as { name?: unknown } | null)?.name === 'PineconeNotFoundError';
}

export async function writeRecords(index: PineconeLikeIndex, records: readonly PineconeRecord[]): Promise<void> {
  for (const part of partsOf(records, recordsPerUpsert, { sizeOf: bytesOf, maxSize: bytesPerUpsert }))
    await index.upsert({ records: part });
}

export async function deleteRecords(index: PineconeLikeIndex, ids: readonly string[]): Promise<void> {
  for (const part of partsOf(ids, recordsPerUpsert)) await index.deleteMany({ ids: part });
}

/** Returns the existing records, in any order. */
export async function readRecords(index: PineconeLikeIndex, ids: readonly string[]): Promise<PineconeRecord[]> {
  const found: PineconeRecord[] = [];
  const sizeOf = (id: string): number => `&ids=${encodeURIComponent(id.replaceAll(/\p{Surrogate}/gu, '?'))}`.length;
  for (const part of partsOf(ids, idsPerCall, { sizeOf, maxSize: addressBytes })) {
    const { records = {} } = await index.fetch({ ids: part });
    found.push(...Object.values(records));
  }
  return found;
}

interface PineconePage {
  readonly records: PineconeRecord[];
  readonly nextToken: string | undefined;
}

/** Records that match, of the next `limit` ids. */
async function readPage(
  index: PineconeLikeIndex,
  { matches, limit, token }: { matches: FilterTest; limit: number; token: string | undefined },
): Promise<PineconePage> {
  const page = await index.listPaginated({
    limit: Math.min(idsPerCall, limit),
    ...(token !== undefined && { paginationToken: token }),
  });
  const ids = (page.vectors ?? []).flatMap(({ id }) => id ?? []);
  const records = inOrder(ids, await readRecords(index, ids));
  return {
    records: records.filter((record) => matches(fromPineconeRecord(record, false).metadata)),
    nextToken: page.pagination?.next || undefined,
  };
}

/** Returns a page of records. With a filter it may hold fewer records than its limit, and not be the last. */
export async function scanRecords(
  index: PineconeLikeIndex,
  { cursor, limit: size = defaultPageSize, includeVector = false }: ListVectorsParams,
  filter: Filter | undefined,
): Promise<VectorPage> {
  const matches = createFilterTest(filter);
  const records: VectorRecord[] = [];
  let token = cursor;
  do {
    const page = await readPage(index, { matches, limit: size - records.length, token });
    records.push(...page.records.map((record) => fromPineconeRecord(record, includeVector)));
    token = page.nextToken;
  } while (token !== undefined && records.length < size);
  return { records, ...(token !== undefined && { nextCursor: token }) };
}

/** Returns the ids of all records that match a filter, in any order. */
export async function selectIds(index: PineconeLikeIndex, filter: Filter | undefined): Promise<string[]> {
  const matches = createFilterTest(filter);
  const ids: string[] = [];
  let token: string | undefined;
  do {
    const { records, nextToken } = await readPage(index, { matches, limit: idsPerCall, token });
    ids.push(...records.map(({ id }) => id));
    token = nextToken;
  } while (token !== undefined);
  return ids;
}

/** Key of the metadata as JSON, if they contain values that Pinecone does not support: nested objects, null, and lists of other types than strings. */
const jsonKey = 'quiver_json';
/** `true` next to the JSON: Pinecone cannot filter by all of the metadata. */
const partialKey = 'quiver_partial';
const documentKey = 'quiver_document';

const longestMetadata = 40_960;

/** Keys that mean themselves in Pinecone's filters. */
function isNativeKey(key: string): boolean {
  return key !== '' && !key.startsWith('$') && !key.startsWith('quiver_');
}

/** @throws `OPTIONS_INVALID` for records that Pinecone rejects: vectors of zeros, and metadata above 40 KB, naming its largest keys */
export function toPineconeRecord(record: CheckedRecord, sparseValues?: SparseVector): PineconeRecord {
  const { id, vector, metadata, document } = record;
  if (lacksDirection(vector))
    throw invalidOptions(`The vector of '${id}' holds only zeros, which Pinecone does not store.`);
  const native = Object.entries(metadata).filter(([key, value]) => isNativeKey(key) && isNative(value));
  const stored: VectorMetadata = Object.fromEntries(native);
  if (native.length < Object.keys(metadata).length) {
    stored[partialKey] = true;
    stored[jsonKey] = JSON.stringify(metadata);
  }
  if (document !== undefined) stored[documentKey] = document;
  const size = bytesOf(stored);
  if (size > longestMetadata) {
    const largest = Object.entries({ ...metadata, ...(document !== undefined && { document }) })
      .map(([key, value]) => ({ key, bytes: bytesOf(value) }))
      .toSorted((a, b) => b.bytes - a.bytes)
      .slice(0, 3)
      .map(({ key, bytes }) => `${key} (${bytes} bytes)`);
    throw invalidOptions(
      `The metadata of '${id}', its document included, takes ${size} bytes; Pinecone allows ${longestMetadata}. Largest: ${largest.join(', ')}.`,
    );
  }
  return { id, values: [...vector], metadata: stored, ...(sparseValues && { sparseValues }) };
}

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

function isNative(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => typeof item === 'string');
  return ['string', 'number', 'boolean'].includes(typeof value);
}

export function fromPineconeRecord(
  { id, values, metadata = {} }: PineconeRecord,
  includeVector: boolean,
): VectorRecord {
  const { [jsonKey]: json, [partialKey]: _partial, [documentKey]: document, ...native } = metadata;
  return {
    id,
    metadata: typeof json === 'string' ? (JSON.parse(json) as VectorMetadata) : native,
    ...(typeof document === 'string' && { document }),
    ...(includeVector && values && { vector: Array.from(Float32Array.from(values)) }),
  };
}

/** Returns the part of a filter that Pinecone can apply: a superset matches it. */
export function filterToPinecone(filter: Filter): object | undefined {
  const condition = toServiceCondition(filter, (key, field) => {
    if (!isNativeKey(key)) return undefined;
    if (field.kind === 'order')
      return typeof field.value === 'number' ? { [key]: { [`$${field.order}`]: field.value } } : undefined;
    const values = field.kind === 'equal' ? [field.value] : field.values;
    // Pinecone cannot find a field that is null or missing. Lists of strings match by their elements, as they should.
    return values.length === 0 || values.includes(null) ? undefined : { [key]: { $in: values } };
  });
  return condition && { $or: [{ [partialKey]: { $eq: true } }, condition] };
}
