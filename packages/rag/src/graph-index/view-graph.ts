import type { EmbedderInput } from '../embedding/index.js';
import type { GraphView } from '../graph/view/graph-view.js';
import type { QueryMode, VectorFilter, VectorStore } from '../store/index.js';
import { parseGraphOptions, type GraphOptions } from './graph-settings.js';
import { queryGraph, type GraphQuestion } from './query-graph.js';
import { toView } from './to-view.js';

export interface ViewGraphOptions {
  store: VectorStore;
  indexName: string;
  /** Turns the question into a vector; must be what the index was made with. */
  model: EmbedderInput;
  queryText: string;
  /** Passages found. Default 10. */
  topK?: number;
  seeds?: QueryMode;
  graphOptions?: GraphOptions;
  /** As in the request context of the tool. */
  filter?: VectorFilter;
  signal?: AbortSignal;
}

/**
 * Asks the graph over an index, as `createGraphRAGTool` does, and returns what was found together with its neighbourhood, as plain
 * data: for `graphToHtml` of `@quiver/rag/node`, or a drawing of your own.
 *
 * @throws as the tool does
 * @example
 * const view = await viewGraph({ store, indexName: 'docs', model, queryText: 'Who maintains the billing service?' });
 */
export async function viewGraph(options: ViewGraphOptions): Promise<GraphView> {
  const question: GraphQuestion = {
    ...options,
    topK: options.topK ?? 10,
    settings: parseGraphOptions(options.graphOptions),
    scopeFilter: options.filter,
    filter: undefined,
  };
  return toView(question, await queryGraph(question));
}
