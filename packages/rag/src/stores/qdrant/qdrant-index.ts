import { createFilterTest, type Filter } from '../../filter/index.js';
import { partsOf } from '../../requests/parts-of.js';
import { recordTerms } from '../../words/record-terms.js';
import { type LanguageParams, requireSameLanguage, toAnalyzerId } from '../../words/term-analyzer.js';
import {
  type IndexShape,
  requireSameShape,
  type CheckedRecord,
  isUnicode,
  requireUnicode,
} from '../../store/checks.js';
import { type ConditionLanguage, type EqualityPart, toEqualityPart } from '../../store/conditions.js';
import { createUnlessExists } from '../../store/store-call.js';
import type { CreateIndexParams, VectorMetric, VectorRecord } from '../../store/vector-store.js';
import { isNotFound, type QdrantLikeClient } from './qdrant-client.js';
import {
  conditionsKey,
  fromPoint,
  recordKeys,
  termsName,
  toAnalyzer,
  toPoint,
  toPointId,
  vectorName,
} from './qdrant-point.js';

/** Dimension, metric and terms of a collection. */
export interface QdrantShape extends IndexShape {
  /** Id of the `TermAnalyzer` of the terms. */
  readonly analyzer: string;
}

/** A collection that this store created, open for one call. */
export interface QdrantIndex extends QdrantShape {
  readonly client: QdrantLikeClient;
  readonly name: string;
  /** Ends the call before its next request. */
  readonly signal: AbortSignal | undefined;
}

const distances: Readonly<Record<VectorMetric, string>> = { cosine: 'Cosine', euclidean: 'Euclid', dotproduct: 'Dot' };

/** Parameters of `createIndex()` of `QdrantVector`. */
export interface QdrantCreateIndexParams extends CreateIndexParams, LanguageParams {}

/** @throws `VECTOR_VALIDATE_INDEX_DIMENSION_MISMATCH`, `VECTOR_INDEX_CONFIG_MISMATCH` for an index that exists with another language */
export async function createIndex(
  client: QdrantLikeClient,
  { indexName: name, language, ...shape }: QdrantCreateIndexParams & IndexShape,
): Promise<void> {
  const analyzer = toAnalyzerId(language);
  const create = (): Promise<unknown> =>
    client.createCollection(name, {
      vectors: { [vectorName]: { size: shape.dimension, distance: distances[shape.metric] } },
      sparse_vectors: { [termsName(analyzer)]: { modifier: 'idf' } },
    });
  const existing = await createUnlessExists(create, () => findShape(client, name));
  if (existing) {
    requireSameShape(name, existing, shape);
    requireSameLanguage(name, existing.analyzer, language);
  }
  // Also for an existing collection: its creation may have been interrupted.
  await client.createPayloadIndex(name, { field_name: conditionsKey, field_schema: 'keyword', wait: true });
}

/** @returns `undefined` if the collection does not exist or was not created by Quiver */
export async function findShape(client: QdrantLikeClient, name: string): Promise<QdrantShape | undefined> {
  try {
    const { vectors, sparse_vectors } = (await client.getCollection(name)).config.params;
    const vector = (vectors as Record<string, { size: number; distance: string } | undefined> | undefined)?.[
      vectorName
    ];
    const [metric] = Object.entries(distances).find(([, distance]) => distance === vector?.distance) ?? [];
    const analyzer = toAnalyzer(Object.keys(sparse_vectors ?? {}));
    if (!vector || !metric || analyzer === undefined) return undefined;
    return { dimension: vector.size, metric: metric as VectorMetric, analyzer };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** @throws an error after which `indexCache` reads the shape again, if another process has deleted or recreated the collection */
export async function requireCurrentShape({ client, name, ...index }: QdrantIndex): Promise<void> {
  const shape = await findShape(client, name);
  if (shape?.dimension === index.dimension && shape.metric === index.metric && shape.analyzer === index.analyzer)
    return;
  throw new Error(`The collection '${name}' was deleted or recreated while it was used. Try again.`);
}

export async function listIndexNames(client: QdrantLikeClient): Promise<string[]> {
  const names = (await client.getCollections()).collections.map(({ name }) => name);
  const shapes = await Promise.all(names.map((name) => findShape(client, name)));
  return names.filter((_name, at) => shapes[at]).toSorted();
}

const pointsPerCall = 500;
/** A server accepts 32 MB; texts are counted as three bytes for each UTF-16 unit. */
const bytesPerCall = 10_000_000;
const bytesPerNumber = 22;

/** @throws `OPTIONS_INVALID` before anything is stored */
export async function writeRecords(index: QdrantIndex, records: readonly CheckedRecord[]): Promise<void> {
  for (const record of records) requireUnicode(record, 'Qdrant');
  const sizeOf = ({ id, vector, metadata, document = '' }: CheckedRecord): number =>
    vector.length * bytesPerNumber + 3 * (id.length + document.length + 2 * JSON.stringify(metadata).length);
  for (const part of partsOf(records, pointsPerCall, { sizeOf, maxSize: bytesPerCall })) {
    const terms = await recordTerms(index.analyzer, part);
    const pointIds = await Promise.all(part.map(({ id }) => toPointId(id)));
    const points = part.map((record, at) => toPoint(pointIds[at] as string, record, terms[at] as string[], index));
    index.signal?.throwIfAborted();
    await index.client.upsert(index.name, { wait: true, points });
  }
}

export async function removeRecords({ client, name, signal }: QdrantIndex, ids: readonly string[]): Promise<void> {
  for (const part of partsOf(ids.filter(isUnicode), pointsPerCall)) {
    const points = await Promise.all(part.map(toPointId));
    signal?.throwIfAborted();
    await client.delete(name, { wait: true, points });
  }
}

/** Returns the existing records, in any order. */
export async function readRecords(
  { client, name, signal }: QdrantIndex,
  ids: readonly string[],
  includeVector: boolean,
): Promise<VectorRecord[]> {
  const records: VectorRecord[] = [];
  for (const part of partsOf(ids.filter(isUnicode), pointsPerCall)) {
    const pointIds = await Promise.all(part.map(toPointId));
    signal?.throwIfAborted();
    const points = await client.retrieve(name, {
      ids: pointIds,
      with_payload: recordKeys,
      with_vector: includeVector ? [vectorName] : false,
    });
    records.push(...points.map(fromPoint));
  }
  return records;
}

const idsPerPage = 1000;

/** Returns the ids of all records that match a filter, in any order. */
export async function selectIds({ client, name, signal }: QdrantIndex, filter: Filter | undefined): Promise<string[]> {
  const { condition, rest } = filterToQdrant(filter);
  const matches = createFilterTest(rest);
  const ids: string[] = [];
  let offset: unknown;
  do {
    signal?.throwIfAborted();
    const { points, next_page_offset } = await client.scroll(name, {
      limit: idsPerPage,
      with_payload: rest ? ['id', 'metadata'] : ['id'],
      with_vector: false,
      ...(condition && { filter: condition }),
      ...(offset !== undefined && { offset }),
    });
    for (const { payload } of points) {
      const { id, metadata } = payload as { id: string; metadata: string };
      if (!rest || matches(JSON.parse(metadata))) ids.push(id);
    }
    offset = next_page_offset ?? undefined;
  } while (offset !== undefined);
  return ids;
}

/** A filter of Qdrant. */
type QdrantFilter = Readonly<Record<string, readonly object[]>>;

const language: ConditionLanguage<QdrantFilter> = {
  // No record has the condition ''.
  any: (texts) => ({ must: [{ key: conditionsKey, match: { any: texts.length === 0 ? [''] : texts } }] }),
  and: (parts) => ({ must: parts }),
  or: (parts) => ({ should: parts }),
};

export function filterToQdrant(filter: Filter | undefined): EqualityPart<QdrantFilter> {
  return toEqualityPart(filter, language);
}
