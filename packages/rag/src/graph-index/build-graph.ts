import type { VectorFilter, VectorStore } from '../store/index.js';
import { findGraph } from './graph-registry.js';
import { parseGraphOptions, type GraphOptions } from './graph-settings.js';
import type { GraphProgress } from './index-graph.js';

export interface BuildGraphOptions {
  store: VectorStore;
  indexName: string;
  /** The same as for the tool: what makes a graph another graph is `threshold`, `edges` and `maxNodes`. */
  graphOptions?: GraphOptions;
  /** The filter that requests will have in their request context, for example of one tenant. Default: none, the whole index. */
  filter?: VectorFilter;
  signal?: AbortSignal;
  onProgress?: (progress: GraphProgress) => void;
}

export interface BuiltGraph {
  /** `false` when the index is too large for `maxNodes`, or its store cannot tell when data change: questions explore it then. */
  complete: boolean;
  nodes: number;
  edges: number;
  /** Share of the truly most similar passages that the edges of similarity hold; below 1 only for more than 20,000 passages. */
  recall: number;
}

/**
 * Makes the graph over an index, or brings it up to date, and keeps it beside the index where the store can: in a file for
 * `LocalVector` with a path, in the table `quiver_derived` for `PgVector`. Questions do the same by themselves, except that they
 * create no table, and keep the graph of a filter only where this was done for it once; doing it after ingestion saves the first
 * of them the wait.
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
  if (!held) return { complete: false, nodes: 0, edges: 0, recall: 1 };
  const { graph } = held;
  return { complete: true, nodes: graph.ids.length, edges: graph.edgeCount, recall: graph.recall };
}
