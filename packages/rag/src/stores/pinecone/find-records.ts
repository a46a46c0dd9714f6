import { invalidArgument, toVector } from '../../store/check-arguments.js';
import type { IndexShape } from '../../store/index-options.js';
import { nearestMatching } from '../../store/nearest-matching.js';
import type { HybridSearch, KeywordSearch, VectorSearch } from '../../store/parse-search.js';
import { fuseSearches } from '../../store/run-search.js';
import { toFilter } from '../../store/to-filter.js';
import type { QueryParams, VectorMatch, VectorMetric } from '../../store/vector-store.js';
import { findNearest } from './find-nearest.js';
import type { PineconeLikeIndex, SparseVector } from './pinecone-client.js';
import type { SparseEncoder } from './sparse-encoder.js';

/** Where and how a query is answered. */
export interface QueryPlace {
  readonly params: QueryParams & { sparseVector?: SparseVector };
  readonly open: IndexShape & { readonly index: PineconeLikeIndex };
  readonly sparseEncoder: SparseEncoder | undefined;
}

/** The best records for a search, best first. */
export async function findRecords(
  place: QueryPlace,
  search: VectorSearch | KeywordSearch | HybridSearch,
): Promise<VectorMatch[]> {
  const { params, open, sparseEncoder } = place;
  const { limit, includeVector } = search;
  const { index, dimension, metric } = open;
  const common = { index, metric, filter: toFilter(params.filter), limit, includeVector };
  if (search.mode === 'vector') {
    const vector = toVector(search.queryVector, dimension, 'The query vector');
    return nearestMatching(findNearest({ ...common, vector, sparseVector: params.sparseVector }));
  }
  requireSparseMetric(params.indexName, metric);
  if (search.mode === 'hybrid') {
    toVector(search.queryVector, dimension, 'The query vector');
    return fuseSearches(search, (part) => findRecords(place, part));
  }
  const sparseVector = sparseEncoder?.encodeQuery(search.queryText);
  if (!sparseVector) return [];
  const largest = sparseVector.values.reduce((sum, value) => sum + value, 0);
  return nearestMatching({
    // A vector of zeros leaves the words alone to decide.
    ...findNearest({ ...common, vector: new Float32Array(dimension), sparseVector }),
    isFound: (similarity) => similarity > 0,
    toScore: (similarity) => Math.min(1, similarity / largest),
  });
}

/** @throws `VECTOR_ARGUMENT_INVALID` */
export function requireSparseMetric(indexName: string, metric: VectorMetric): void {
  if (metric === 'dotproduct') return;
  throw invalidArgument(
    `Pinecone keeps the weights of words only in indexes with the metric 'dotproduct', and '${indexName}' has '${metric}'. Create it with that metric, or use a store without sparseEncoder for it.`,
  );
}
