import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { vectorMetrics } from './options.js';
import type { CreateIndexParams, VectorMetric } from './vector-store.js';

export interface IndexShape {
  readonly dimension: number;
  readonly metric: VectorMetric;
}

/**
 * Names become names of files, tables and collections, so they must mean one thing everywhere.
 *
 * @param longest - characters that the store allows
 * @throws `OPTIONS_INVALID`
 */
export function requireIndexName(indexName: string, longest: number): void {
  if (typeof indexName === 'string' && indexName.length <= longest && /^[a-z0-9][a-z0-9_-]*$/i.test(indexName)) return;
  throw invalidOptions(
    `'${String(indexName)}' cannot name an index: use 1 to ${longest} letters, digits, '_' and '-', beginning with a letter or digit.`,
  );
}

/** Returns the shape of a new index. The default metric is `cosine`. @throws `OPTIONS_INVALID` */
export function requireIndexShape({
  dimension,
  metric = 'cosine',
}: Pick<CreateIndexParams, 'dimension' | 'metric'>): IndexShape {
  if (!Number.isInteger(dimension) || dimension < 1)
    throw invalidOptions(`The dimension of an index must be a positive integer, not ${String(dimension)}.`);
  if (!vectorMetrics.includes(metric))
    throw invalidOptions(`Unknown metric '${String(metric)}'; known: ${vectorMetrics.join(', ')}.`);
  return { dimension, metric };
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

export function indexNotFound(indexName: string, existing: readonly string[]): QuiverError {
  const known = existing.length > 0 ? ` Existing: ${existing.join(', ')}.` : ' There is none yet.';
  return new QuiverError(
    'VECTOR_INDEX_NOT_FOUND',
    `There is no index '${indexName}'; create it with createIndex().${known}`,
    { details: { indexName } },
  );
}
