import { QuiverError } from '@quiver/core';
import { buildChunkGraph } from '../graph/build-chunk-graph.js';
import type { ChunkGraph } from '../graph/chunk-graph.js';
import type { VectorStore } from '../store/index.js';
import type { GraphScope } from './graph-settings.js';
import { readPassages } from './read-passages.js';

/** How far the making of a graph is. */
export interface GraphProgress {
  phase: 'read' | 'connect';
  /** Passages read so far. */
  passages: number;
  /** Share of the phase that is done, in [0, 1]; absent while it is not known. */
  done?: number;
}

/** The graph of a scope at one state of its data. */
export interface IndexGraph {
  readonly version: string;
  readonly graph: ChunkGraph;
}

export interface MakeGraphOptions {
  readonly store: VectorStore;
  readonly scope: GraphScope;
  readonly maxNodes: number;
  readonly version: string;
  /** Of an earlier state; what did not change is not calculated again. */
  readonly previous?: IndexGraph | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: GraphProgress) => void) | undefined;
}

/**
 * Makes the graph over everything in the scope.
 *
 * @param options.version - was read before: a change on the way leads to another version, and the next question brings the graph up
 *   to date
 * @returns `undefined` when there are more passages than a graph may have
 */
export async function makeIndexGraph(options: MakeGraphOptions): Promise<IndexGraph | undefined> {
  const { store, scope, maxNodes, version, previous, signal, onProgress } = options;
  const { indexName, filter, edges } = scope;
  const { dimension } = await store.describeIndex({ indexName, ...(signal && { signal }) });
  const read = await readPassages({
    store,
    indexName,
    filter,
    maxPassages: maxNodes,
    signal,
    onRead: (passages) => onProgress?.({ phase: 'read', passages }),
  });
  if (!read) return undefined;
  const { passages, vectors } = read;
  const graph = await buildChunkGraph({
    passages,
    vectors,
    dimension,
    edges,
    previous: previous?.graph,
    signal,
    onProgress: ({ done }) => onProgress?.({ phase: 'connect', passages: passages.length, done }),
  });
  return { version, graph };
}

/** @throws `VECTOR_DIMENSION_MISMATCH` when an index has another dimension than the options of its graph say */
export async function requireDimension(
  store: VectorStore,
  indexName: string,
  dimension: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { dimension: actual } = await store.describeIndex({ indexName, ...(signal && { signal }) });
  if (actual === dimension) return;
  throw new QuiverError(
    'VECTOR_DIMENSION_MISMATCH',
    `graphOptions.dimension is ${dimension}, but the index '${indexName}' has dimension ${actual}. Leave the option out to take that of the index.`,
    { details: { expected: actual, actual: dimension } },
  );
}
