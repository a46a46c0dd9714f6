import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { createFilterTest, type Filter, type FilterTest } from '../../filter/index.js';
import { partsOf } from '../../requests/parts-of.js';
import { type CheckedRecord, checkUpsert, type IndexShape, lacksDirection } from '../../store/checks.js';
import { combine, type FieldCondition, type ServiceCondition, toServiceCondition } from '../../store/conditions.js';
import { nearestMatching } from '../../store/paging.js';
import {
  defaultPageSize,
  inOrder,
  type NearestSearch,
  type OpenIndex,
  type TermSearch,
} from '../../store/record-store.js';
import { keywordText } from '../../store/record-text.js';
import { RemoteIndex } from '../remote-store.js';
import { findIfPresent } from '../store-call.js';
import type { FoundRecord } from '../../store/search.js';
import type {
  IndexParams,
  QueryParams,
  UpsertParams,
  VectorPage,
  ListVectorsParams,
  VectorMetadata,
  VectorMetric,
  VectorRecord,
} from '../../store/vector-store.js';
import type { SparseEncoder, SparseVector } from '../../words/lexical-sparse-encoder.js';
import type { PineconeLikeClient, PineconeLikeIndex, PineconeRecord } from './pinecone-client.js';

const longestIndexName = 45;
const idsPerCall = 100;
/** Ids are part of the URL of the request; servers accept about 8 KB. */
const addressBytes = 6000;
const recordsPerUpsert = 1000;
const bytesPerUpsert = 2_000_000;
const largestResult = 10_000;
const defaultNamespace = '__default__';

export interface InNamespace {
  /** Instead of the store's. */
  namespace?: string;
}

/** Block `pinecone` of a query tool's `databaseConfig`. */
export interface PineconeConfig extends InNamespace {
  /** Weights of words, for an index that stores them next to the vectors. */
  sparseVector?: SparseVector;
}

/** Parameters of `query()` of `PineconeVector`. */
export type PineconeQueryParams = QueryParams & PineconeConfig;
/** Parameters of `upsert()` of `PineconeVector`. */
export type PineconeUpsertParams = UpsertParams &
  InNamespace & {
    /** One sparse vector per record, for hybrid search. */
    sparseVectors?: readonly SparseVector[];
  };

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
  interface Description {
    host: string;
    dimension?: number;
    metric?: VectorMetric;
    schema?: { fields?: Record<string, { dimension?: number; metric?: VectorMetric }> };
  }
  const description: Description | undefined = await findIfPresent(() => client.describeIndex(indexName), isNotFound);
  if (!description) return undefined;
  const field = description.schema?.fields?.['_values'];
  const dimension = field?.dimension ?? description.dimension;
  const metric = field?.metric ?? description.metric ?? 'cosine';
  if (dimension === undefined) throw invalidOptions(`The index '${indexName}' has no dense vectors.`);
  return { host: description.host, dimension, metric };
}

export async function listIndexNames(client: PineconeLikeClient): Promise<string[]> {
  return ((await client.listIndexes()).indexes ?? []).map(({ name }) => name).toSorted();
}

function isNotFound(error: unknown): boolean {
  return (error as { name?: unknown } | null)?.name === 'PineconeNotFoundError';
}

interface PineconePage {
  readonly records: PineconeRecord[];
  readonly nextToken: string | undefined;
}

/** A namespace of an index, open for one call. */
export class PineconeIndex
  extends RemoteIndex<PineconeLikeClient, LocatedShape>
  implements OpenIndex<PineconeQueryParams>
{
  readonly #namespace: string;
  readonly #encoder: SparseEncoder | undefined;
  readonly #index: PineconeLikeIndex;
  /** Records that this call has read. */
  readonly #read = new Map<string, PineconeRecord>();

  constructor(
    client: PineconeLikeClient,
    index: LocatedShape,
    { namespace = '', ...params }: IndexParams & InNamespace,
    sparseEncoder: SparseEncoder | undefined,
  ) {
    super(client, index, params);
    this.#namespace = namespace === '' ? defaultNamespace : namespace;
    this.#encoder = sparseEncoder;
    this.#index = client.index({ host: index.host, namespace: this.#namespace }) as PineconeLikeIndex;
  }

  async count(): Promise<number> {
    const { namespaces = {} } = await this.#index.describeIndexStats();
    const ofDefault = this.#namespace === defaultNamespace ? namespaces[''] : undefined;
    return (namespaces[this.#namespace] ?? ofDefault)?.recordCount ?? 0;
  }

  async read(ids: readonly string[], includeVector: boolean): Promise<VectorRecord[]> {
    const records = await this.#fetch(ids);
    for (const record of records) this.#read.set(record.id, record);
    return records.map((record) => fromPineconeRecord(record, includeVector));
  }

  async #fetch(ids: readonly string[]): Promise<PineconeRecord[]> {
    const found: PineconeRecord[] = [];
    const sizeOf = (id: string): number => `&ids=${encodeURIComponent(id.replaceAll(/\p{Surrogate}/gu, '?'))}`.length;
    for (const part of partsOf(ids, idsPerCall, { sizeOf, maxSize: addressBytes })) {
      const { records = {} } = await this.#index.fetch({ ids: part });
      found.push(...Object.values(records));
    }
    return found;
  }

  /** Records that match, of the next `limit` ids. */
  async #readPage(matches: FilterTest, limit: number, token: string | undefined): Promise<PineconePage> {
    const page = await this.#index.listPaginated({
      limit: Math.min(idsPerCall, limit),
      ...(token !== undefined && { paginationToken: token }),
    });
    const ids = (page.vectors ?? []).flatMap(({ id }) => id ?? []);
    const records = inOrder(ids, await this.#fetch(ids));
    return {
      records: records.filter((record) => matches(fromPineconeRecord(record, false).metadata)),
      nextToken: page.pagination?.next || undefined,
    };
  }

  /** With a filter, a page may hold fewer records than its limit, and not be the last. */
  async listVectors(
    { cursor, limit: size = defaultPageSize, includeVector = false }: ListVectorsParams,
    filter: Filter | undefined,
  ): Promise<VectorPage> {
    const matches = createFilterTest(filter);
    const records: VectorRecord[] = [];
    let token = cursor;
    do {
      const page = await this.#readPage(matches, size - records.length, token);
      records.push(...page.records.map((record) => fromPineconeRecord(record, includeVector)));
      token = page.nextToken;
    } while (token !== undefined && records.length < size);
    return { records, ...(token !== undefined && { nextCursor: token }) };
  }

  async select(filter: Filter | undefined): Promise<string[]> {
    const matches = createFilterTest(filter);
    const ids: string[] = [];
    let token: string | undefined;
    do {
      const { records, nextToken } = await this.#readPage(matches, idsPerCall, token);
      ids.push(...records.map(({ id }) => id));
      token = nextToken;
    } while (token !== undefined);
    return ids;
  }

  nearest(search: NearestSearch, { sparseVector }: PineconeQueryParams): Promise<FoundRecord[]> {
    return this.#find(search, search.vector, sparseVector);
  }

  /** Returns records that share a term with the query. The similarity is the share of the largest one that any text can reach. */
  async byTerms(search: TermSearch): Promise<FoundRecord[]> {
    requireSparseMetric(this.name, this.metric);
    const weights = this.#encoder?.encodeQuery(search.queryText);
    if (!weights) return [];
    const largest = weights.values.reduce((sum, value) => sum + value, 0);
    // With a vector of zeros, only the sparse vectors decide.
    const zeros = new Float32Array(this.dimension);
    const found = await this.#find(search, zeros, weights, (similarity) => similarity > 0);
    return found.map(({ similarity, record }) => ({ similarity: similarity / largest, record }));
  }

  /**
   * @param sparseVector - weights of terms, whose product adds to the score
   * @throws `OPTIONS_INVALID` for more records than Pinecone returns; `FILTER_NOT_SUPPORTED` when a filter leaves too few of those
   */
  async #find(
    { limit: wanted, includeVector, filter }: Pick<NearestSearch, 'limit' | 'includeVector' | 'filter'>,
    vector: Float32Array,
    sparseVector: SparseVector | undefined,
    isFound: (similarity: number) => boolean = () => true,
  ): Promise<FoundRecord[]> {
    if (wanted > largestResult)
      throw invalidOptions(`Pinecone returns at most ${largestResult} records, not ${wanted}.`);
    const native = filter && filterToPinecone(filter);
    const find = async (topK: number): Promise<FoundRecord[]> => {
      const { matches = [] } = await this.#index.query({
        vector: [...vector],
        topK,
        includeMetadata: true,
        includeValues: includeVector,
        ...(sparseVector && { sparseVector }),
        ...(native && { filter: native }),
      });
      const found = matches.map((match) => ({
        // The euclidean score is the squared distance.
        similarity: (this.metric === 'euclidean' ? -1 : 1) * (match.score ?? 0),
        record: fromPineconeRecord(match, includeVector),
      }));
      return found.filter(({ similarity }) => isFound(similarity));
    };
    const tooNarrow = (found: number): QuiverError =>
      new QuiverError(
        'FILTER_NOT_SUPPORTED',
        `Only ${found} of the ${largestResult} nearest records match the filter, and the query requires ${wanted}. Pinecone returns at most ${largestResult}. Add a condition that Pinecone can apply: equality, $in, or a comparison of numbers, on a field that is not nested.`,
      );
    return nearestMatching({ wanted, filter, largest: largestResult, tooNarrow, find });
  }

  async upsert(params: PineconeUpsertParams): Promise<string[]> {
    const { sparseVectors } = params;
    const { ids, records } = checkUpsert(params, this);
    if (sparseVectors && sparseVectors.length !== ids.length)
      throw invalidOptions('upsert needs one sparse vector for each vector.');
    if (this.#encoder) requireSparseMetric(this.name, this.metric);
    const sparse = new Map(ids.map((id, position) => [id, sparseVectors?.[position]]));
    // All are checked before the first is sent.
    await this.#send(records.map((record) => toPineconeRecord(record, sparse.get(record.id) ?? this.#encode(record))));
    return ids;
  }

  /** Updated records keep their sparse vectors until their texts change. */
  write(records: readonly CheckedRecord[]): Promise<void> {
    const updated = records.map((record) => {
      const before = this.#read.get(record.id);
      const hasSameText = before && keywordText(fromPineconeRecord(before, false)) === keywordText(record);
      const kept = before?.sparseValues?.indices?.length ? before.sparseValues : undefined;
      return toPineconeRecord(record, hasSameText || !this.#encoder ? kept : this.#encode(record));
    });
    return this.#send(updated);
  }

  #encode(record: Pick<VectorRecord, 'document' | 'metadata'>): SparseVector | undefined {
    return this.#encoder?.encodeDocument(keywordText(record));
  }

  async #send(records: readonly PineconeRecord[]): Promise<void> {
    for (const part of partsOf(records, recordsPerUpsert, { sizeOf: bytesOf, maxSize: bytesPerUpsert }))
      await this.#index.upsert({ records: part });
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const part of partsOf(ids, recordsPerUpsert)) await this.#ignoreMissing(this.#index.deleteMany({ ids: part }));
  }

  clear(): Promise<void> {
    return this.#ignoreMissing(this.#index.deleteAll());
  }

  /** A namespace exists from its first record on; before that, Pinecone rejects a deletion. */
  async #ignoreMissing(removal: Promise<unknown>): Promise<void> {
    await removal.catch(async (error: unknown) => {
      const { host } = this.index;
      if (!isNotFound(error) || (await findShape(this.client, this.name))?.host !== host) throw error;
    });
  }

  drop(): Promise<unknown> {
    return this.client.deleteIndex(this.name);
  }
}

/** @throws `OPTIONS_INVALID` */
export function requireSparseMetric(indexName: string, metric: VectorMetric): void {
  if (metric === 'dotproduct') return;
  throw invalidOptions(
    `Pinecone keeps the weights of words only in indexes with the metric 'dotproduct', and '${indexName}' has '${metric}'. Create it with that metric, or use a store without sparseEncoder for it.`,
  );
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
function toPineconeRecord(record: CheckedRecord, sparseValues?: SparseVector): PineconeRecord {
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

function fromPineconeRecord({ id, values, metadata = {} }: PineconeRecord, includeVector: boolean): VectorRecord {
  const { [jsonKey]: json, [partialKey]: _partial, [documentKey]: document, ...native } = metadata;
  return {
    id,
    metadata: typeof json === 'string' ? (JSON.parse(json) as VectorMetadata) : native,
    ...(typeof document === 'string' && { document }),
    ...(includeVector && values && { vector: Array.from(Float32Array.from(values)) }),
  };
}

/** Returns the part of a filter that Pinecone can apply: a superset matches it. */
function filterToPinecone(filter: Filter): object | undefined {
  const toCondition = (key: string, field: FieldCondition): ServiceCondition | undefined => {
    if (!isNativeKey(key)) return undefined;
    if (field.kind === 'order')
      return typeof field.value === 'number' ? { [key]: { [`$${field.order}`]: field.value } } : undefined;
    const values = field.kind === 'equal' ? [field.value] : field.values;
    // Pinecone cannot find a field that is null or missing. Lists of strings match by their elements, as they should.
    return values.length === 0 || values.includes(null) ? undefined : { [key]: { $in: values } };
  };
  const condition = toServiceCondition(filter, toCondition, combine);
  return condition && { $or: [{ [partialKey]: { $eq: true } }, condition] };
}
