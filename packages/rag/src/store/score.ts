import type { VectorMetric } from './vector-store.js';

/** Turns a relevance without an upper limit, such as that of BM25, into a score in [0, 1), in proportion to the best one of the query. */
export function unboundedToScore(relevance: number, best: number): number {
  return relevance / (1 + best);
}

/**
 * Turns a raw similarity into a score in [0, 1], larger is better.
 *
 * @param similarity - cosine similarity; the negative squared distance for `euclidean`; the dot product for `dotproduct`
 */
export function toScore(metric: VectorMetric, similarity: number): number {
  switch (metric) {
    case 'cosine':
      return Math.min(1, Math.max(0, similarity));
    case 'euclidean':
      return 1 / (1 + Math.sqrt(Math.max(0, -similarity)));
    case 'dotproduct':
      return 1 / (1 + Math.exp(-similarity));
  }
}
