import { recordText } from '../store/check-arguments.js';
import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import type { JsonSchema } from '@quiver/core/schema';
import { createTool, type Tool, type ToolExecute } from '@quiver/core/tools';
import { toEmbedder } from '../embedding/index.js';
import { rerank } from '../rerank/rerank.js';
import type { VectorFilter, VectorMatch, VectorMetadata, VectorStore } from '../store/index.js';
import {
  resolveTopK,
  resolveFilter,
  resolveSettings,
  resolveStore,
  type QuerySettings,
  type VectorQueryToolOptions,
} from './query-settings.js';
import { vectorQueryInputSchema, vectorQueryOutputSchema } from './vector-query-schemas.js';

export interface VectorQueryInput {
  queryText: string;
  /** Number of passages. Default 10, at most 1,000. Fractions are rounded down. */
  topK?: number;
  /** Filter as an object or as JSON text, if filters are enabled. */
  filter?: VectorFilter | string;
}

/** A passage. */
export interface QueryResult {
  id: string;
  metadata: VectorMetadata;
  /** Empty unless `includeVectors` is set. */
  vector: number[];
  /** In [0, 1], larger is better. */
  score: number;
  /** Text of the passage; empty if the store has none. */
  document: string;
}

export interface VectorQueryOutput {
  /** Texts of all passages, best first, separated by blank lines. */
  relevantContext: string;
  sources: QueryResult[];
}

export interface VectorQueryTool extends Omit<Tool<JsonSchema, JsonSchema, VectorQueryOutput>, 'execute'> {
  readonly execute: ToolExecute<VectorQueryInput, Promise<VectorQueryOutput>>;
}

/**
 * Creates a tool that returns the passages of an index that match a query best.
 *
 * The request context overrides these options: `indexName`, `topK`, `filter`, `includeVectors`, `includeSources`,
 * `databaseConfig`, `reranker`, `model`, `providerOptions`, `mode`, `fusion`, `diversity`. A filter in the request context always applies, in addition to
 * the filter of the model.
 *
 * @throws (from `execute`) `VECTOR_STORE_MISSING`; `FILTER_INVALID`; `VECTOR_QUERY_UNSUPPORTED`; `VECTOR_QUERY_FAILED` with the cause when store or
 *   embedding model fail. A failure is never an empty result.
 * @example
 * const searchDocs = createVectorQueryTool({ vectorStore: store, indexName: 'docs', model: 'openai/text-embedding-3-small' });
 * const { sources } = await searchDocs.execute({ queryText: 'How do I install it?', topK: 3 });
 */
export function createVectorQueryTool(options: VectorQueryToolOptions): VectorQueryTool {
  const { vectorStoreName = 'DirectVectorStore', indexName } = options;
  return createTool({
    id: options.id ?? `VectorQuery ${vectorStoreName} ${indexName} Tool`,
    description: options.description ?? defaultVectorQueryDescription,
    inputSchema: vectorQueryInputSchema(options),
    outputSchema: vectorQueryOutputSchema,
    mcp: { annotations: { readOnlyHint: true, openWorldHint: false } },
    execute: async (input: VectorQueryInput, context): Promise<VectorQueryOutput> => {
      const { requestContext, abortSignal } = context;
      const settings = resolveSettings(options, requestContext);
      const store = await resolveStore(options, context);
      try {
        const matches = await queryStore(store, settings, input, abortSignal);
        const sources = matches.map(toQueryResult);
        return { relevantContext: joinTexts(sources), sources: settings.includeSources ? sources : [] };
      } catch (error) {
        if (isQuiverError(error) || abortSignal?.aborted) throw error;
        throw new QuiverError(
          'VECTOR_QUERY_FAILED',
          `The query of index '${settings.indexName}' failed: ${toErrorMessage(error)}`,
          { cause: error },
        );
      }
    },
  });
}

/** Description of the tool unless `description` is set. */
export const defaultVectorQueryDescription: string =
  'Searches the knowledge base for passages that are related to a question. Use it to answer questions from stored documents and to look up facts; ask in full sentences or with the words that the documents would use.';

async function queryStore(
  store: VectorStore,
  settings: QuerySettings,
  input: VectorQueryInput,
  signal: AbortSignal | undefined,
): Promise<VectorMatch[]> {
  const { indexName, model, includeVectors, databaseConfig, providerOptions, reranker, mode, diversity } = settings;
  const { queryText } = input;
  const filter = resolveFilter(settings, input.filter);
  const topK = resolveTopK(settings, input.topK);
  const embedder = toEmbedder(model, { ...(providerOptions && { providerOptions }) });
  const [queryVector] =
    mode === 'keyword' ? [] : await embedder.embed([queryText], { purpose: 'query', ...(signal && { signal }) });
  const fusion = { vector: embedder.hybridWeight ?? 1, ...settings.fusion };
  const matches = await store.query({
    ...databaseConfig[store.databaseConfigKey],
    indexName,
    mode,
    queryText,
    ...(queryVector && { queryVector }),
    ...(mode === 'hybrid' && { fusion }),
    ...(diversity && { diversity }),
    topK,
    filter,
    includeVector: includeVectors,
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

function toQueryResult({ id, metadata, vector, score, document }: VectorMatch): QueryResult {
  return {
    id,
    metadata,
    vector: vector ?? [],
    score,
    document: recordText({ metadata, ...(document !== undefined && { document }) }),
  };
}

/** Joins the texts of passages with blank lines, without empty texts. */
export function joinTexts(sources: readonly { readonly document: string }[]): string {
  return sources
    .map(({ document }) => document)
    .filter((text) => text !== '')
    .join('\n\n');
}
