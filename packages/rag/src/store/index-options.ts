import { QuiverError } from '@quiver/core';
import { invalidArgument } from './check-arguments.js';
import type { VectorMetric } from './vector-store.js';

export interface IndexShape {
  readonly dimension: number;
  readonly metric: VectorMetric;
}

const metrics: readonly VectorMetric[] = ['cosine', 'euclidean', 'dotproduct'];

/** @throws `VECTOR_ARGUMENT_INVALID` */
export function requireIndexShape({ dimension, metric }: IndexShape): void {
  if (!Number.isInteger(dimension) || dimension < 1)
    throw invalidArgument(`The dimension of an index must be a positive integer, not ${String(dimension)}.`);
  if (!metrics.includes(metric))
    throw invalidArgument(`Unknown metric '${String(metric)}'; known: ${metrics.join(', ')}.`);
}

/** @throws `VECTOR_VALIDATE_INDEX_DIMENSION_MISMATCH` when an index that exists has another dimension or metric */
export function requireSameShape(indexName: string, existing: IndexShape, wanted: IndexShape): void {
  if (existing.dimension === wanted.dimension && existing.metric === wanted.metric) return;
  throw new QuiverError(
    'VECTOR_VALIDATE_INDEX_DIMENSION_MISMATCH',
    `The index '${indexName}' exists with dimension ${existing.dimension} and metric ${existing.metric}, not ${wanted.dimension} and ${wanted.metric}. Delete it first, or choose another name.`,
    { details: { indexName, existing: existing.dimension, requested: wanted.dimension } },
  );
}
