import type { Filter } from '../../filter/index.js';
import { countTerms } from '../../retrieval/lexical-sparse-encoder.js';
import { queryTerms } from '../../retrieval/terms/record-terms.js';
import { toVector } from '../../store/check-arguments.js';
import { type KeywordSearch, nearestMatching, type VectorSearch } from '../../store/search.js';
import type { VectorMatch, VectorMetric } from '../../store/vector-store.js';
import { filterToQdrant, type QdrantIndex } from './qdrant-index.js';
import { fromPoint, recordKeys, termsName, toUnitVector, vectorName } from './qdrant-point.js';

/**
 * Returns the best records of a search, best first.
 *
 * @param exact - whether to compare all vectors
 */
export async function findRecords(
  { client, name, dimension, metric, analyzer, signal }: QdrantIndex,
  search: VectorSearch | KeywordSearch,
  filter: Filter | undefined,
  exact: boolean,
): Promise<VectorMatch[]> {
  const isKeyword = search.mode === 'keyword';
  const query = isKeyword
    ? countTerms(await queryTerms(analyzer, search.queryText))
    : toQueryValues(toVector(search.queryVector, dimension, 'The query vector'), metric);
  if (!query) return [];
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

function toQueryValues(vector: Float32Array, metric: VectorMetric): number[] {
  return metric === 'cosine' ? toUnitVector(vector).values : Array.from(vector);
}
