import { createFilterTest, type Filter } from '../../filter/index.js';
import { partsOf } from '../../requests/parts-of.js';
import { type CheckedRecord, type IndexShape, isUnicode, requireUnicode } from '../../store/checks.js';
import { type ConditionLanguage, toEqualityPart } from '../../store/conditions.js';
import { nearestMatching } from '../../store/paging.js';
import { type NearestSearch, type OpenIndex, type TermSearch, unboundedToScore } from '../../store/record-store.js';
import { RemoteIndex, type WantedIndex } from '../remote-store.js';
import { findIfPresent } from '../store-call.js';
import type { FoundRecord } from '../../store/search.js';
import type { CreateIndexParams, QueryParams, VectorMetric, VectorRecord } from '../../store/vector-store.js';
import { toSparseVector } from '../../words/lexical-sparse-encoder.js';
import { queryTerms, recordTerms } from '../../words/record-terms.js';
import type { LanguageParams } from '../../words/term-analyzer.js';
import { isNotFound, type QdrantLikeClient, type QdrantLikePoint } from './qdrant-client.js';
import {
  conditionsKey,
  fromPoint,
  recordKeys,
  termsName,
  toAnalyzer,
  toPoint,
  toPointId,
  toUnitVector,
  vectorName,
} from './qdrant-point.js';

/** Dimension, metric and terms of a collection. */
export interface QdrantShape extends IndexShape {
  /** Id of the `TermAnalyzer` of the terms. */
  readonly analyzer: string;
}

const distances: Readonly<Record<VectorMetric, string>> = { cosine: 'Cosine', euclidean: 'Euclid', dotproduct: 'Dot' };

/** Parameters of `createIndex()` of `QdrantVector`. */
export interface QdrantCreateIndexParams extends CreateIndexParams, LanguageParams {}

/** Block `qdrant` of a query tool's `databaseConfig`. */
export interface QdrantConfig {
  /** Whether to compare all vectors, which is slower and exact. Default `false`: through Qdrant's approximate index. */
  exact?: boolean;
}

/** Parameters of `query()` of `QdrantVector`. */
export interface QdrantQueryParams extends QueryParams, QdrantConfig {}

export function createCollection(
  client: QdrantLikeClient,
  { name, dimension, metric, analyzer }: WantedIndex,
): Promise<unknown> {
  return client.createCollection(name, {
    vectors: { [vectorName]: { size: dimension, distance: distances[metric] } },
    sparse_vectors: { [termsName(analyzer)]: { modifier: 'idf' } },
  });
}

/** @returns `undefined` if the collection does not exist or was not created by Quiver */
export async function findShape(client: QdrantLikeClient, name: string): Promise<QdrantShape | undefined> {
  const collection = await findIfPresent(() => client.getCollection(name), isNotFound);
  const { vectors, sparse_vectors } = collection?.config.params ?? {};
  const vector = (vectors as Record<string, { size: number; distance: string } | undefined> | undefined)?.[vectorName];
  const [metric] = Object.entries(distances).find(([, distance]) => distance === vector?.distance) ?? [];
  const analyzer = toAnalyzer(Object.keys(sparse_vectors ?? {}));
  if (!vector || !metric || analyzer === undefined) return undefined;
  return { dimension: vector.size, metric: metric as VectorMetric, analyzer };
}

export async function listIndexNames(client: QdrantLikeClient): Promise<string[]> {
  const names = (await client.getCollections()).collections.map(({ name }) => name);
  const shapes = await Promise.all(names.map((name) => findShape(client, name)));
  return names.filter((_name, at) => shapes[at]).toSorted();
}

const pointsPerCall = 500;
const idsPerPage = 1000;
/** A server accepts 32 MB; texts are counted as three bytes for each UTF-16 unit. */
const bytesPerCall = 10_000_000;
const bytesPerNumber = 22;

function sizeOf({ id, vector, metadata, document = '' }: CheckedRecord): number {
  return vector.length * bytesPerNumber + 3 * (id.length + document.length + 2 * JSON.stringify(metadata).length);
}

/** A filter of Qdrant. */
type QdrantFilter = Readonly<Record<string, readonly object[]>>;

const language: ConditionLanguage<QdrantFilter> = {
  // No record has the condition ''.
  any: (texts) => ({ must: [{ key: conditionsKey, match: { any: texts.length === 0 ? [''] : texts } }] }),
  and: (parts) => ({ must: parts }),
  or: (parts) => ({ should: parts }),
};

type ScoredPoint = QdrantLikePoint & { score: number };

interface PointQuery {
  readonly query: unknown;
  /** Name of the vectors. */
  readonly using: string;
  readonly check?: (points: readonly ScoredPoint[]) => Promise<void>;
  readonly toSimilarity?: (score: number) => number;
}

/** A collection, open for one call. */
export class QdrantIndex extends RemoteIndex<QdrantLikeClient, QdrantShape> implements OpenIndex<QdrantQueryParams> {
  readonly toKeywordScore: typeof unboundedToScore = unboundedToScore;

  /** Adds what Qdrant does not create together with a collection; the creation of an existing one may have been interrupted. */
  async complete(): Promise<void> {
    await this.client.createPayloadIndex(this.name, { field_name: conditionsKey, field_schema: 'keyword', wait: true });
  }

  async count(): Promise<number> {
    return (await this.client.count(this.name, { exact: true })).count;
  }

  async *#idParts(ids: readonly string[]): AsyncGenerator<string[]> {
    for (const part of partsOf(ids.filter(isUnicode), pointsPerCall)) {
      const pointIds = await Promise.all(part.map(toPointId));
      this.signal?.throwIfAborted();
      yield pointIds;
    }
  }

  async read(ids: readonly string[], includeVector: boolean): Promise<VectorRecord[]> {
    const records: VectorRecord[] = [];
    for await (const part of this.#idParts(ids)) {
      const points = await this.client.retrieve(this.name, { ids: part, ...columns(includeVector) });
      records.push(...points.map(fromPoint));
    }
    return records;
  }

  async select(filter: Filter | undefined): Promise<string[]> {
    const { condition, rest } = toEqualityPart(filter, language);
    const matches = createFilterTest(rest);
    const ids: string[] = [];
    let offset: unknown;
    do {
      this.signal?.throwIfAborted();
      const { points, next_page_offset } = await this.client.scroll(this.name, {
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

  nearest(search: NearestSearch, { exact }: QdrantQueryParams): Promise<FoundRecord[]> {
    const { metric } = this;
    return this.#find(search, exact, {
      query: metric === 'cosine' ? toUnitVector(search.vector).values : Array.from(search.vector),
      using: vectorName,
      check: async (points) => {
        if (!canHaveMetric(metric, points)) await this.#requireCurrentShape();
      },
      toSimilarity: (score) => (metric === 'euclidean' ? -(score * score) : score),
    });
  }

  async byTerms(search: TermSearch, { exact }: QdrantQueryParams): Promise<FoundRecord[]> {
    const query = toSparseVector(await queryTerms(this.index.analyzer, search.queryText));
    // In another language, the query may have terms.
    if (!query) return this.#requireCurrentShape().then(() => []);
    return this.#find(search, exact, { query, using: termsName(this.index.analyzer) });
  }

  #find(
    { limit: wanted, includeVector, filter }: Pick<NearestSearch, 'limit' | 'includeVector' | 'filter'>,
    exact: boolean | undefined,
    { query, using, check, toSimilarity = (score) => score }: PointQuery,
  ): Promise<FoundRecord[]> {
    const { condition, rest } = toEqualityPart(filter, language);
    const find = async (limit: number): Promise<FoundRecord[]> => {
      this.signal?.throwIfAborted();
      const { points } = await this.client.query(this.name, {
        query,
        using,
        limit,
        ...columns(includeVector),
        ...(condition && { filter: condition }),
        ...(exact && { params: { exact } }),
      });
      await check?.(points);
      return points.map((point) => ({ similarity: toSimilarity(Number(point.score)), record: fromPoint(point) }));
    };
    return nearestMatching({ wanted, filter: rest, find });
  }

  /** @throws an error after which `IndexCache` reads the shape again, if another process has deleted or recreated the collection */
  async #requireCurrentShape(): Promise<void> {
    const { dimension, metric, analyzer } = this.index;
    const found = await findShape(this.client, this.name);
    if (found?.dimension === dimension && found.metric === metric && found.analyzer === analyzer) return;
    throw new Error(`The collection '${this.name}' was deleted or recreated while it was used. Try again.`);
  }

  /** @throws `OPTIONS_INVALID` before anything is stored */
  async write(records: readonly CheckedRecord[]): Promise<void> {
    for (const record of records) requireUnicode(record, 'Qdrant');
    for (const part of partsOf(records, pointsPerCall, { sizeOf, maxSize: bytesPerCall })) {
      const terms = await recordTerms(this.index.analyzer, part);
      const ids = await Promise.all(part.map(({ id }) => toPointId(id)));
      const points = part.map((record, at) => toPoint(ids[at] as string, record, terms[at] as string[], this.index));
      this.signal?.throwIfAborted();
      await this.client.upsert(this.name, { wait: true, points });
    }
  }

  async remove(ids: readonly string[]): Promise<void> {
    for await (const points of this.#idParts(ids)) await this.client.delete(this.name, { wait: true, points });
  }

  clear(): Promise<unknown> {
    // An empty filter matches all.
    return this.client.delete(this.name, { wait: true, filter: {} });
  }

  drop(): Promise<unknown> {
    return this.client.deleteCollection(this.name);
  }
}

function columns(includeVector: boolean): { with_payload: string[]; with_vector: string[] | false } {
  return { with_payload: recordKeys, with_vector: includeVector ? [vectorName] : false };
}

/** Whether points have the order of a metric, and their vectors a length, which is stored with cosine only. A recreated index may have another metric. */
function canHaveMetric(metric: VectorMetric, points: readonly ScoredPoint[]): boolean {
  const direction = metric === 'euclidean' ? 1 : -1;
  return points.every(
    ({ payload, score }, at) =>
      (payload?.['length'] !== undefined) === (metric === 'cosine') &&
      (at === 0 || direction * (Number(score) - Number(points[at - 1]?.score)) >= 0),
  );
}
