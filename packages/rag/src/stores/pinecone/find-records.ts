import { QuiverError } from '@quiver/core';
import type { Filter } from '../../filter/index.js';
import { type IndexShape, invalidArgument, toVector } from '../../store/check-arguments.js';
import {
  type KeywordSearch,
  nearestMatching,
  type NearestMatchingOptions,
  type VectorSearch,
} from '../../store/search.js';
import type { QueryParams, VectorMatch, VectorMetric } from '../../store/vector-store.js';
import type { PineconeLikeIndex, SparseVector } from './pinecone-client.js';
import { filterToPinecone, fromPineconeRecord } from './pinecone-record.js';
import type { SparseEncoder } from './sparse-encoder.js';

/** Context of a query. */
export interface QueryPlace {
  readonly params: QueryParams & { sparseVector?: SparseVector };
  readonly open: IndexShape & { readonly index: PineconeLikeIndex };
  readonly sparseEncoder: SparseEncoder | undefined;
  readonly filter: Filter | undefined;
}

/** The best records for a search, best first. */
export async function findRecords(place: QueryPlace, search: VectorSearch | KeywordSearch): Promise<VectorMatch[]> {
  const { params, open, sparseEncoder, filter } = place;
  const { limit, includeVector } = search;
  const { index, dimension, metric } = open;
  const common = { index, metric, filter, limit, includeVector };
  if (search.mode === 'vector') {
    const vector = toVector(search.queryVector, dimension, 'The query vector');
    return nearestMatching(findNearest({ ...common, vector, sparseVector: params.sparseVector }));
  }
  requireSparseMetric(params.indexName, metric);
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

const largestTopK = 10_000;

export interface FindNearestOptions {
  readonly index: PineconeLikeIndex;
  readonly metric: VectorMetric;
  readonly vector: Float32Array;
  readonly sparseVector: SparseVector | undefined;
  readonly filter: Filter | undefined;
  readonly limit: number;
  readonly includeVector: boolean;
}

/**
 * Describes the request for the nearest records.
 *
 * @throws `VECTOR_ARGUMENT_INVALID` for more records than it returns; `FILTER_NOT_SUPPORTED` when a filter leaves too few of those
 */
function findNearest(options: FindNearestOptions): NearestMatchingOptions {
  const { index, metric, vector, sparseVector, filter, limit, includeVector } = options;
  if (limit > largestTopK) throw invalidArgument(`Pinecone returns at most ${largestTopK} records, not ${limit}.`);
  const native = filter && filterToPinecone(filter);
  return {
    wanted: limit,
    filter,
    metric,
    largest: largestTopK,
    tooNarrow: (found) => tooNarrow(found, limit),
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
  };
}

/** Pinecone's euclidean score is the squared distance. */
function toSimilarity(metric: VectorMetric, score: number): number {
  return metric === 'euclidean' ? -score : score;
}

function tooNarrow(found: number, wanted: number): QuiverError {
  return new QuiverError(
    'FILTER_NOT_SUPPORTED',
    `Of the ${largestTopK} nearest records that Pinecone returns, only ${found} pass the filter, and ${wanted} are wanted. Add a condition that Pinecone can apply: equality, $in, or a comparison of numbers, on a field that is not nested.`,
  );
}
