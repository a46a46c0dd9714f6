import type { Filter } from '../../filter/index.js';
import { toSparseVector } from '../../retrieval/lexical-sparse-encoder.js';
import { queryTerms } from '../../retrieval/terms/record-terms.js';
import { toVector } from '../../store/check-arguments.js';
import { type KeywordSearch, nearestMatching, type VectorSearch } from '../../store/search.js';
import type { VectorMatch, VectorMetric } from '../../store/vector-store.js';
import type { QdrantLikePoint } from './qdrant-client.js';
import { filterToQdrant, type QdrantIndex, requireCurrentShape } from './qdrant-index.js';
import { fromPoint, recordKeys, termsName, toUnitVector, vectorName } from './qdrant-point.js';

/**
 * Returns the best records of a search, best first.
 *
 * @param exact - whether to compare all vectors
 */
export async function findRecords(
  index: QdrantIndex,
  search: VectorSearch | KeywordSearch,
  filter: Filter | undefined,
  exact: boolean,
): Promise<VectorMatch[]> {
  const { client, name, dimension, metric, analyzer, signal } = index;
  const isKeyword = search.mode === 'keyword';
  const query = isKeyword
    ? toSparseVector(await queryTerms(analyzer, search.queryText))
    : toQueryValues(toVector(search.queryVector, dimension, 'The query vector'), metric);
  // In another language, the query may have terms.
  if (!query) return requireCurrentShape(index).then(() => []);
  const { condition, rest } = filterToQdrant(filter);
  return nearestMatching({
    wanted: search.limit,
    filter: rest,
    metric,
    // A score of BM25 has no upper limit.
    ...(isKeyword && { toScore: (relevance: number) => relevance / (1 + relevance) }),
    find: async (limit) => {
      signal?.throwIfAborted();
      const { points } = await client.query(name, {
        query,
        using: isKeyword ? termsName(analyzer) : vectorName,
        limit,
        with_payload: recordKeys,
        with_vector: search.includeVector ? [vectorName] : false,
        ...(condition && { filter: condition }),
        ...(exact && { params: { exact } }),
      });
      if (!isKeyword && !canHaveMetric(metric, points)) await requireCurrentShape(index);
      return points.map((point) => {
        const score = Number(point.score);
        return {
          similarity: !isKeyword && metric === 'euclidean' ? -(score * score) : score,
          record: fromPoint(point),
        };
      });
    },
  });
}

/** Whether points have the order of a metric, and their vectors a length, which is stored with cosine only. A recreated index may have another metric. */
function canHaveMetric(metric: VectorMetric, points: readonly (QdrantLikePoint & { score: number })[]): boolean {
  const direction = metric === 'euclidean' ? 1 : -1;
  return points.every(
    ({ payload, score }, at) =>
      (payload?.['length'] !== undefined) === (metric === 'cosine') &&
      (at === 0 || direction * (Number(score) - Number(points[at - 1]?.score)) >= 0),
  );
}

function toQueryValues(vector: Float32Array, metric: VectorMetric): number[] {
  return metric === 'cosine' ? toUnitVector(vector).values : Array.from(vector);
}
