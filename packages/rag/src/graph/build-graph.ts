import type { VectorFilter, VectorStore } from '../store/index.js';
import { findGraph } from './graph-registry.js';
import { parseGraphOptions, type GraphOptions } from './graph-settings.js';
import type { GraphProgress } from './index-graph.js';

export interface BuildGraphOptions {
  store: VectorStore;
  indexName: string;
  /** Options of the tool. Another `threshold`, `edges` or `maxNodes` is another graph. */
  graphOptions?: GraphOptions;
  /** Filter that calls have in their request context, for example of one tenant. Default: the whole index. */
  filter?: VectorFilter;
  signal?: AbortSignal;
  onProgress?: (progress: GraphProgress) => void;
}

export interface BuiltGraph {
  /** `false` when the index is larger than `maxNodes`, or its store has no versions: queries explore it then. */
  complete: boolean;
  nodes: number;
  edges: number;
}

/**
 * Builds or updates the graph of an index, and stores it with the index where the store supports it: in a file for `LocalVector`
 * with a path, in the table `quiver_derived` for `PgVector`. Queries do the same, except that they create no table, and store
 * the graph of a filter only after `buildGraph()` did so once. A build after ingestion saves the first query the wait.
 *
 * @throws `GRAPH_INVALID` for bad options, `FILTER_INVALID`, and what the store throws
 * @example
 * await ingest({ documents, store, indexName: 'docs', embedder });
 * await buildGraph({ store, indexName: 'docs' });
 */
export async function buildGraph(options: BuildGraphOptions): Promise<BuiltGraph> {
  const { store, indexName, filter, signal, onProgress } = options;
  const { edges, maxNodes } = parseGraphOptions(options.graphOptions);
  await store.derived?.prepare(signal && { signal });
  const held = await findGraph({
    store,
    scope: { indexName, filter, edges },
    maxNodes,
    keep: true,
    signal,
    onProgress,
  });
  if (!held) return { complete: false, nodes: 0, edges: 0 };
  const { graph } = held;
  return { complete: true, nodes: graph.ids.length, edges: graph.edgeCount };
}
