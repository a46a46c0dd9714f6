import { QuiverError, toErrorMessage } from '@quiver/core';
import { anyValue, checkOptions, functionValue, type OptionChecks } from '@quiver/core/internal';
import type { JsonSchema } from '@quiver/core/schema';
import type { AnyRequestContext, Tool, ToolExecute } from '@quiver/core/tools';
import type { ChunkEdge } from '../graph/chunk-graph.js';
import type { GraphProgress } from '../graph/graph-of-index.js';
import { parseGraphOptions, type GraphOptions } from '../graph/graph-options.js';
import { queryGraph, type GraphReport } from '../graph/query-graph.js';
import type { QueryMode } from '../store/index.js';
import { modeValue, searchModes } from '../store/options.js';
import type { QueryCall, VectorQueryInput } from './query-call.js';
import { passagesSchema, toQueryResult, type PassagesOutput, type QueryResult } from './query-result.js';
import { createQueryTool } from './query-tool.js';
import { queryToolChecks, type VectorQueryToolOptions } from './query-tool-options.js';

/** Options of `createGraphRAGTool()`. */
export interface GraphRAGToolOptions extends Omit<VectorQueryToolOptions, 'mode' | 'mmr' | 'reranker'> {
  /** Options of the graph and its ranking. */
  graphOptions?: GraphOptions;
  /**
   * Search mode for the seeds, where ranking starts. A store without the mode throws. Default: `hybrid` where the store supports
   * it, otherwise `vector`; `keyword` where `fusion` gives vectors no weight. The lexical embedder recommends that; for it, a query
   * without a known word is searched by `vector`. `graph.seeds` of the result names the mode. With `vector` the query makes no keyword search.
   */
  seeds?: QueryMode;
  /** Receives the progress of a build. The first query after a change waits for it. */
  onProgress?: (progress: GraphProgress) => void;
}

const toolChecks: OptionChecks<GraphRAGToolOptions> = {
  ...queryToolChecks,
  graphOptions: anyValue,
  seeds: modeValue,
  onProgress: functionValue,
};

/** A passage and the path to it. */
export interface GraphQueryResult extends QueryResult {
  /**
   * Steps from a passage that matches the query; empty for such a passage itself. A step of the kind `title`, from a passage to
   * itself, tells that the query names its title.
   */
  path: ChunkEdge[];
}

/** Output of a GraphRAG tool. */
export interface GraphRAGOutput extends PassagesOutput<GraphQueryResult> {
  graph: GraphReport;
}

/** Tool that `createGraphRAGTool()` returns. */
export interface GraphRAGTool extends Omit<Tool<JsonSchema, JsonSchema, GraphRAGOutput>, 'execute'> {
  readonly execute: ToolExecute<VectorQueryInput, Promise<GraphRAGOutput>>;
}

/**
 * Creates a tool that returns passages that match a query and passages that are connected with them: by shared names, links,
 * their order in a document, similarity, and relations in their metadata. Passages whose titles the query names come first; the
 * connections of a query that names none count less than the search. There is one graph per index, shared by all tools, and
 * updated after every change.
 *
 * The request context overrides these options: `vectorStoreName`, `indexName`, `topK`, `fusion`, `randomWalkSteps`, `restartProb`,
 * `includeSources`, `includeVectors`, `maxTokens`, `databaseConfig`, `model`, `providerOptions`, `expand`, `minConfidence`. `filter` and `scope` of the options and of the request
 * context select a separate graph of the matching records, which separates tenants. A filter of the model narrows ranking and results.
 *
 * @throws `OPTIONS_INVALID` for an unknown or invalid option, and for a `filter` or `scope` that is `undefined`;
 *   `FILTER_INVALID`
 * @throws (from `execute`) `QUERY_SCOPE_MISSING`; `VECTOR_STORE_MISSING`; `OPTIONS_INVALID` for bad options, and a blank or too long question; `FILTER_INVALID`; `VECTOR_QUERY_UNSUPPORTED`
 *   when the store does not support the mode of the seeds; `GRAPH_QUERY_FAILED` with the cause when store or embedding model fail. A failure is
 *   never an empty result.
 * @example
 * const exploreDocs = createGraphRAGTool({ vectorStore: store, indexName: 'docs', model: 'openai/text-embedding-3-small' });
 * const { sources } = await exploreDocs.execute({ queryText: 'Which teams depend on the billing service?' });
 */
export function createGraphRAGTool(options: GraphRAGToolOptions): GraphRAGTool {
  checkOptions('createGraphRAGTool', options, toolChecks);
  const { graphOptions, seeds, onProgress } = options;
  parseGraphOptions('createGraphRAGTool', graphOptions);
  return createQueryTool<GraphRAGOutput>({
    options,
    name: 'GraphRAG',
    description: defaultGraphRagDescription,
    outputSchema: graphRAGOutputSchema,
    toFailure: (indexName, cause) =>
      new QuiverError(
        'GRAPH_QUERY_FAILED',
        `The query of the graph over index '${indexName}' failed: ${toErrorMessage(cause)}`,
        { cause },
      ),
    query: async (call) => {
      const { found, report } = await queryGraph({
        ...call,
        embedder: call.embedder(),
        settings: parseGraphOptions('createGraphRAGTool', resolveGraphOptions(graphOptions, call.requestContext)),
        seeds,
        onProgress,
      });
      const sources = found.map(({ record, score, path }): GraphQueryResult => {
        return { ...toQueryResult(record, score), vector: [], path: [...path] };
      });
      return { sources: call.includeVectors ? await withVectors(call, sources) : sources, graph: report };
    },
  });
}

async function withVectors({ store, read }: QueryCall, sources: GraphQueryResult[]): Promise<GraphQueryResult[]> {
  const { filter: _filter, ...target } = read;
  const records = await store.get({ ...target, ids: sources.map(({ id }) => id), includeVector: true });
  const vectors = new Map(records.map(({ id, vector = [] }) => [id, vector]));
  return sources.map((source) => ({ ...source, vector: vectors.get(source.id) ?? [] }));
}

/** Description of the tool unless `description` is set. */
export const defaultGraphRagDescription: string =
  'Finds passages of the knowledge base that answer a question together: those that match it, and those that are connected with them through shared names, links and order. It helps with questions about relationships between named people, places and things, and with those whose answer is spread over several documents. For a question that one passage answers, it returns the same as a search.';

function resolveGraphOptions(options: GraphOptions = {}, requestContext: AnyRequestContext): GraphOptions {
  const overrides = ['randomWalkSteps', 'restartProb'].filter((key) => requestContext.get(key) !== undefined);
  return { ...options, ...Object.fromEntries(overrides.map((key) => [key, requestContext.get(key)])) };
}

const pathSchema: JsonSchema = {
  type: 'array',
  description:
    'The steps that led here from a passage that matches the question; empty when it matches the question itself. The kind title: the question names the title.',
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
    seeds: { type: 'string', enum: [...searchModes] },
  },
  required: ['complete', 'nodes', 'edges', 'seeds'],
};

const graphRAGOutputSchema: JsonSchema = passagesSchema({ path: pathSchema }, { graph: graphSchema });
