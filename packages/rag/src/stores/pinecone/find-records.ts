import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import type { SparseVector } from '../../words/lexical-sparse-encoder.js';
import type { IndexShape } from '../../store/checks.js';
import type { NearestSearch, TermSearch } from '../../store/record-store.js';
import { nearestMatching, type NearestMatchingOptions } from '../../store/paging.js';
import type { FoundRecord } from '../../store/search.js';
import type { VectorMetric } from '../../store/vector-store.js';
import type { PineconeLikeIndex } from './pinecone-client.js';
import { filterToPinecone, fromPineconeRecord } from './pinecone-index.js';

interface PineconeIndex extends IndexShape {
  readonly index: PineconeLikeIndex;
}

/** @param sparseVector - weights of terms, whose product adds to the score */
export function findNearest(
  index: PineconeIndex,
  search: NearestSearch,
  sparseVector: SparseVector | undefined,
): Promise<FoundRecord[]> {
  return find(index, search, { vector: search.vector, sparseVector });
}

/** Returns records that share a term with the query. The similarity is the share of the largest one that any text can reach. */
export async function findByTerms(
  index: PineconeIndex,
  search: TermSearch,
  weights: SparseVector,
): Promise<FoundRecord[]> {
  const largest = weights.values.reduce((sum, value) => sum + value, 0);
  // With a vector of zeros, only the sparse vectors decide.
  const query = { vector: new Float32Array(index.dimension), sparseVector: weights };
  const found = await find(index, search, query, (similarity) => similarity > 0);
  return found.map(({ similarity, record }) => ({ similarity: similarity / largest, record }));
}

/** @throws `OPTIONS_INVALID` for more records than Pinecone returns; `FILTER_NOT_SUPPORTED` when a filter leaves too few of those */
async function find(
  { index, metric }: PineconeIndex,
  { limit, includeVector, filter }: Pick<NearestSearch, 'limit' | 'includeVector' | 'filter'>,
  { vector, sparseVector }: { vector: Float32Array; sparseVector: SparseVector | undefined },
  isFound?: NearestMatchingOptions['isFound'],
): Promise<FoundRecord[]> {
  if (limit > largestResult) throw invalidOptions(`Pinecone returns at most ${largestResult} records, not ${limit}.`);
  const native = filter && filterToPinecone(filter);
  return nearestMatching({
    wanted: limit,
    filter,
    isFound,
    largest: largestResult,
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
        // The euclidean score is the squared distance.
        similarity: (metric === 'euclidean' ? -1 : 1) * (match.score ?? 0),
        record: fromPineconeRecord(match, includeVector),
      }));
    },
  });
}

/** @throws `OPTIONS_INVALID` */
export function requireSparseMetric(indexName: string, metric: VectorMetric): void {
  if (metric === 'dotproduct') return;
  throw invalidOptions(
    `Pinecone keeps the weights of words only in indexes with the metric 'dotproduct', and '${indexName}' has '${metric}'. Create it with that metric, or use a store without sparseEncoder for it.`,
  );
}

const largestResult = 10_000;

function tooNarrow(found: number, wanted: number): QuiverError {
  return new QuiverError(
    'FILTER_NOT_SUPPORTED',
    `Only ${found} of the ${largestResult} nearest records match the filter, and the query requires ${wanted}. Pinecone returns at most ${largestResult}. Add a condition that Pinecone can apply: equality, $in, or a comparison of numbers, on a field that is not nested.`,
  );
}
