import { QuiverError } from '@quiver/core';
import type { Filter } from '../../filter/index.js';
import type { SparseEncoder, SparseVector } from '../../retrieval/lexical-sparse-encoder.js';
import { type IndexShape, invalidArgument, toVector } from '../../store/check-arguments.js';
import { type KeywordSearch, nearestMatching, type VectorSearch } from '../../store/search.js';
import type { QueryParams, VectorMatch, VectorMetric } from '../../store/vector-store.js';
import type { PineconeLikeIndex } from './pinecone-client.js';
import { filterToPinecone, fromPineconeRecord } from './pinecone-index.js';

/** Context of a query. */
export interface QueryContext extends IndexShape {
  readonly params: QueryParams & { sparseVector?: SparseVector };
  readonly index: PineconeLikeIndex;
  readonly sparseEncoder: SparseEncoder | undefined;
  readonly filter: Filter | undefined;
}

/**
 * Returns the best records of a search, best first.
 *
 * @throws `VECTOR_ARGUMENT_INVALID` for more records than Pinecone returns; `FILTER_NOT_SUPPORTED` when a filter leaves too few of those
 */
export async function findRecords(
  { params, index, dimension, metric, sparseEncoder, filter }: QueryContext,
  search: VectorSearch | KeywordSearch,
): Promise<VectorMatch[]> {
  const { limit, includeVector } = search;
  const isKeyword = search.mode === 'keyword';
  if (isKeyword) requireSparseMetric(params.indexName, metric);
  const sparseVector = isKeyword ? sparseEncoder?.encodeQuery(search.queryText) : params.sparseVector;
  if (isKeyword && !sparseVector) return [];
  // With a vector of zeros, only the sparse vectors decide.
  const vector = isKeyword ? new Float32Array(dimension) : toVector(search.queryVector, dimension, 'The query vector');
  if (limit > largestTopK) throw invalidArgument(`Pinecone returns at most ${largestTopK} records, not ${limit}.`);
  const native = filter && filterToPinecone(filter);
  const largest = sparseVector?.values.reduce((sum, value) => sum + value, 0) ?? 0;
  return nearestMatching({
    wanted: limit,
    filter,
    metric,
    largest: largestTopK,
    tooNarrow: (found) => tooNarrow(found, limit),
    ...(isKeyword && {
      isFound: (similarity) => similarity > 0,
      toScore: (similarity) => Math.min(1, similarity / largest),
    }),
    find: async (topK) => {
      const { matches = [] } = await index.query({
        vector: [...vector],
        topK,
        includeMetadata: true,
        includeValues: includeVector,
        ...(sparseVector && { sparseVector }),
        ...(native && { filter: native }),
      });
      return matches.map((match) => ({
        similarity: toSimilarity(metric, match.score ?? 0),
        record: fromPineconeRecord(match, includeVector),
      }));
    },
  });
}

/** @throws `VECTOR_ARGUMENT_INVALID` */
export function requireSparseMetric(indexName: string, metric: VectorMetric): void {
  if (metric === 'dotproduct') return;
  throw invalidArgument(
    `Pinecone keeps the weights of words only in indexes with the metric 'dotproduct', and '${indexName}' has '${metric}'. Create it with that metric, or use a store without sparseEncoder for it.`,
  );
}

const largestTopK = 10_000;

/** Pinecone's euclidean score is the squared distance. */
function toSimilarity(metric: VectorMetric, score: number): number {
  return metric === 'euclidean' ? -score : score;
}

function tooNarrow(found: number, wanted: number): QuiverError {
  return new QuiverError(
    'FILTER_NOT_SUPPORTED',
    `Only ${found} of the ${largestTopK} nearest records match the filter, and the query requires ${wanted}. Pinecone returns at most ${largestTopK}. Add a condition that Pinecone can apply: equality, $in, or a comparison of numbers, on a field that is not nested.`,
  );
}
