import { toSparseVector } from '../../words/lexical-sparse-encoder.js';
import { queryTerms } from '../../words/record-terms.js';
import type { NearestSearch, TermSearch } from '../../store/record-store.js';
import { nearestMatching } from '../../store/paging.js';
import type { FoundRecord } from '../../store/search.js';
import type { VectorMetric } from '../../store/vector-store.js';
import type { QdrantLikePoint } from './qdrant-client.js';
import { filterToQdrant, type QdrantIndex, requireCurrentShape } from './qdrant-index.js';
import { fromPoint, recordKeys, termsName, toUnitVector, vectorName } from './qdrant-point.js';

/** @param exact - whether to compare all vectors */
export async function findNearest(index: QdrantIndex, search: NearestSearch, exact: boolean): Promise<FoundRecord[]> {
  const { metric } = index;
  return findPoints(index, search, {
    query: metric === 'cosine' ? toUnitVector(search.vector).values : Array.from(search.vector),
    using: vectorName,
    exact,
    check: async (points) => {
      if (!canHaveMetric(metric, points)) await requireCurrentShape(index);
    },
    toSimilarity: (score) => (metric === 'euclidean' ? -(score * score) : score),
  });
}

export async function findByTerms(index: QdrantIndex, search: TermSearch, exact: boolean): Promise<FoundRecord[]> {
  const query = toSparseVector(await queryTerms(index.analyzer, search.queryText));
  // In another language, the query may have terms.
  if (!query) return requireCurrentShape(index).then(() => []);
  return findPoints(index, search, { query, using: termsName(index.analyzer), exact });
}

interface PointQuery {
  readonly query: unknown;
  /** Name of the vectors. */
  readonly using: string;
  readonly exact: boolean;
  readonly check?: (points: readonly ScoredPoint[]) => Promise<void>;
  readonly toSimilarity?: (score: number) => number;
}

type ScoredPoint = QdrantLikePoint & { score: number };

async function findPoints(
  { client, name, signal }: QdrantIndex,
  { limit: wanted, includeVector, filter }: Pick<NearestSearch, 'limit' | 'includeVector' | 'filter'>,
  { query, using, exact, check, toSimilarity = (score) => score }: PointQuery,
): Promise<FoundRecord[]> {
  const { condition, rest } = filterToQdrant(filter);
  return nearestMatching({
    wanted,
    filter: rest,
    find: async (limit) => {
      signal?.throwIfAborted();
      const { points } = await client.query(name, {
        query,
        using,
        limit,
        with_payload: recordKeys,
        with_vector: includeVector ? [vectorName] : false,
        ...(condition && { filter: condition }),
        ...(exact && { params: { exact } }),
      });
      await check?.(points);
      return points.map((point) => ({ similarity: toSimilarity(Number(point.score)), record: fromPoint(point) }));
    },
  });
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
