import { QuiverError } from '@quiver/core';
import type { Filter } from '../../filter/index.js';
import { invalidArgument } from '../../store/check-arguments.js';
import type { NearestMatchingOptions } from '../../store/nearest-matching.js';
import type { VectorMetric } from '../../store/vector-store.js';
import { filterToPinecone } from './filter-to-pinecone.js';
import type { PineconeLikeIndex, SparseVector } from './pinecone-client.js';
import { fromPineconeRecord } from './pinecone-record.js';

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
 * How Pinecone is asked for the nearest records.
 *
 * @throws `VECTOR_ARGUMENT_INVALID` for more records than it returns; `FILTER_NOT_SUPPORTED` when a filter leaves too few of those
 */
export function findNearest(options: FindNearestOptions): NearestMatchingOptions {
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
