import { QuiverError } from '@quiver/core';
import { canonicalJson } from '../document/content-hash.js';
import { parseFilter } from '../filter/index.js';
import { resolveEdgeOptions, type EdgeOptions } from './edge-options.js';
import type { VectorFilter } from '../store/index.js';

/** How the graph over an index is made and walked. */
export interface GraphOptions {
  /** Length of the embeddings, to be checked: default, whatever the index has. */
  dimension?: number;
  /** Passages are connected when their cosine similarity is above it. Default 0.7. */
  threshold?: number;
  /** Rounds of the computation at most; it ends earlier when nothing changes any more. Default 100. */
  randomWalkSteps?: number;
  /**
   * Chance of a walker to start again at the passages that match the question, above 0 and below 1. Default 0.15: lower values favor
   * passages that are connected with many others, whatever the question.
   */
  restartProb?: number;
  /** Which connections the graph has. Default: all kinds, with the weights of {@link EdgeOptions}. */
  edges?: EdgeOptions;
  /**
   * Of an index with more passages no whole graph is held: it is explored from the passages that match the question, and the
   * answer says so. Default 20,000.
   */
  maxNodes?: number;
}

const defaultMaxNodes = 20_000;

/** Options after they were checked. */
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

/** What a graph is made of: passages of an index that pass a filter, and kinds of connections. Equal scopes have equal graphs. */
export interface GraphScope {
  readonly indexName: string;
  /** Of the application, for example one tenant: passages that do not pass have no influence whatever. */
  readonly filter: VectorFilter;
  readonly edges: EdgeOptions;
}

/** Equal for equal scopes alone. @throws `FILTER_INVALID` */
export function scopeKey({ indexName, filter, edges }: GraphScope): string {
  return canonicalJson([indexName, filterKey(filter), resolveEdgeOptions(edges)]);
}

/** Equal for equal filters alone; those that are written in another way may differ. @throws `FILTER_INVALID` */
export function filterKey(filter: VectorFilter): string {
  // JSON of the filter as it was written would lose its regular expressions.
  return filter ? canonicalJson(parseFilter(filter)) : '';
}
