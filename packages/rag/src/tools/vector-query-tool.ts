import { QuiverError, toErrorMessage } from '@quiver/core';
import type { JsonSchema } from '@quiver/core/schema';
import type { Tool, ToolExecute } from '@quiver/core/tools';
import { toEmbedder } from '../embedding/index.js';
import { bothFilters } from '../filter/index.js';
import { rerank } from '../rerank/rerank.js';
import type { VectorMatch } from '../store/index.js';
import {
  createQueryTool,
  passagesSchema,
  toQueryResult,
  type QueryCall,
  type QueryResult,
  type VectorQueryInput,
  type VectorQueryToolOptions,
} from './query-tool.js';

/** Output of a query tool. */
export interface VectorQueryOutput {
  /** Texts of all passages, best first, separated by blank lines. */
  relevantContext: string;
  sources: QueryResult[];
}

/** Tool that `createVectorQueryTool()` returns. */
export interface VectorQueryTool extends Omit<Tool<JsonSchema, JsonSchema, VectorQueryOutput>, 'execute'> {
  readonly execute: ToolExecute<VectorQueryInput, Promise<VectorQueryOutput>>;
}

/**
 * Creates a tool that returns the passages of an index that match a query best.
 *
 * The request context overrides these options: `indexName`, `topK`, `filter`, `includeVectors`, `includeSources`,
 * `databaseConfig`, `reranker`, `model`, `providerOptions`, `mode`, `fusion`, `diversity`, `expand`. A filter in the request context
 * always applies, in addition to the filter of the model.
 *
 * @throws (from `execute`) `VECTOR_STORE_MISSING`; `FILTER_INVALID`; `VECTOR_QUERY_UNSUPPORTED`; `VECTOR_QUERY_FAILED` with the cause when store or
 *   embedding model fail. A failure is never an empty result.
 * @example
 * const searchDocs = createVectorQueryTool({ vectorStore: store, indexName: 'docs', model: 'openai/text-embedding-3-small' });
 * const { sources } = await searchDocs.execute({ queryText: 'How do I install it?', topK: 3 });
 */
export function createVectorQueryTool(options: VectorQueryToolOptions): VectorQueryTool {
  return createQueryTool<VectorQueryOutput>({
    options,
    name: 'VectorQuery',
    description: defaultVectorQueryDescription,
    outputSchema: passagesSchema(),
    toFailure: (indexName, cause) =>
      new QuiverError('VECTOR_QUERY_FAILED', `The query of index '${indexName}' failed: ${toErrorMessage(cause)}`, {
        cause,
      }),
    query: async (call) => ({ sources: (await queryStore(call)).map((match) => toQueryResult(match, match.score)) }),
  });
}

/** Description of the tool unless `description` is set. */
export const defaultVectorQueryDescription: string =
  'Searches the knowledge base for passages that are related to a question. Use it to answer questions from stored documents and to look up facts; ask in full sentences or with the words that the documents would use.';

async function queryStore(call: QueryCall): Promise<VectorMatch[]> {
  const { store, indexName, queryText, topK, mode, diversity, reranker, providerOptions, signal } = call;
  const embedder = toEmbedder(call.model, { providerOptions });
  const [queryVector] = mode === 'keyword' ? [] : await embedder.embed([queryText], { purpose: 'query', signal });
  const fusion = { vector: embedder.hybridWeight ?? 1, ...call.fusion };
  const matches = await store.query({
    ...call.databaseConfig,
    indexName,
    ...(mode && { mode }),
    queryText,
    ...(queryVector && { queryVector }),
    ...(mode === 'hybrid' && { fusion }),
    ...(diversity && { diversity }),
    topK,
    filter: bothFilters(call.trustedFilter, call.modelFilter),
    includeVector: call.includeVectors ?? false,
    ...(signal && { signal }),
  });
  if (!reranker || matches.length === 0) return matches;
  const ranked = await rerank(matches, queryText, reranker.model, {
    topK,
    ...reranker.options,
    ...(queryVector && { queryEmbedding: queryVector }),
    ...(signal && { signal }),
  });
  return ranked.map(({ result }) => result);
}
