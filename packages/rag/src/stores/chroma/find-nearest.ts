import type { Filter } from '../../filter/index.js';
import type { NearestMatchingOptions } from '../../store/nearest-matching.js';
import type { VectorMetric } from '../../store/vector-store.js';
import type { ChromaWhere } from './chroma-client.js';
import type { OpenCollection } from './chroma-collection.js';
import { fromChromaRecord } from './chroma-record.js';
import { filterToWhere } from './filter-to-where.js';

export interface FindNearestOptions {
  readonly vector: Float32Array;
  readonly filter: Filter | undefined;
  readonly whereDocument: ChromaWhere | undefined;
  readonly limit: number;
  readonly includeVector: boolean;
}

/** How Chroma is asked for the nearest records. */
export function findNearest(
  { collection, metric }: OpenCollection,
  { vector, filter, whereDocument, limit, includeVector }: FindNearestOptions,
): NearestMatchingOptions {
  const where = filter && filterToWhere(filter);
  return {
    wanted: limit,
    filter,
    metric,
    find: async (nResults) => {
      const answer = await collection.query({
        queryEmbeddings: [[...vector]],
        nResults,
        include: ['metadatas', 'documents', 'distances', ...(includeVector ? (['embeddings'] as const) : [])],
        ...(where && { where }),
        ...(whereDocument && { whereDocument }),
      });
      const [metadatas, documents, vectors] = [answer.metadatas[0], answer.documents[0], answer.embeddings?.[0]];
      return (answer.ids[0] ?? []).map((id, row) => ({
        similarity: toSimilarity(metric, answer.distances[0]?.[row] ?? Number.NaN),
        record: fromChromaRecord(id, metadatas?.[row], documents?.[row], vectors?.[row]),
      }));
    },
  };
}

/** Chroma gives squared distances, and 1 minus the product. A vector of zeros is similar to nothing. */
function toSimilarity(metric: VectorMetric, distance: number): number {
  if (metric === 'euclidean') return -distance;
  return Number.isFinite(distance) ? 1 - distance : 0;
}
