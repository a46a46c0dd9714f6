import { recordText } from '../store/check-arguments.js';
import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import type { JsonSchema } from '@quiver/core/schema';
import { createTool, type AnyRequestContext, type Tool, type ToolExecute } from '@quiver/core/tools';
import type { ChunkEdge } from '../graph/chunk-graph.js';
import { parseGraphOptions, type GraphOptions } from '../graph/graph-options.js';
import type { GraphProgress } from '../graph/graph-of-index.js';
import { queryGraph, type FoundPassage, type GraphReport } from '../graph/query-graph.js';
import type { QueryMode } from '../store/index.js';
import {
  resolveTopK,
  resolveModelFilter,
  resolveSettings,
  resolveStore,
  type VectorQueryToolOptions,
} from './query-settings.js';
import { passagesSchema, vectorQueryInputSchema } from './vector-query-schemas.js';
import { joinTexts, type QueryResult, type VectorQueryInput } from './vector-query-tool.js';

export interface GraphRAGToolOptions extends Pick<
  VectorQueryToolOptions,
  | 'id'
  | 'description'
  | 'indexName'
  | 'model'
  | 'vectorStore'
  | 'vectorStoreName'
  | 'fusion'
  | 'enableFilter'
  | 'filterFields'
  | 'includeSources'
  | 'databaseConfig'
  | 'providerOptions'
> {
  /** Options of the graph and its ranking. */
  graphOptions?: GraphOptions;
  /**
   * Search mode for the seeds, where ranking starts. A store without the mode throws. Default: `hybrid` where the store supports
   * it, otherwise `vector`; `graph.seeds` of the result names it.
   */
  seeds?: QueryMode;
  /** Receives the progress of a build. The first query after a change waits for it. */
  onProgress?: (progress: GraphProgress) => void;
}

/** A passage and the path to it. */
export interface GraphQueryResult extends QueryResult {
  /** Steps from a passage that matches the query; empty for such a passage itself. */
  path: ChunkEdge[];
}

export interface GraphRAGOutput {
  /** Texts of all passages, best first, separated by blank lines. */
  relevantContext: string;
  sources: GraphQueryResult[];
  graph: GraphReport;
}

export interface GraphRAGTool extends Omit<Tool<JsonSchema, JsonSchema, GraphRAGOutput>, 'execute'> {
  readonly execute: ToolExecute<VectorQueryInput, Promise<GraphRAGOutput>>;
}

/**
 * Creates a tool that returns passages that match a query and passages that are connected with them: by shared names, links,
 * their order in a document, similarity, and relations in their metadata. There is one graph per index, shared by all tools, and
 * updated after every change.
 *
 * The request context overrides these options: `indexName`, `topK`, `filter`, `randomWalkSteps`, `restartProb`,
 * `includeSources`, `databaseConfig`, `model`, `providerOptions`. A filter in the request context selects a
 * separate graph of the matching records, which separates tenants. A filter of the model narrows ranking and results.
 *
 * @throws (from `execute`) `VECTOR_STORE_MISSING`; `FILTER_INVALID`; `GRAPH_INVALID` for bad options; `VECTOR_QUERY_UNSUPPORTED`
 *   when the store does not support the mode of the seeds; `GRAPH_QUERY_FAILED` with the cause when store or embedding model fail. A failure is
 *   never an empty result.
 * @example
 * const exploreDocs = createGraphRAGTool({ vectorStore: store, indexName: 'docs', model: 'openai/text-embedding-3-small' });
 * const { sources } = await exploreDocs.execute({ queryText: 'Which teams depend on the billing service?' });
 */
export function createGraphRAGTool(options: GraphRAGToolOptions): GraphRAGTool {
  const { vectorStoreName = 'DirectVectorStore', indexName } = options;
  return createTool({
    id: options.id ?? `GraphRAG ${vectorStoreName} ${indexName} Tool`,
    description: options.description ?? defaultGraphRagDescription,
    inputSchema: vectorQueryInputSchema(options),
    outputSchema: graphRAGOutputSchema,
    mcp: { annotations: { readOnlyHint: true, openWorldHint: false } },
    execute: async (input: VectorQueryInput, context): Promise<GraphRAGOutput> => {
      const { requestContext, abortSignal } = context;
      const settings = resolveSettings(options, requestContext);
      const graphSettings = parseGraphOptions(resolveGraphOptions(options.graphOptions, requestContext));
      const store = await resolveStore(options, context);
      try {
        const { found, report } = await queryGraph({
          ...settings,
          store,
          queryText: input.queryText,
          topK: resolveTopK(settings, input.topK),
          settings: graphSettings,
          seeds: options.seeds,
          scopeFilter: settings.trustedFilter,
          filter: resolveModelFilter(settings, input.filter),
          databaseConfig: settings.databaseConfig[store.databaseConfigKey],
          signal: abortSignal,
          onProgress: options.onProgress,
        });
        const sources = found.map(toGraphQueryResult);
        return { relevantContext: joinTexts(sources), sources: settings.includeSources ? sources : [], graph: report };
      } catch (error) {
        if (isQuiverError(error) || abortSignal?.aborted) throw error;
        throw new QuiverError(
          'GRAPH_QUERY_FAILED',
          `The query of the graph over index '${settings.indexName}' failed: ${toErrorMessage(error)}`,
          { cause: error },
        );
      }
    },
  });
}

/** Description of the tool unless `description` is set. */
export const defaultGraphRagDescription: string =
  'Finds passages of the knowledge base that answer a question together: those that match it, and those that are connected with them through shared names, links and order. Use it for questions about relationships and connections, and for those whose answer is spread over several documents.';

function resolveGraphOptions(options: GraphOptions = {}, requestContext: AnyRequestContext): GraphOptions {
  const overrides = ['randomWalkSteps', 'restartProb'].filter((key) => requestContext.get(key) !== undefined);
  return { ...options, ...Object.fromEntries(overrides.map((key) => [key, requestContext.get(key)])) };
}

function toGraphQueryResult({ record, score, path }: FoundPassage): GraphQueryResult {
  const { id, metadata } = record;
  return { id, metadata, vector: [], score, document: recordText(record), path: [...path] };
}

const pathSchema: JsonSchema = {
  type: 'array',
  description:
    'The steps that led here from a passage that matches the question; empty when it matches the question itself.',
  items: {
    type: 'object',
    properties: {
      from: { type: 'string' },
      to: { type: 'string' },
      kind: { type: 'string' },
      reason: { type: 'string' },
      weight: { type: 'number' },
    },
    required: ['from', 'to', 'kind', 'reason', 'weight'],
  },
};

const graphSchema: JsonSchema = {
  type: 'object',
  description: 'What the answer was found in.',
  properties: {
    complete: {
      type: 'boolean',
      description:
        'Whether the whole index was connected; otherwise only what surrounds the passages that match the question.',
    },
    nodes: { type: 'integer' },
    edges: { type: 'integer' },
    seeds: { type: 'string', enum: ['vector', 'keyword', 'hybrid'] },
  },
  required: ['complete', 'nodes', 'edges', 'seeds'],
};

const graphRAGOutputSchema: JsonSchema = passagesSchema({ path: pathSchema }, { graph: graphSchema });
