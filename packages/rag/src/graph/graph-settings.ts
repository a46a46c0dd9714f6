import { QuiverError } from '@quiver/core';
import { canonicalJson } from '../document/content-hash.js';
import { parseFilter } from '../filter/index.js';
import { resolveEdgeOptions, type EdgeOptions } from './edge-options.js';
import type { VectorFilter } from '../store/index.js';

/** Options of the graph of an index and of its ranking. */
export interface GraphOptions {
  /** Length of the embeddings, as a check. Default: the dimension of the index. */
  dimension?: number;
  /** Passages are connected when their cosine similarity is above it. Default 0.7. */
  threshold?: number;
  /** Most rounds of the computation; it ends earlier when the ranks no longer change. Default 100. */
  randomWalkSteps?: number;
  /**
   * Probability of a walker to restart at the passages that match the query, above 0 and below 1. Default 0.15. Lower values prefer
   * passages with many edges.
   */
  restartProb?: number;
  /** Kinds of edges. Default: all kinds, with the weights of {@link EdgeOptions}. */
  edges?: EdgeOptions;
  /**
   * Largest number of passages in a graph. A larger index is explored from the passages that match the query; the report has
   * `complete: false` then. The time of a build grows with the square of the number. Default 20,000.
   */
  maxNodes?: number;
}

const defaultMaxNodes = 20_000;

/** Checked options. */
export interface GraphSettings {
  readonly dimension: number | undefined;
  readonly randomWalkSteps: number;
  readonly restartProb: number;
  readonly edges: EdgeOptions;
  readonly maxNodes: number;
}

/** @throws `GRAPH_INVALID` */
export function parseGraphOptions(options: GraphOptions = {}): GraphSettings {
  const { dimension, threshold, randomWalkSteps = 100, restartProb = 0.15, maxNodes = defaultMaxNodes } = options;
  if (dimension !== undefined && !(Number.isSafeInteger(dimension) && dimension > 0))
    throw invalid('dimension', 'a positive integer', dimension);
  if (!(Number.isFinite(randomWalkSteps) && randomWalkSteps >= 1))
    throw invalid('randomWalkSteps', 'a number of at least 1', randomWalkSteps);
  if (!(Number.isFinite(restartProb) && restartProb > 0 && restartProb < 1))
    throw invalid('restartProb', 'above 0 and below 1', restartProb);
  if (!(Number.isSafeInteger(maxNodes) && maxNodes >= 0)) throw invalid('maxNodes', 'an integer from 0 on', maxNodes);
  if (threshold !== undefined && !(Number.isFinite(threshold) && threshold >= -1 && threshold <= 1))
    throw invalid('threshold', 'a number from -1 to 1', threshold);
  const { similarity } = options.edges ?? {};
  const near = typeof similarity === 'object' ? similarity : {};
  const edges =
    threshold === undefined || similarity === false
      ? (options.edges ?? {})
      : { ...options.edges, similarity: { threshold: Math.max(0, threshold), ...near } };
  return { dimension, randomWalkSteps: Math.floor(randomWalkSteps), restartProb, edges, maxNodes };
}

function invalid(name: string, wanted: string, value: unknown): QuiverError {
  return new QuiverError('GRAPH_INVALID', `graphOptions.${name} must be ${wanted}, not ${String(value)}.`);
}

/** Records of an index that match a filter, and kinds of edges. Equal scopes have equal graphs. */
export interface GraphScope {
  readonly indexName: string;
  /** Filter of the application, for example of one tenant: other passages have no influence. */
  readonly filter: VectorFilter;
  readonly edges: EdgeOptions;
}

/** Returns a key that only equal scopes share. @throws `FILTER_INVALID` */
export function scopeKey({ indexName, filter, edges }: GraphScope): string {
  return canonicalJson([indexName, filterKey(filter), resolveEdgeOptions(edges)]);
}

/** Returns a key that only equal filters share. Equivalent filters in another notation may have another key. @throws `FILTER_INVALID` */
export function filterKey(filter: VectorFilter): string {
  // JSON of the filter as it was written would lose its regular expressions.
  return filter ? canonicalJson(parseFilter(filter)) : '';
}
